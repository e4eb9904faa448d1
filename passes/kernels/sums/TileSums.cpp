// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-sums: turns functions around attn.clear_sums and attn.convert_sums
// into programs of one CTA.
#include "../KernelFunction.h"
#include "SumsWriter.h"
#include "attn/passes/kernels/Passes.h"

namespace attn {
#define GEN_PASS_DEF_TILESUMS
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static FailureOr<tile::KernelOp> tileSums(func::FuncOp func, Operation *op) {
  auto clear = dyn_cast<ClearSumsOp>(op);
  return clear ? writeClearKernel(clear, func.getName())
               : writeConvertKernel(cast<ConvertSumsOp>(op), func.getName());
}

namespace {
struct TileSumsPass : public attn::impl::TileSumsBase<TileSumsPass> {
  using TileSumsBase::TileSumsBase;

  void runOnOperation() override {
    auto isOfSums = [](Operation *op) {
      return isa<ClearSumsOp, ConvertSumsOp>(op);
    };
    if (failed(replaceFunctions(getOperation(), isOfSums, tileSums))) {
      signalPassFailure();
    }
  }
};
} // namespace
