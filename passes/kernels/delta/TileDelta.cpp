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

static FailureOr<tile::KernelOp> tileDelta(func::FuncOp func, Operation *op) {
  return writeDeltaKernel(cast<DeltaOp>(op), func.getName());
}

namespace {
struct TileDeltaPass : public attn::impl::TileDeltaBase<TileDeltaPass> {
  using TileDeltaBase::TileDeltaBase;

  void runOnOperation() override {
    auto isDelta = [](Operation *op) { return isa<DeltaOp>(op); };
    if (failed(replaceFunctions(getOperation(), isDelta, tileDelta))) {
      signalPassFailure();
    }
  }
};
} // namespace
