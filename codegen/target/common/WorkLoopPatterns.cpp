// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers loops over work items, and their ends.
#include "WorkItems.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static ws::TakeItemOp takenIn(ws::WorkLoopOp loop) {
  ws::TakeItemOp taken;
  loop.walk([&](ws::TakeItemOp take) { taken = take; });
  return taken;
}

/// Prepares reciprocals for divisors that do not change in the loop over items,
/// for all divisions of `which`.
static void prepareDivisions(const ItemOps &emit, ws::WorkLoopOp loop,
                             function_ref<bool(Operation *)> which) {
  llvm::MapVector<Value, Divisor> divisors;
  SmallVector<Operation *> divisions;
  loop.walk([&](Operation *op) {
    if (!isa<arith::DivUIOp, arith::RemUIOp>(op) || !which(op)) {
      return;
    }
    Value divisor = op->getOperand(1);
    if (!loop.getBody().isAncestor(divisor.getParentRegion())) {
      divisions.push_back(op);
      if (!divisors.contains(divisor)) {
        divisors[divisor] = Divisor::prepare(emit.builder, emit.loc, divisor);
      }
    }
  });
  OpBuilder::InsertionGuard guard(emit.builder);
  for (Operation *op : divisions) {
    emit.builder.setInsertionPoint(op);
    auto [quotient, rest] = divisors[op->getOperand(1)].divide(
        emit.builder, op->getLoc(), op->getOperand(0));
    op->getResult(0).replaceAllUsesWith(isa<arith::DivUIOp>(op) ? quotient
                                                                : rest);
    op->erase();
  }
}

namespace {

struct WorkLoopPattern : ItemPattern<ws::WorkLoopOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::WorkLoopOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    items.first = emit.firstItem();
    auto &body = op.getBody().front().getOperations();
    if (handsOutItems(items.kernel)) {
      enterHandedOut(emit, op);
    } else if (!isOneItemACta(items.kernel)) {
      enterStatic(emit, op);
    } else if (items.verdict()) {
      enterTwice(emit, op);
    } else {
      // An item's divisions outside the loop over its blocks run once. Only
      // those in it are worth a reciprocal.
      prepareDivisions(emit, op, [](Operation *division) {
        return bool(division->getParentOfType<scf::ForOp>());
      });
      op->getBlock()->getOperations().splice(op->getIterator(), body);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Enters a loop that ends in its middle (`ws.end_unless_work`).
  void enterHandedOut(const ItemOps &emit, ws::WorkLoopOp op) const {
    ws::TakeItemOp take = takenIn(op);
    if (take) {
      createCounter(emit, take);
    }
    // Sharing items leaves the role no registers for values that all items
    // share.
    bool shares = take && items.mailbox();
    if (take && !shares) {
      items.numbering = emit.numberingOf(extentsOf(take), /*manyItems=*/true);
    }
    if (!shares) {
      prepareDivisions(emit, op, [](Operation *division) {
        return isa<arith::DivUIOp>(division);
      });
    }
    auto loop =
        scf::WhileOp::create(emit.builder, emit.loc, TypeRange(), ValueRange());
    Block *turn = emit.builder.createBlock(&loop.getBefore());
    emit.builder.createBlock(&loop.getAfter());
    scf::YieldOp::create(emit.builder, emit.loc);
    turn->getOperations().splice(turn->end(),
                                 op.getBody().front().getOperations());
  }

  void enterStatic(const ItemOps &emit, ws::WorkLoopOp op) const {
    WorkExtents extents{op.getBlocks(), op.getHeads(), op.getBatches(),
                        Value()};
    Value count = extents.count(emit.builder, emit.loc);
    auto loop = scf::ForOp::create(emit.builder, emit.loc, items.first, count,
                                   emit.itemsInFlight());
    items.first = loop.getInductionVar();
    Block *inner = loop.getBody();
    inner->getOperations().splice(std::prev(inner->end()),
                                  op.getBody().front().getOperations());
  }

  /// Runs the item, and a second time if `ws.second_run` requires it.
  void enterTwice(const ItemOps &emit, ws::WorkLoopOp op) const {
    OpBuilder &builder = emit.builder;
    Value no = arith::ConstantIntOp::create(builder, emit.loc, 0, 1);
    auto loop = scf::WhileOp::create(builder, emit.loc, TypeRange(), no);
    builder.createBlock(&loop.getAfter());
    Value yes = arith::ConstantIntOp::create(builder, emit.loc, 1, 1);
    scf::YieldOp::create(builder, emit.loc, yes);
    Block *before = builder.createBlock(&loop.getBefore(), {},
                                        builder.getI1Type(), emit.loc);
    items.isSecondRun = before->getArgument(0);
    before->getOperations().splice(before->end(),
                                   op.getBody().front().getOperations());
  }
};

/// Skips the following ops, and ends the loop, if there is no item.
struct EndUnlessWorkPattern : ItemPattern<ws::EndUnlessWorkOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::EndUnlessWorkOp op,
                                PatternRewriter &rewriter) const override {
    Value more = items.items[op.getWork()].exists;
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), more,
                                    /*withElseRegion=*/false);
    Block *turn = op->getBlock(), *rest = branch.thenBlock();
    rest->getOperations().splice(std::prev(rest->end()), turn->getOperations(),
                                 std::next(op->getIterator()), turn->end());
    rewriter.setInsertionPointToEnd(turn);
    scf::ConditionOp::create(rewriter, op.getLoc(), more, ValueRange());
    rewriter.eraseOp(op);
    return success();
  }
};

struct SecondRunPattern : ItemPattern<ws::SecondRunOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::SecondRunOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, op.getRejected(),
                                                  ValueRange());
    return success();
  }
};

} // namespace

void codegen::populateWorkLoopPatterns(RewritePatternSet &patterns,
                                       RoleItems &items) {
  patterns.add<WorkLoopPattern, EndUnlessWorkPattern, SecondRunPattern>(
      patterns.getContext(), items);
}
