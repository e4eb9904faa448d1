// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile: turns a function with an attn.attention into the program of one
// CTA.
#include "../KernelFunction.h"
#include "../Tiling/MaskChecks.h"
#include "Tiling/KernelWriter.h"
#include "attn/passes/kernels/Passes.h"

namespace attn {
#define GEN_PASS_DEF_TILE
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Ensures: one loop, with the steps that the description names.
static LogicalResult verifyTiled(tile::KernelOp kernel) {
  SmallVector<tile::ForOp> loops;
  kernel.walk([&](tile::ForOp loop) { loops.push_back(loop); });
  if (loops.size() != 1) {
    return kernel.emitOpError("attn-tile: expected one 'tile.for', got ")
           << loops.size();
  }
  SmallVector<StringRef> got;
  for (auto step : loops.front().getBody().getOps<tile::StepOp>()) {
    got.push_back(step.getName());
  }
  SmallVector<StringRef> expected = {"ld_k", "ld_v", "qk", "score", "mask"};
  if (kernel.getArgs().find(ArgumentRole::DropoutRate)) {
    expected.push_back("keep");
  }
  expected.push_back("attend");
  if (got != expected) {
    return loops.front().emitOpError("attn-tile: expected steps ")
           << llvm::join(expected, ", ") << ", got " << llvm::join(got, ", ");
  }
  return success();
}

static FailureOr<tile::KernelOp> tileAttention(func::FuncOp func,
                                               Operation *op) {
  auto attention = cast<AttentionOp>(op);
  int64_t packed = attention.getConfig()->getPackGqa();
  if (packed > 1 && attention.needsHeadOfItem()) {
    return attention.emitOpError("expected no regions, dropout or sinks with "
                                 "'pack_gqa' above 1, because their head would "
                                 "differ by row, got ")
           << packed;
  }
  FailureOr<ArgumentNames> names =
      ArgumentNames::of(func, attention.getCaptures());
  if (failed(names) || failed(checkMask(attention))) {
    return failure();
  }
  tile::KernelOp kernel =
      writeKernel(attention, func.getName(), std::move(*names));
  if (failed(verifyTiled(kernel))) {
    return failure();
  }
  return kernel;
}

namespace {
struct TilePass : public attn::impl::TileBase<TilePass> {
  using TileBase::TileBase;

  void runOnOperation() override {
    auto isAttention = [](Operation *op) { return isa<AttentionOp>(op); };
    if (failed(replaceFunctions(getOperation(), isAttention, tileAttention))) {
      signalPassFailure();
    }
  }
};
} // namespace
