// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuse-online-softmax: replaces the softmax over whole rows by the
// recurrence of (m, l, O): reference in log2 units, partial row sum,
// unnormalized output.
#include "OnlineSoftmax/SoftmaxWriter.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_FUSEONLINESOFTMAX
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Ensures: no abstract op is left.
static LogicalResult verifyFused(tile::KernelOp kernel) {
  auto result = kernel.walk([](Operation *op) {
    if (isa<tile::AttendOp, tile::AttendResultOp>(op)) {
      op->emitOpError("attn-fuse-online-softmax: expected no abstract softmax "
                      "in the kernel");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult fuse(tile::KernelOp kernel) {
  SmallVector<tile::AttendOp> attends;
  kernel.walk([&](tile::AttendOp op) { attends.push_back(op); });
  if (attends.empty()) {
    return verifyFused(kernel);
  }
  if (attends.size() > 1) {
    return attends[1].emitOpError("expected one 'tile.attend' in the kernel, "
                                  "got ")
           << attends.size();
  }
  if (!kernel.getConfig()) {
    return kernel.emitOpError("expected a 'config'");
  }
  auto match = matchSoftmax(attends[0], kernel);
  if (failed(match)) {
    return failure();
  }
  remark::passed(kernel.getLoc(),
                 remark::RemarkOpts::name("fuse-online-softmax")
                     .category("attn")
                     .function(kernel.getSymName()))
      << remark::metric("RescaleThreshold",
                        kernel.getConfig()->getRescaleThreshold());
  writeOnlineSoftmax(kernel, *match);
  recordConsumed(kernel, "attn-fuse-online-softmax");
  return verifyFused(kernel);
}

namespace {
struct FuseOnlineSoftmaxPass
    : public attn::impl::FuseOnlineSoftmaxBase<FuseOnlineSoftmaxPass> {
  using FuseOnlineSoftmaxBase::FuseOnlineSoftmaxBase;

  void runOnOperation() override {
    if (failed(fuse(getOperation()))) {
      signalPassFailure();
    }
  }
};
} // namespace
