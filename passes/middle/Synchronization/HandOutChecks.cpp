// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HandOutChecks.h"

using namespace mlir;
using namespace attn;

static InFlightDiagnostic refuse(Operation *op) {
  return op->emitOpError("attn-verify-sync: V26: expected ");
}

/// The operands of an item that the counter's answer is computed with.
template <typename Op> static SmallVector<Value> extentsOf(Op op) {
  return {op.getBlocks(),  op.getHeads(), op.getBatches(),
          op.getSection(), op.getWhole(), op.getParts()};
}

/// Returns the op of the work loop's body that `op` is or lies in.
static Operation *inWorkLoop(Operation *op) {
  while (op && !isa_and_nonnull<ws::WorkLoopOp>(op->getParentOp())) {
    op = op->getParentOp();
  }
  return op;
}

static LogicalResult checkShared(ws::TakeItemOp take, bool inCluster) {
  auto share = dyn_cast<ws::ShareWorkOp>(take->getParentOp());
  if (bool(share) != inCluster) {
    return refuse(take) << (inCluster ? "to be in" : "not to be in")
                        << " a 'ws.share_work' in a cluster of "
                        << (inCluster ? "several CTAs" : "one CTA");
  }
  if (!share) {
    return success();
  }
  auto yield = dyn_cast<ws::YieldOp>(share.getBody().front().back());
  if (!yield || yield.getNumOperands() != 1 ||
      !yield.getOperand(0).getDefiningOp<ws::ItemAtOp>()) {
    return refuse(share) << "to yield the work item of a 'ws.item_at'";
  }
  return success();
}

/// Checks what an item is made of: the answer, or the choice of an item that
/// was rejected before it.
static LogicalResult checkItem(ws::ItemAtOp item, ws::TakeItemOp take) {
  SmallVector<Value> got{item.getNumber(), item.getExists()};
  SmallVector<Value> wanted(take->getResults());
  StringRef from = "ws.take_item";
  if (auto choose = item.getNumber().getDefiningOp<ws::ChooseItemOp>()) {
    if (SmallVector<Value>(choose->getOperands()) != wanted) {
      return refuse(choose) << "the results of the role's 'ws.take_item'";
    }
    got.append({item.getSecond(), item.getSlot()});
    wanted.assign(choose->result_begin(), choose->result_end());
    from = "ws.choose_item";
  }
  if (got != wanted || extentsOf(item) != extentsOf(take)) {
    return refuse(item) << "the results of its '" << from
                        << "' and the extents of 'ws.take_item'";
  }
  return success();
}

LogicalResult attn::checkHandOut(ws::KernelOp kernel) {
  ws::TakeItemOp take;
  bool hasVerdict = !kernel.getBody().getOps<ws::VerdictOp>().empty();
  WalkResult walked = kernel.walk([&](Operation *op) {
    LogicalResult checked = success();
    if (auto next = dyn_cast<ws::TakeItemOp>(op)) {
      checked = take ? LogicalResult(refuse(next)
                                     << "one 'ws.take_item' in a kernel, got "
                                        "another before")
                     : checkShared(next, kernel.getConfig().getCluster() > 1);
      take = next;
    }
    auto item = dyn_cast<ws::ItemAtOp>(op);
    auto fetch = dyn_cast<ws::FetchWorkOp>(op);
    bool isOfRole = take && op->getParentOfType<ws::RoleOp>() ==
                                take->getParentOfType<ws::RoleOp>();
    if ((item || fetch) && !isOfRole) {
      checked =
          refuse(op) << "a 'ws.take_item' before it in its role, got none";
    } else if (item && hasVerdict &&
               !item.getNumber().getDefiningOp<ws::ChooseItemOp>()) {
      checked = refuse(item) << "the results of a 'ws.choose_item' where "
                                "verdicts are given";
    } else if (item) {
      checked = checkItem(item, take);
    } else if (fetch && inWorkLoop(fetch) == inWorkLoop(take)) {
      checked = refuse(fetch) << "to be behind the role's 'ws.take_item'";
    }
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
