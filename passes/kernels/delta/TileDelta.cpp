// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-delta: turns a function with an attn.delta into the program of one
// CTA.
#include "../KernelFunction.h"
#include "DeltaWriter.h"
#include "attn/passes/kernels/Passes.h"

namespace attn {
#define GEN_PASS_DEF_TILEDELTA
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct TileDeltaPass : public attn::impl::TileDeltaBase<TileDeltaPass> {
  using TileDeltaBase::TileDeltaBase;

  void runOnOperation() override {
    if (failed(replaceFunctions<DeltaOp>(getOperation(), writeDeltaKernel))) {
      signalPassFailure();
    }
  }
};
} // namespace
