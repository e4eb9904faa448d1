// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncUnroller.h"
#include "attn/dialect/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

/// Trips of a loop that are unrolled at most; trials have a few blocks.
static constexpr int64_t maxTrips = 64;

/// Scalars that decide trip counts, with the bounds of the current item.
FailureOr<int64_t> SyncUnroller::evaluate(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (auto bounds = dyn_cast_or_null<tile::BoundsOp>(op)) {
    // Blocks are counted downward from the top: [total, total - masked, 0];
    // further ranges share what is left.
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (index == 0) {
      // A sub-tile has a masked block less than the next.
      int64_t subtiles = bounds.getOf().value_or(1);
      int64_t skipped = (later + 1) * subtiles - 1 - replica;
      return item.total -
             (bounds.getSubtile() ? std::min(item.masked, skipped) : 0);
    }
    return index + 1 == bounds->getNumResults()
               ? 0
               : (item.total - item.masked) >> (index - 1);
  }
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
      return integer.getInt();
    }
  }
  if (op && op->getNumOperands() == 2) {
    FailureOr<int64_t> a = evaluate(op->getOperand(0), user);
    FailureOr<int64_t> b = evaluate(op->getOperand(1), user);
    if (failed(a) || failed(b)) {
      return failure();
    }
    if (isa<arith::AddIOp>(op)) {
      return *a + *b;
    }
    if (isa<arith::SubIOp>(op)) {
      return *a - *b;
    }
    if (isa<arith::MinSIOp>(op)) {
      return std::min(*a, *b);
    }
    if (isa<arith::MaxSIOp>(op)) {
      return std::max(*a, *b);
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        compare && compare.getPredicate() == arith::CmpIPredicate::sgt) {
      return *a > *b;
    }
  }
  user->emitOpError("attn-verify-sync: expected a trip count computed from "
                    "'tile.bounds' and constants, got ")
      << (op ? op->getName().getStringRef() : "a block argument");
  return failure();
}

LogicalResult SyncUnroller::run(Block &block) {
  for (Operation &op : block) {
    if (failed(runOp(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult SyncUnroller::runLoop(scf::ForOp loop) {
  FailureOr<int64_t> from = evaluate(loop.getLowerBound(), loop);
  FailureOr<int64_t> to = evaluate(loop.getUpperBound(), loop);
  FailureOr<int64_t> step = evaluate(loop.getStep(), loop);
  if (failed(from) || failed(to) || failed(step)) {
    return failure();
  }
  if (*step < 1 || (*to - *from) / *step > maxTrips) {
    return loop.emitOpError("attn-verify-sync: expected at most ")
           << maxTrips << " trips with a step of at least 1, got " << *from
           << " to " << *to << " step " << *step;
  }
  for (int64_t i = *from; i < *to; i += *step) {
    if (failed(run(*loop.getBody()))) {
      return failure();
    }
  }
  return success();
}

/// The counter of work items is right again after a launch, and every item
/// has its turn, if each item is followed by one question for the next.
LogicalResult SyncUnroller::checkFetches(ws::WorkLoopOp work,
                                         int64_t expected) {
  if (work.getBody().getOps<tile::NextWorkOp>().empty() ||
      fetches == expected) {
    return success();
  }
  return work.emitOpError("attn-verify-sync: V26: expected ")
         << expected << " 'ws.fetch_work' after " << expected
         << " work items, got " << fetches << ", the last item with "
         << item.total << " blocks";
}

/// Items that are handed out end with one that says so.
LogicalResult SyncUnroller::runWork(ws::WorkLoopOp work) {
  Block &body = work.getBody().front();
  auto ends = body.getOps<ws::EndUnlessWorkOp>();
  fetches = 0;
  for (auto [count, next] : llvm::enumerate(items)) {
    item = next;
    if (failed(run(body)) ||
        (!ends.empty() && failed(checkFetches(work, count + 1)))) {
      return failure();
    }
  }
  if (ends.empty()) {
    return success();
  }
  Block::iterator end = (*ends.begin())->getIterator();
  for (Operation &op : llvm::make_range(body.begin(), end)) {
    if (failed(runOp(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult SyncUnroller::runBranch(scf::IfOp branch) {
  FailureOr<int64_t> condition = evaluate(branch.getCondition(), branch);
  if (failed(condition)) {
    return failure();
  }
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  return taken.empty() ? success() : run(taken.front());
}

LogicalResult SyncUnroller::runOp(Operation *op) {
  if (auto work = dyn_cast<ws::WorkLoopOp>(op)) {
    return runWork(work);
  }
  if (!events.isWithin(op)) {
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return runLoop(loop);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return runBranch(branch);
  }
  if (op->getNumRegions() != 0) {
    return op->emitOpError("attn-verify-sync: expected 'scf.for' and 'scf.if' "
                           "alone round synchronization");
  }
  const SyncEvent *event = events.find(op);
  if (event->kind == SyncEvent::Fetch) {
    ++fetches;
  } else {
    unrolled.push_back(*event);
  }
  return success();
}
