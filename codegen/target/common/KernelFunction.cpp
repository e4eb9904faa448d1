// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelFunction.h"
#include "Arithmetic.h"
#include "SharedMemory.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/dialect/Nvx.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static LLVM::LLVMFuncOp createFunction(OpBuilder &builder, ws::KernelOp kernel,
                                       const ParamValues &params,
                                       const RolePlacement &placement) {
  SmallVector<Type> types;
  for (Value value : params.getValues()) {
    types.push_back(value.getType());
  }
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(),
                                           kernel.getSymName(), type);
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (auto [i, param] : llvm::enumerate(params.getParams())) {
    if (param.kind == Param::TensorMap) {
      function.setArgAttr(i, "llvm.byval", TypeAttr::get(bytes));
      function.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(64));
      function.setArgAttr(i, "nvvm.grid_constant", builder.getUnitAttr());
    }
  }
  function->setAttr("nvvm.kernel", builder.getUnitAttr());
  auto threads = int32_t(placement.getThreads());
  function->setAttr("nvvm.maxntid", builder.getDenseI32ArrayAttr({threads}));
  function->setAttr("nvvm.minctasm",
                    builder.getI32IntegerAttr(placement.ctas()));
  if (Attribute resources = kernel->getAttr(kResourcesAttr)) {
    function->setAttr(kResourcesAttr, resources);
  }
  int32_t cluster = clusterOf(kernel);
  if (cluster > 1) {
    function->setAttr("nvvm.cluster_dim",
                      builder.getDenseI32ArrayAttr({cluster, 1, 1}));
  }
  return function;
}

namespace {

/// Moves the ops of a kernel into its function.
class FunctionBody {
public:
  FunctionBody(ws::KernelOp kernel, OpBuilder &builder,
               const RolePlacement &placement, const Target &chip)
      : kernel(kernel), loc(kernel.getLoc()), builder(builder),
        emit{builder, loc}, placement(placement), chip(chip) {}

  void moveScalars();
  void moveSetup();
  void moveRoles();
  void emitMeeting();
  bool isCluster() { return clusterOf(kernel) > 1; }

private:
  void moveGroup(int64_t begin, int64_t end);
  void moveRole(const PlacedRole &placed);
  bool isDependent() {
    return kernel.getSchedule().getLaunch() == Launch::Dependent;
  }
  void moveOps(Block &from) {
    builder.getBlock()->getOperations().splice(builder.getInsertionPoint(),
                                               from.getOperations());
  }
  scf::IfOp enterIf(Value condition) {
    auto branch =
        scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
    return branch;
  }

  ws::KernelOp kernel;
  Location loc;
  OpBuilder &builder;
  Arithmetic emit;
  const RolePlacement &placement;
  const Target &chip;
  Value warp; // of the CTA, uniform
};

} // namespace

/// Moves the ops outside of roles.
void FunctionBody::moveScalars() {
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    if (!isa<ws::WsDialect>(op.getDialect())) {
      op.moveBefore(builder.getBlock(), builder.getInsertionPoint());
    }
  }
}

/// Synchronizes all threads of the CTA, or of its cluster.
void FunctionBody::emitMeeting() {
  if (!isCluster()) {
    NVVM::BarrierOp::create(builder, loc);
    return;
  }
  NVVM::ClusterArriveOp::create(builder, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, UnitAttr());
}

/// One thread initializes the barriers, before any role starts.
void FunctionBody::moveSetup() {
  Value tid = emit.thread();
  Value shifted = emit.shiftRight(tid, 5);
  warp = NVVM::ShflOp::create(builder, loc, builder.getI32Type(),
                              emit.constant(-1), shifted, emit.constant(0),
                              emit.constant(warpThreads - 1),
                              NVVM::ShflKind::idx, UnitAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    enterIf(emit.isEqual(tid, 0));
    for (auto setup : kernel.getBody().getOps<ws::SetupOp>()) {
      moveOps(setup.getBody().front());
    }
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  }
  emitMeeting();
  if (isDependent()) {
    NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
    // While all CTAs of this launch are there, those of the next one spread
    // evenly over the multiprocessors.
    NVVM::GriddepcontrolOp::create(builder, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
  }
}

void FunctionBody::moveRole(const PlacedRole &placed) {
  ws::RoleOp role = placed.role;
  Value first = emit.sub(warp, emit.constant(placed.firstWarp));
  Value replica = arith::DivUIOp::create(builder, loc, first,
                                         emit.constant(role.getWarps()));
  role.getBody().getArgument(0).replaceAllUsesWith(replica);
  if (placed.isSingleThread) {
    enterIf(emit.isFirstOf(warpThreads));
  }
  moveOps(role.getBody().front());
}

/// Moves the roles of groups begin <= g < end. Roles that share a group are
/// smaller than it, and each is in the `else` of the one before: what a later
/// role needs would otherwise be in registers there.
void FunctionBody::moveGroup(int64_t begin, int64_t end) {
  int64_t registers = placement.registersOf(begin);
  int64_t launched = placement.launchRegisters();
  if (registers != launched) {
    chip.setRegisters(emit, registers, launched);
  }
  scf::IfOp before;
  for (const PlacedRole &placed : placement.getRoles()) {
    int64_t group = placement.groupOf(placed);
    if (group < begin || group >= end) {
      continue;
    }
    OpBuilder::InsertionGuard guard(builder);
    ws::RoleOp role = placed.role;
    if (before) {
      builder.createBlock(&before.getElseRegion());
      scf::YieldOp::create(builder, loc);
      builder.setInsertionPointToStart(before.elseBlock());
    }
    if (int64_t(role.getWarps()) < placement.groupWarps()) {
      before = enterIf(emit.isEqual(warp, placed.firstWarp));
    }
    moveRole(placed);
  }
}

/// Emits one branch for each register count, uniform in a warp: whole groups
/// change theirs.
void FunctionBody::moveRoles() {
  int64_t groups = placement.getGroups();
  for (int64_t begin = 0; begin < groups;) {
    int64_t end = placement.endOfGroup(begin);
    bool isLast = end >= groups;
    Value below =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warp,
                              emit.constant(end * placement.groupWarps()));
    auto branch =
        scf::IfOp::create(builder, loc, below, /*withElseRegion=*/!isLast);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      moveGroup(begin, end);
    }
    if (!isLast) {
      builder.setInsertionPointToStart(branch.elseBlock());
    }
    begin = end;
  }
}

/// Variables in the entry block become registers.
static void hoistVariables(LLVM::LLVMFuncOp function) {
  Block *entry = &function.getBody().front();
  function.walk([&](LLVM::AllocaOp variable) {
    Operation *size = variable.getArraySize().getDefiningOp();
    size->moveBefore(entry, entry->begin());
    variable->moveAfter(size);
  });
}

void codegen::buildKernelFunction(ws::KernelOp kernel, gpu::GPUModuleOp module,
                                  const ParamValues &params,
                                  const RolePlacement &placement,
                                  const Target &chip) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  declareSmem(builder, kernel);
  LLVM::LLVMFuncOp function =
      createFunction(builder, kernel, params, placement);
  Block *entry = function.addEntryBlock(builder);
  for (auto [i, argument] : llvm::enumerate(entry->getArguments())) {
    Value value = params.getValues()[i];
    value.replaceAllUsesWith(argument);
  }
  builder.setInsertionPointToStart(entry);
  auto end = LLVM::ReturnOp::create(builder, kernel.getLoc(), ValueRange{});
  builder.setInsertionPoint(end);
  FunctionBody body(kernel, builder, placement, chip);
  body.moveScalars();
  body.moveSetup();
  body.moveRoles();
  if (body.isCluster()) {
    // No CTA exits while others may still arrive on its barriers.
    builder.setInsertionPoint(end);
    body.emitMeeting();
  }
  hoistVariables(function);
}
