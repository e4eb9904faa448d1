// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-sum-gradient: turns a function with an attn.sum_gradient into the
// program of one CTA.
#include "../KernelFunction.h"
#include "SumWriter.h"
#include "attn/passes/kernels/Passes.h"

namespace attn {
#define GEN_PASS_DEF_TILESUMGRADIENT
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static FailureOr<tile::KernelOp> tileSums(func::FuncOp func, Operation *op) {
  return writeSumKernel(cast<SumGradientOp>(op), func.getName());
}

namespace {
struct TileSumGradientPass
    : public attn::impl::TileSumGradientBase<TileSumGradientPass> {
  using TileSumGradientBase::TileSumGradientBase;

  void runOnOperation() override {
    auto isSum = [](Operation *op) { return isa<SumGradientOp>(op); };
    if (failed(replaceFunctions(getOperation(), isSum, tileSums))) {
      signalPassFailure();
    }
  }
};
} // namespace
