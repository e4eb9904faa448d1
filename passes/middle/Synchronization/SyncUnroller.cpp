// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncUnroller.h"
#include "TileRanges.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

LogicalResult SyncUnroller::unroll() {
  return failure(failed(slots.checkEnds()) ||
                 failed(runBlock(at.of.role.getBody().front())));
}

LogicalResult SyncUnroller::runBlock(Block &block) {
  if (!tiles) {
    for (Operation *op : at.events.within(&block)) {
      if (failed(runOp(op))) {
        return failure();
      }
    }
    return success();
  }
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(runOp(&op))) {
      return failure();
    }
  }
  return success();
}

/// A loop without events whose trip count depends on data: its tiles are those
/// of a single trip.
LogicalResult SyncUnroller::runOnce(scf::ForOp loop) {
  pass(loop.getInits(), loop.getRegionIterArgs());
  if (failed(runBlock(*loop.getBody()))) {
    return failure();
  }
  pass(loop.getYieldedValues(), loop.getResults());
  return success();
}

bool SyncUnroller::hasKnownTrips(scf::ForOp loop) {
  return numbers.tryEvaluate(loop.getLowerBound()) &&
         numbers.tryEvaluate(loop.getUpperBound()) &&
         numbers.tryEvaluate(loop.getStep());
}

LogicalResult SyncUnroller::runLoop(scf::ForOp loop) {
  if (!at.events.isWithin(loop) && !(tiles && hasKnownTrips(loop))) {
    return runOnce(loop);
  }
  FailureOr<int64_t> from = numbers.evaluate(loop.getLowerBound(), loop);
  FailureOr<int64_t> to = numbers.evaluate(loop.getUpperBound(), loop);
  FailureOr<int64_t> step = numbers.evaluate(loop.getStep(), loop);
  if (failed(from) || failed(to) || failed(step)) {
    return failure();
  }
  int64_t distance;
  if (loop.getUnsignedCmp() || *step < 1 ||
      llvm::SubOverflow(*to, *from, distance) || distance / *step > mostTrips) {
    return at.error(loop) << "expected at most " << mostTrips
                          << " trips, signed, with a step of at least 1, got "
                          << *from << " to " << *to << " step " << *step;
  }
  pass(loop.getInits(), loop.getRegionIterArgs());
  for (int64_t left = distance; left > 0; left -= *step) {
    numbers.set(loop.getInductionVar(), *to - left);
    if (failed(runBlock(*loop.getBody()))) {
      return failure();
    }
    pass(loop.getYieldedValues(), loop.getRegionIterArgs());
  }
  pass(loop.getRegionIterArgs(), loop.getResults());
  return success();
}

LogicalResult SyncUnroller::runBranch(scf::IfOp branch) {
  if (tiles && !at.events.isWithin(branch) &&
      !numbers.tryEvaluate(branch.getCondition())) {
    return runEither(branch);
  }
  FailureOr<int64_t> condition =
      numbers.evaluate(branch.getCondition(), branch);
  if (failed(condition)) {
    return failure();
  }
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (taken.empty()) {
    return success();
  }
  if (failed(runBlock(taken.front()))) {
    return failure();
  }
  pass(taken.front().getTerminator()->getOperands(), branch.getResults());
  return success();
}

/// A branch that depends on data: either way may be taken.
LogicalResult SyncUnroller::runEither(scf::IfOp branch) {
  size_t first = tiles->getWritten().size();
  if (failed(runBlock(branch.getThenRegion().front()))) {
    return failure();
  }
  size_t second = tiles->getWritten().size();
  if (branch.elseBlock() && failed(runBlock(*branch.elseBlock()))) {
    return failure();
  }
  tiles->getWritten().keepCommon(first, second);
  return branch.getNumResults() == 0 ? success()
                                     : tiles->passEither(branch, numbers);
}

void SyncUnroller::pass(ValueRange from, ValueRange to) {
  if (tiles) {
    tiles->pass(from, to);
  }
  slots.pass(from, to);
}

void SyncUnroller::beginIteration(int item) {
  slots.beginItem();
  iterations.begin(item);
}

/// Items that are handed out end with an item "none left".
LogicalResult SyncUnroller::runWork(ws::WorkLoopOp work) {
  Block &body = work.getBody().front();
  auto ends = body.getOps<ws::EndUnlessWorkOp>();
  int items = at.items.size();
  for (int item = 0; item < items; ++item) {
    beginIteration(item);
    if (failed(runBlock(body)) ||
        (!ends.empty() && failed(iterations.end(work)))) {
      return failure();
    }
  }
  beginIteration(items);
  if (ends.empty()) {
    return success();
  }
  for (Operation *op : at.events.within(&body)) {
    if ((*ends.begin())->isBeforeInBlock(op)) {
      break;
    }
    if (failed(runOp(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult SyncUnroller::shareItem(const SyncEvent &event,
                                      ws::ShareWorkOp share) {
  if (at.of.cta == 0 && failed(runBlock(share.getBody().front()))) {
    return failure();
  }
  at.add(event, at.item);
  return success();
}

LogicalResult SyncUnroller::runOp(Operation *op) {
  if (at.steps.size() > mostSteps) {
    return at.error(op) << "expected at most " << mostSteps
                        << " steps of a role, got more";
  }
  if (const SyncEvent *event = at.events.find(op)) {
    return runEvent(*event);
  }
  if (auto work = dyn_cast<ws::WorkLoopOp>(op)) {
    return runWork(work);
  }
  if (isa<scf::ForOp, scf::IfOp>(op)) {
    auto loop = dyn_cast<scf::ForOp>(op);
    return failure(
        failed(loop ? runLoop(loop) : runBranch(cast<scf::IfOp>(op))) ||
        (tiles && failed(tiles->checkUsed(op, numbers))));
  }
  if (tiles && !at.events.isWithin(op)) {
    return tiles->visit(op, numbers);
  }
  return at.error(op)
         << "expected only 'scf.for' and 'scf.if' around synchronization";
}

LogicalResult SyncUnroller::runEvent(const SyncEvent &event) {
  return failure(failed(addStep(event)) ||
                 (tiles && failed(tiles->visit(event.op, numbers))));
}

LogicalResult SyncUnroller::addStep(const SyncEvent &event) {
  auto enter = [&](auto op) {
    slots.enterCycle(event, op.getSlot());
    return success();
  };
  auto simple = [&](auto) {
    at.add(event);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(event.op)
      .Case<ws::AcquireOp, ws::WaitOp>(enter)
      .Case<ws::CopyOp, ws::PutWorkOp, ws::GetWorkOp, ws::ReadRowOp>(
          [&](auto op) { return slots.useSlot(event, op.getSlot()); })
      .Case(
          [&](ws::ReleaseOp op) { return slots.release(event, op.getSlot()); })
      .Case([&](ws::MmaOp op) { return slots.issueMma(event, op); })
      .Case([&](ws::AwaitOp op) { return slots.awaitMma(event, op); })
      .Case<ws::PutOp, ws::StoreOp, ws::ReduceAddOp>(
          [&](auto op) { return slots.useNumber(event, op.getPiece()); })
      .Case<ws::TakeOp, ws::GiveOp>(
          [&](auto op) { return slots.useNumber(event, op.getReplica()); })
      .Case<ws::SignalOp, ws::WaitEdgeOp, ws::SyncOp, ws::AwaitStoreOp>(simple)
      .Case([&](ws::TakeItemOp) { return success(); })
      .Case([&](ws::FetchWorkOp) { return iterations.fetch(), success(); })
      .Case([&](ws::GiveVerdictOp) {
        return iterations.giveVerdict(event), success();
      })
      .Case([&](ws::SecondRunOp) {
        return iterations.secondRun(event), success();
      })
      .Case([&](ws::ChooseItemOp) {
        return iterations.chooseItem(event), success();
      })
      .Case([&](ws::ShareWorkOp op) { return shareItem(event, op); })
      .Default([&](Operation *op) {
        return at.error(op) << "expected an op that synchronizes";
      });
}
