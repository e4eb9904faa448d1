// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-split-backward: replaces an attn.attention_bwd that computes all
// gradients by one for dQ and one for dK and dV.
#include "attn/dialect/Attn.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Replaces `results` by those of a copy of `op` that computes `gradients`,
/// unless nothing uses them.
static void replacePart(AttentionBwdOp op, Gradients gradients,
                        ResultRange results) {
  if (results.use_empty()) {
    return;
  }
  OpBuilder builder(op);
  auto part = AttentionBwdOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getOutGradient(), op.getLse2(), op.getDelta(), op.getScale(),
      op.getBounds(), op.getCaptures(), op.getMask(), op.getLayout(),
      op.getBoundKinds(), gradients, ConfigAttr());
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&part.getScoreRegion(), mapping);
  op.getMaskRegion().cloneInto(&part.getMaskRegion(), mapping);
  for (auto [old, result] : llvm::zip_equal(results, part.getResults())) {
    old.replaceAllUsesWith(result);
  }
}

namespace {
struct SplitBackwardPass
    : public attn::impl::SplitBackwardBase<SplitBackwardPass> {
  using SplitBackwardBase::SplitBackwardBase;

  void runOnOperation() override {
    SmallVector<AttentionBwdOp> whole;
    getOperation().walk([&](AttentionBwdOp op) {
      if (op.getGradients() == Gradients::All && !op.getConfig()) {
        whole.push_back(op);
      }
    });
    for (AttentionBwdOp op : whole) {
      replacePart(op, Gradients::DQ, op.getResults().take_front(1));
      replacePart(op, Gradients::DKDV, op.getResults().drop_front(1));
      op.erase();
    }
  }
};
} // namespace
