// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-to-nvvm: turns a ws.kernel into a gpu.module with one function, in
// which each warp runs the program of its role.
#include "EarlyAddresses.h"
#include "InstructionPatterns.h"
#include "ItemClaim.h"
#include "KernelChecks.h"
#include "KernelFunction.h"
#include "StampWriter.h"
#include "WorkItems.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/KernelGroup.h"
#include "attn/codegen/launch/LaunchPlan.h"
#include "attn/codegen/target/Passes.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/support/Decision.h"
#include "attn/support/Refusal.h"

namespace attn::codegen {
#define GEN_PASS_DEF_LOWERTONVVM
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// A kernel during its lowering to instructions.
struct Lowering {
  ws::KernelOp kernel;
  const Target *chip;
  SmallVector<Param> params;
  RolePlacement placement;

  PlannedKernel planned() const {
    auto copyBox = [chip = chip](RankedTensorType tile, int64_t columns,
                                 int64_t ctas) {
      return chip->copyBox(tile, columns, ctas);
    };
    return {kernel, copyBox, params, placement.getThreads()};
  }
};

LogicalResult checkMemory(ws::KernelOp kernel, int64_t smemLimit) {
  std::optional<StampLayout> stamps = StampLayout::of(kernel);
  if (stamps && stamps->end() > INT32_MAX) {
    return kernel.emitOpError(
               "attn-lower-to-nvvm: expected the stamps to take at most ")
           << INT32_MAX << " bytes, got " << stamps->end();
  }
  if (int64_t bytes = *kernel.getSmemBytes(); bytes > smemLimit) {
    InFlightDiagnostic error =
        kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
        << smemLimit << " bytes of shared memory, got " << bytes;
    setReason(error, refusal::sharedMemory);
    return error;
  }
  return success();
}

/// Collects the information about a kernel before its ops are lowered.
FailureOr<Lowering> prepare(ws::KernelOp kernel) {
  const Target *chip = findTarget(kernel, "attn-lower-to-nvvm");
  if (!chip) {
    return failure();
  }
  chip->layOutSlots(kernel);
  if (failed(checkKernelLowerable(kernel, *chip))) {
    return failure();
  }
  FailureOr<SmallVector<Param>> params = collectParams(kernel);
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(),
                    [&] { return kernel.emitOpError("attn-lower-to-nvvm: "); });
  if (failed(params) || failed(machine)) {
    return failure();
  }
  RolePlacement placement(kernel, *machine);
  if (failed(placement.check(kernel)) ||
      failed(checkMemory(kernel, machine->getSmemLimit()))) {
    return failure();
  }
  return Lowering{kernel, chip, *params, placement};
}

/// Lowers the ops to instructions, in place.
LogicalResult convertOps(ws::KernelOp kernel, const Target &chip,
                         const ParamValues &params, const StampWriter &stamps) {
  MLIRContext *context = kernel.getContext();
  TypeConverter types;
  populateTypeConversions(types);
  RewritePatternSet patterns(context);
  populateValuePatterns(patterns, types, params);
  chip.populateInstructionPatterns(patterns, types, params);
  populateElementPatterns(patterns, types, params);
  populateStampPatterns(patterns, types, stamps);
  if (JoinLayout::isIn(kernel)) {
    FailureOr<JoinLayout> join = JoinLayout::of(kernel);
    if (failed(join)) {
      return failure();
    }
    populateJoinPatterns(patterns, types, params, *join,
                         chip.registersForParts());
  }
  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                         math::MathDialect, NVVM::NVVMDialect, nvx::NvxDialect,
                         scf::SCFDialect, vector::VectorDialect>();
  target.addLegalOp<tile::PartOfOp>();
  target.addIllegalOp<
      ws::SlotAtOp, ws::SmemOp, tile::CutOp, ws::CopyOp, ws::ReadRowOp,
      ws::StoreOp, ws::ReduceAddOp, ws::PutOp, tile::StoreRowOp, tile::GatherOp,
      tile::ScatterOp, tile::StoreRegOp, tile::ReduceAddOp, tile::LoadOp,
      tile::LoadRowOp, ws::MmaOp, ws::AwaitOp, ws::StampOp, tile::JoinOp,
      tile::SkipOp, tile::TurnWaitOp, tile::TurnPassOp>();
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return applyPartialConversion(kernel, target, std::move(patterns), config);
}

LogicalResult lower(const Lowering &lowering, gpu::GPUModuleOp module) {
  ws::KernelOp kernel = lowering.kernel;
  ParamValues params(kernel, lowering.params);
  takeSmemBases(kernel);
  StampWriter stamps(kernel, params);
  if (failed(convertOps(kernel, *lowering.chip, params, stamps))) {
    return failure();
  }
  for (const PlacedRole &placed : lowering.placement.getRoles()) {
    if (failed(lowerWorkItems(kernel, params, placed))) {
      return failure();
    }
  }
  if (claimsItem(kernel)) {
    claimItem(kernel, params);
  }
  computeAddressesEarly(kernel, *lowering.chip);
  buildKernelFunction(kernel, module, params, lowering.placement,
                      *lowering.chip);
  decided(kernel.getLoc(), "lower-to-nvvm")
      << llvm::formatv("{0} threads, launched with {1} registers each",
                       lowering.placement.getThreads(),
                       lowering.placement.launchRegisters())
             .str();
  return success();
}

/// Prepares the kernels of all launches of a call.
LogicalResult prepareCall(const KernelCall &call,
                          SmallVectorImpl<Lowering> &lowerings,
                          SmallVectorImpl<PlannedLaunch> &planned) {
  for (const KernelGroup &group : call.launches) {
    planned.emplace_back();
    for (ws::KernelOp kernel : group.kernels) {
      FailureOr<Lowering> prepared = prepare(kernel);
      if (failed(prepared)) {
        return failure();
      }
      lowerings.push_back(*prepared);
      planned.back().push_back(prepared->planned());
    }
  }
  return success();
}

/// Replaces the kernels by one module with a function for each of them.
LogicalResult lowerCall(const KernelCall &call) {
  SmallVector<Lowering> lowerings;
  SmallVector<PlannedLaunch> planned;
  if (failed(prepareCall(call, lowerings, planned))) {
    return failure();
  }
  ws::KernelOp first = lowerings.front().kernel;
  OpBuilder builder(first);
  StringRef chip = lowerings.front().chip->getName();
  auto target = NVVM::NVVMTargetAttr::get(builder.getContext(), 2,
                                          "nvptx64-nvidia-cuda", chip);
  if (failed(
          buildLaunchPlan(builder, call.name, chip, planned, call.sequence))) {
    return failure();
  }
  auto module = gpu::GPUModuleOp::create(builder, first.getLoc(), call.name,
                                         builder.getArrayAttr({target}));
  for (const Lowering &lowering : lowerings) {
    if (failed(lower(lowering, module))) {
      return failure();
    }
  }
  if (failed(checkKernelLowered(module))) {
    return failure();
  }
  for (const Lowering &lowering : lowerings) {
    ws::KernelOp kernel = lowering.kernel;
    kernel.erase();
  }
  if (call.sequence) {
    launch::SequenceOp sequence = call.sequence;
    sequence.erase();
  }
  return success();
}

class LowerToNVVMPass
    : public attn::codegen::impl::LowerToNVVMBase<LowerToNVVMPass> {
public:
  using LowerToNVVMBase::LowerToNVVMBase;

  void runOnOperation() override {
    FailureOr<SmallVector<KernelCall>> calls = groupKernels(getOperation());
    if (failed(calls)) {
      return signalPassFailure();
    }
    for (const KernelCall &call : *calls) {
      if (failed(lowerCall(call))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
