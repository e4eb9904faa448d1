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

namespace {
struct TileSumsPass : public attn::impl::TileSumsBase<TileSumsPass> {
  using TileSumsBase::TileSumsBase;

  void runOnOperation() override {
    auto write = [](auto op, StringRef name) {
      return writeSumsKernel(op, name);
    };
    if (failed(replaceFunctions<ClearSumsOp, ConvertSumsOp>(getOperation(),
                                                            write))) {
      signalPassFailure();
    }
  }
};
} // namespace
