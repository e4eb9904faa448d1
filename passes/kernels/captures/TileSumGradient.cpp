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

namespace {
struct TileSumGradientPass
    : public attn::impl::TileSumGradientBase<TileSumGradientPass> {
  using TileSumGradientBase::TileSumGradientBase;

  void runOnOperation() override {
    if (failed(
            replaceFunctions<SumGradientOp>(getOperation(), writeSumKernel))) {
      signalPassFailure();
    }
  }
};
} // namespace
