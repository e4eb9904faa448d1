// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-split-backward: replaces an attn.attention_bwd that no schedule of the
// table computes by two, each with a part of the gradients; or one for all
// gradients by one that adds its shares of dQ to sums, where that is allowed.
#include "../KernelFunction.h"
#include "attn/dialect/Attn.h"
#include "attn/passes/kernels/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Returns a copy of `op` that computes `gradients`.
static AttentionBwdOp copyFor(AttentionBwdOp op, Gradients gradients,
                              Value sums) {
  OpBuilder builder(op);
  auto copy = AttentionBwdOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getOutGradient(), op.getLse2(), op.getDelta(), sums, op.getScale(),
      op.getBounds(), op.getDropoutRate(), op.getDropoutState(),
      op.getCaptures(), op.getMask(), op.getLayout(), op.getBoundKinds(),
      gradients, IntegerAttr(), AffineMapAttr(), ConfigAttr());
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&copy.getScoreRegion(), mapping);
  op.getMaskRegion().cloneInto(&copy.getMaskRegion(), mapping);
  op.getRowKeys().cloneInto(&copy.getRowKeys(), mapping);
  return copy;
}

/// Computes all gradients by one kernel, with sums of dQ in memory.
static void replaceBySums(AttentionBwdOp op) {
  OpBuilder builder(op);
  auto rows = cast<RankedTensorType>(op.getLse2().getType());
  auto type = RankedTensorType::get({rows.getDimSize(0), rows.getDimSize(1),
                                     rows.getDimSize(2), op.getHeadDim()},
                                    builder.getF32Type());
  Value zeros = ClearSumsOp::create(builder, op.getLoc(), type,
                                    op.getQuery().getType().getElementType(),
                                    ConfigAttr());
  AttentionBwdOp all = copyFor(op, Gradients::Sums, zeros);
  Value dq = ConvertSumsOp::create(builder, op.getLoc(),
                                   op.getQuery().getType(), all.getResult(0),
                                   op.getScale(), op.getLayout(), ConfigAttr());
  op.getResult(0).replaceAllUsesWith(dq);
  op.getResult(1).replaceAllUsesWith(all.getResult(1));
  op.getResult(2).replaceAllUsesWith(all.getResult(2));
  op.erase();
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

/// Whether the function of the user has a slope other than 1. With it the
/// kernel of all gradients needs more registers than there are.
static bool changesSlope(AttentionBwdOp op) {
  if (!op.hasScoreRegion()) {
    return false;
  }
  Operation *yield = op.getScoreRegion().front().getTerminator();
  return !matchPattern(yield->getOperand(1), m_OneFloat());
}

namespace {
struct SplitBackwardPass
    : public attn::impl::SplitBackwardBase<SplitBackwardPass> {
  using SplitBackwardBase::SplitBackwardBase;

  FailureOr<bool> hasEntry(AttentionBwdOp op) {
    return hasTableEntry(op.getContext(), op.getProblem(), target, scheduleFile,
                         [&] { return op.emitOpError(); });
  }

  /// Whether the only entry for all gradients has tiles with as many columns as
  /// the head dims.
  FailureOr<bool> hasExactEntry(AttentionBwdOp op) {
    FailureOr<bool> any = hasEntry(op);
    if (failed(any) || !*any) {
      return any;
    }
    auto entries = lookupTableEntries(op.getContext(), op.getProblem(), target,
                                      scheduleFile, /*firstRung=*/0,
                                      [&] { return op.emitOpError(); });
    if (failed(entries)) {
      return failure();
    }
    return entries->size() == 1 && entries->front().config.getTileD() == 0 &&
           entries->front().config.getTileDv() == 0;
  }

  /// Whether one kernel is to compute all gradients.
  FailureOr<bool> isForSums(AttentionBwdOp op) {
    constexpr int64_t group = kGroupColumns;
    auto func = op->getParentOfType<func::FuncOp>();
    bool mayBe = func && !op.hasDropout() && !changesSlope(op) &&
                 op.getHeadDim() % group == 0 && func->hasAttr(kAnyOrderAttr) &&
                 llvm::none_of(op.getResults(),
                               [](Value result) { return result.use_empty(); });
    return mayBe ? hasExactEntry(op) : false;
  }

  /// Splits an op until the table has a schedule for each part. A single
  /// gradient without one is left to attn-configure, which says so.
  LogicalResult split(AttentionBwdOp op) {
    ArrayRef<Gradients> halves = halvesOf(op.getGradients());
    if (halves.empty() || op.getConfig()) {
      return success();
    }
    bool isAll = op.getGradients() == Gradients::All;
    FailureOr<bool> isWhole = isAll ? isForSums(op) : hasEntry(op);
    if (failed(isWhole)) {
      return failure();
    }
    if (*isWhole) {
      if (isAll) {
        replaceBySums(op);
      }
      return success();
    }
    unsigned middle = gradientRange(halves[0]).second;
    ResultRange parts[] = {op.getResults().take_front(middle),
                           op.getResults().drop_front(middle)};
    for (auto [half, results] : llvm::zip_equal(halves, parts)) {
      if (results.use_empty()) {
        continue;
      }
      AttentionBwdOp part = copyFor(op, half, Value());
      results.replaceAllUsesWith(part.getResults());
      if (failed(split(part))) {
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
