// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-to-nvvm: a ws.kernel becomes a gpu.module with one function, in
// which each warpgroup runs the program of its role.
#include "InstructionLowering.h"
#include "KernelChecks.h"
#include "KernelGroup.h"
#include "LaunchPlan.h"
#include "attn/codegen/target/Passes.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/support/Decision.h"

namespace attn::codegen {
#define GEN_PASS_DEF_LOWERTONVVM
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

constexpr int64_t warpgroupThreads = 128;
constexpr int64_t warpsPerWarpgroup = 4;
constexpr int64_t maxThreadRegisters = 255;
constexpr int64_t maxThreads = 1024;

/// The warpgroups of a CTA: roles of fewer than four warps share one.
struct Placement {
  ws::RoleOp role;
  int64_t firstWarp;
};

class KernelLowering {
public:
  KernelLowering(ws::KernelOp kernel, gpu::GPUModuleOp module)
      : kernel(kernel), loc(kernel.getLoc()), builder(kernel), module(module) {}

  /// Adds the kernel's function to the module.
  LogicalResult run();
  PlannedKernel getPlanned() { return {kernel, params, threads}; }

private:
  void placeRoles();
  LogicalResult checkRegisters();
  LogicalResult makeRoomForStamps();
  LLVM::LLVMFuncOp createFunction();
  void emitMeeting();
  LogicalResult emitSetup(InstructionLowering &lowering);
  bool isDependent() {
    return kernel.getSchedule().getLaunch() == Launch::Dependent;
  }
  bool endsLoads(ws::RoleOp role);
  LogicalResult emitRoles(InstructionLowering &lowering);
  LogicalResult emitWarpgroup(int64_t warpgroup, InstructionLowering &lowering);
  LogicalResult emitRole(const Placement &placement,
                         InstructionLowering &lowering);
  void emitRegisterCount(int64_t registers);
  int64_t registersOf(int64_t warpgroup);
  LogicalResult readMachine();
  int64_t launchRegisters() {
    return std::min(maxThreadRegisters, registerFile / threads) / 8 * 8;
  }
  int32_t clusterSize() { return kernel.getConfig().getCluster(); }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value isEqual(Value a, int64_t b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                 constant(b));
  }
  scf::IfOp emitIf(Value condition) {
    auto branch =
        scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
    return branch;
  }

  ws::KernelOp kernel;
  Location loc;
  OpBuilder builder;
  gpu::GPUModuleOp module;
  SmallVector<Param> params;
  SmallVector<Placement> placements;
  int64_t threads = 0;
  int64_t registerFile = 0; // of the machine
  int64_t smemLimit = 0;    // of the machine
  Value warp;               // of the CTA, uniform
};

void KernelLowering::placeRoles() {
  int64_t next = 0;
  bool sharing = false;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    int64_t warps = role.getWarps() * role.getReplicas();
    bool small = role.getWarps() < warpsPerWarpgroup;
    if (!small || !sharing) {
      next = llvm::alignTo(next, warpsPerWarpgroup);
    }
    placements.push_back({role, next});
    next += warps;
    sharing = small;
  }
  threads = llvm::alignTo(next, warpsPerWarpgroup) * 32;
}

int64_t KernelLowering::registersOf(int64_t warpgroup) {
  for (const Placement &placement : placements) {
    ws::RoleOp role = placement.role;
    int64_t first = placement.firstWarp / warpsPerWarpgroup;
    int64_t last =
        (placement.firstWarp + role.getWarps() * role.getReplicas() - 1) /
        warpsPerWarpgroup;
    if (first <= warpgroup && warpgroup <= last) {
      return role.getRegs();
    }
  }
  return 0;
}

LogicalResult KernelLowering::readMachine() {
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(),
                    [&] { return kernel.emitOpError("attn-lower-to-nvvm: "); });
  if (failed(machine)) {
    return failure();
  }
  registerFile = machine->getRegisters().getTotal();
  smemLimit = machine->getSmemLimit();
  return success();
}

LogicalResult KernelLowering::checkRegisters() {
  if (threads > maxThreads) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << maxThreads << " threads over all roles, got " << threads;
  }
  int64_t total = 0;
  for (int64_t wg = 0; wg < threads / warpgroupThreads; ++wg) {
    total += registersOf(wg) * warpgroupThreads;
  }
  // setmaxnreg hands on what the CTA was launched with: more would never come.
  if (total > launchRegisters() * threads) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << launchRegisters() * threads
           << " registers over all roles, with which " << threads
           << " threads are launched, got " << total;
  }
  return success();
}

LogicalResult KernelLowering::makeRoomForStamps() {
  std::optional<StampLayout> stamps = StampLayout::of(kernel);
  if (!stamps) {
    return success();
  }
  if (stamps->end() > INT32_MAX) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected stamps to take at "
                              "most ")
           << INT32_MAX << " bytes, got " << stamps->end();
  }
  int64_t bytes =
      static_cast<int64_t>(*kernel.getSmemBytes()) + stamps->sharedBytes();
  if (bytes > smemLimit) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << smemLimit << " bytes of shared memory with stamps, got " << bytes;
  }
  kernel.setSmemBytes(bytes);
  return success();
}

LLVM::LLVMFuncOp KernelLowering::createFunction() {
  MLIRContext *context = builder.getContext();
  auto ptr = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types;
  for (const Param &param : params) {
    switch (param.kind) {
    case Param::TensorMap:
      types.push_back(ptr);
      break;
    case Param::Pointer:
    case Param::Workspace:
      types.push_back(LLVM::LLVMPointerType::get(context, 1));
      break;
    case Param::Dim:
    case Param::Cut:
      types.push_back(builder.getI32Type());
      break;
    case Param::Stride:
      types.push_back(builder.getI64Type());
      break;
    case Param::Scalar:
      types.push_back(kernel.getBody().getArgument(param.argument).getType());
      break;
    }
  }
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function =
      LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (auto [i, param] : llvm::enumerate(params)) {
    if (param.kind == Param::TensorMap) {
      function.setArgAttr(i, "llvm.byval", TypeAttr::get(bytes));
      function.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(64));
      function.setArgAttr(i, "nvvm.grid_constant", builder.getUnitAttr());
    }
  }
  function->setAttr("nvvm.kernel", builder.getUnitAttr());
  function->setAttr("nvvm.maxntid",
                    builder.getDenseI32ArrayAttr({(int32_t)threads}));
  function->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
  if (clusterSize() > 1) {
    function->setAttr("nvvm.cluster_dim",
                      builder.getDenseI32ArrayAttr({clusterSize(), 1, 1}));
  }
  return function;
}

/// All threads of the CTA, or of its cluster.
void KernelLowering::emitMeeting() {
  if (clusterSize() == 1) {
    NVVM::BarrierOp::create(builder, loc);
    return;
  }
  NVVM::ClusterArriveOp::create(builder, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, UnitAttr());
}

/// One thread initializes the barriers; all see them before any role starts.
LogicalResult KernelLowering::emitSetup(InstructionLowering &lowering) {
  Value tid = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  Value shifted = arith::ShRUIOp::create(builder, loc, tid, constant(5));
  warp = NVVM::ShflOp::create(builder, loc, builder.getI32Type(), constant(-1),
                              shifted, constant(0), constant(31),
                              NVVM::ShflKind::idx, UnitAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    emitIf(isEqual(tid, 0));
    for (auto setup : kernel.getBody().getOps<ws::SetupOp>()) {
      if (failed(lowering.lowerBlock(setup.getBody().front(), builder))) {
        return failure();
      }
    }
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  }
  emitMeeting();
  if (isDependent()) {
    NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  }
  return success();
}

/// The last of the roles that load: what it frees at its end, the CTAs of the
/// next launch may take.
bool KernelLowering::endsLoads(ws::RoleOp role) {
  ws::RoleOp last;
  kernel.walk(
      [&](ws::CopyOp copy) { last = copy->getParentOfType<ws::RoleOp>(); });
  return role == last;
}

void KernelLowering::emitRegisterCount(int64_t registers) {
  int64_t launch = launchRegisters();
  if (registers == launch) {
    return;
  }
  auto action = registers > launch ? NVVM::SetMaxRegisterAction::increase
                                   : NVVM::SetMaxRegisterAction::decrease;
  NVVM::SetMaxRegisterOp::create(builder, loc, registers, action);
}

LogicalResult KernelLowering::emitRole(const Placement &placement,
                                       InstructionLowering &lowering) {
  ws::RoleOp role = placement.role;
  Value first =
      arith::SubIOp::create(builder, loc, warp, constant(placement.firstWarp));
  Value replica =
      arith::DivUIOp::create(builder, loc, first, constant(role.getWarps()));
  lowering.map(role.getBody().getArgument(0), replica);
  if (role.isSingleThread()) {
    Value tid = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
    Value lane = arith::AndIOp::create(builder, loc, tid, constant(31));
    emitIf(isEqual(lane, 0));
  }
  lowering.beginStamps(role, builder);
  if (failed(lowering.lowerBlock(role.getBody().front(), builder))) {
    return failure();
  }
  lowering.endStamps(builder);
  if (isDependent() && endsLoads(role)) {
    NVVM::GriddepcontrolOp::create(builder, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
  }
  return success();
}

/// Warps first <= w < end run one role; the branch is uniform in a warp.
LogicalResult KernelLowering::emitRoles(InstructionLowering &lowering) {
  // One branch a register count: setmaxnreg acts on whole warpgroups.
  int64_t groups = threads / warpgroupThreads;
  for (int64_t begin = 0; begin < groups;) {
    int64_t end = begin + 1;
    ws::RoleOp role;
    for (const Placement &placement : placements) {
      if (placement.firstWarp == begin * warpsPerWarpgroup) {
        role = placement.role;
      }
    }
    if (role && role.getWarps() >= warpsPerWarpgroup) {
      end = begin + role.getReplicas() * role.getWarps() / warpsPerWarpgroup;
    }
    Value below =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warp,
                              constant(end * warpsPerWarpgroup));
    auto branch =
        scf::IfOp::create(builder, loc, below, /*withElseRegion=*/end < groups);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      emitRegisterCount(registersOf(begin));
      for (const Placement &placement : placements) {
        int64_t group = placement.firstWarp / warpsPerWarpgroup;
        if (group < begin || group >= end) {
          continue;
        }
        OpBuilder::InsertionGuard inner(builder);
        ws::RoleOp placed = placement.role;
        if (placed.getWarps() < warpsPerWarpgroup) {
          emitIf(isEqual(warp, placement.firstWarp));
        }
        if (failed(emitRole(placement, lowering))) {
          return failure();
        }
      }
    }
    if (end < groups) {
      builder.setInsertionPointToStart(branch.elseBlock());
    }
    begin = end;
  }
  return success();
}

LogicalResult KernelLowering::run() {
  FailureOr<SmallVector<Param>> collected = collectParams(kernel);
  if (failed(collected)) {
    return failure();
  }
  params = *collected;
  placeRoles();
  if (failed(readMachine()) || failed(checkRegisters()) ||
      failed(makeRoomForStamps())) {
    return failure();
  }
  builder.setInsertionPointToEnd(module.getBody());
  std::string smemName = (kernel.getSymName() + "_smem").str();
  LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, smemName, Attribute(),
      /*alignment=*/1024, /*addrSpace=*/3);
  LLVM::LLVMFuncOp function = createFunction();
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  builder.setInsertionPointToStart(entry);
  InstructionLowering lowering(kernel, function, params, smemName);
  if (failed(lowering.lowerScalars(builder))) {
    return failure();
  }
  if (failed(emitSetup(lowering)) || failed(emitRoles(lowering))) {
    return failure();
  }
  if (clusterSize() > 1) {
    // No CTA leaves while others may still arrive on its barriers.
    builder.setInsertionPoint(entry->getTerminator());
    emitMeeting();
  }
  decided(kernel.getLoc(), "lower-to-nvvm")
      << llvm::formatv("{0} threads, launched with {1} registers each", threads,
                       launchRegisters())
             .str();
  return success();
}

/// Puts one module with a function for each kernel in the group's place.
LogicalResult lowerGroup(const KernelGroup &group) {
  ws::KernelOp first = group.kernels.front();
  OpBuilder builder(first);
  auto target = NVVM::NVVMTargetAttr::get(
      builder.getContext(), 2, "nvptx64-nvidia-cuda", first.getMachine());
  auto module = gpu::GPUModuleOp::create(builder, first.getLoc(), group.name,
                                         builder.getArrayAttr({target}));
  SmallVector<PlannedKernel> planned;
  for (ws::KernelOp kernel : group.kernels) {
    KernelLowering lowering(kernel, module);
    if (failed(checkKernelLowerable(kernel)) || failed(lowering.run())) {
      return failure();
    }
    planned.push_back(lowering.getPlanned());
  }
  module->setAttr("attn.plan",
                  builder.getStringAttr(buildLaunchPlan(group.name, planned)));
  if (failed(checkKernelLowered(module))) {
    return failure();
  }
  for (ws::KernelOp kernel : group.kernels) {
    kernel.erase();
  }
  return success();
}

class LowerToNVVMPass
    : public attn::codegen::impl::LowerToNVVMBase<LowerToNVVMPass> {
public:
  using LowerToNVVMBase::LowerToNVVMBase;

  void runOnOperation() override {
    for (const KernelGroup &group : groupKernels(getOperation())) {
      if (failed(verifyGroup(group)) || failed(lowerGroup(group))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
