// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-split-backward: replaces an attn.attention_bwd that no schedule of the
// table computes by two, each with a part of the gradients.
#include "attn/dialect/Attn.h"
#include "attn/passes/kernels/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Replaces `results` by those of a copy of `op` that computes `gradients`,
/// unless nothing uses them. Returns the copy, or null.
static AttentionBwdOp replacePart(AttentionBwdOp op, Gradients gradients,
                                  ResultRange results) {
  if (results.use_empty()) {
    return {};
  }
  OpBuilder builder(op);
  auto part = AttentionBwdOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getOutGradient(), op.getLse2(), op.getDelta(), op.getScale(),
      op.getBounds(), op.getCaptures(), op.getMask(), op.getLayout(),
      op.getBoundKinds(), gradients, IntegerAttr(), AffineMapAttr(),
      ConfigAttr());
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&part.getScoreRegion(), mapping);
  op.getMaskRegion().cloneInto(&part.getMaskRegion(), mapping);
  for (auto [old, result] : llvm::zip_equal(results, part.getResults())) {
    old.replaceAllUsesWith(result);
  }
  return part;
}

/// Returns the two halves of gradients; none of a single one.
static ArrayRef<Gradients> halvesOf(Gradients gradients) {
  static constexpr Gradients ofAll[] = {Gradients::DQ, Gradients::DKDV};
  static constexpr Gradients ofKeys[] = {Gradients::DK, Gradients::DV};
  switch (gradients) {
  case Gradients::All:
    return ofAll;
  case Gradients::DKDV:
    return ofKeys;
  default:
    return {};
  }
}

namespace {
struct SplitBackwardPass
    : public attn::impl::SplitBackwardBase<SplitBackwardPass> {
  using SplitBackwardBase::SplitBackwardBase;

  /// Splits an op until the table has a schedule for each part. A single
  /// gradient without one is left to attn-configure, which says so.
  LogicalResult split(AttentionBwdOp op) {
    ArrayRef<Gradients> halves = halvesOf(op.getGradients());
    if (halves.empty() || op.getConfig()) {
      return success();
    }
    FailureOr<bool> isWhole =
        hasTableEntry(op.getContext(), op.getProblem(), target, scheduleFile,
                      [&] { return op.emitOpError(); });
    if (failed(isWhole) || *isWhole) {
      return isWhole;
    }
    unsigned middle = gradientRange(halves[0]).second;
    for (auto [half, results] : llvm::zip_equal(
             halves, std::array{op.getResults().take_front(middle),
                                op.getResults().drop_front(middle)})) {
      AttentionBwdOp part = replacePart(op, half, results);
      if (part && failed(split(part))) {
        return failure();
      }
    }
    op.erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<AttentionBwdOp> ops;
    getOperation().walk([&](AttentionBwdOp op) { ops.push_back(op); });
    if (llvm::any_of(ops,
                     [&](AttentionBwdOp op) { return failed(split(op)); })) {
      signalPassFailure();
    }
  }
};
} // namespace
