// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncSlots.h"

using namespace mlir;
using namespace attn;

void SyncSlots::pass(ValueRange from, ValueRange to) {
  // All are read first: a loop may exchange two values.
  SmallVector<std::pair<Value, SlotRef>> passed;
  for (auto [source, target] : llvm::zip(from, to)) {
    if (auto slot = slots.find(source); slot != slots.end()) {
      passed.push_back({target, slot->second});
    }
  }
  for (auto [target, slot] : passed) {
    slots[target] = slot;
  }
}

FailureOr<SlotRef> SyncSlots::slotOf(Value value, Operation *user) {
  if (auto slot = slots.find(value); slot != slots.end()) {
    return slot->second;
  }
  if (auto held = value.getDefiningOp<ws::HeldOp>()) {
    unsigned hold = run.events.objectOf(value);
    if (!held.getPiece()) {
      const SyncObject &object = run.events.objects()[hold];
      int64_t last = puts.lookup(hold) - 1;
      return SlotRef{int(hold),
                     std::max<int64_t>(last, 0) * object.pieces % object.depth,
                     true};
    }
    FailureOr<int64_t> piece = numbers.numberBelow(
        held.getPiece(), run.events.objects()[hold].pieces, held);
    if (failed(piece)) {
      return failure();
    }
    return SlotRef{int(hold), *piece};
  }
  return run.error(user) << "expected a slot of 'ws.acquire', 'ws.wait' or "
                            "'ws.held', got another";
}

void SyncSlots::enterCycle(const SyncEvent &event, Value slot) {
  int64_t cycle = run.countOf(event);
  slots[slot] = {int(event.object), cycle};
  run.add(event, cycle);
}

LogicalResult SyncSlots::checkHeld(const SyncEvent &event, SlotRef slot) {
  if (llvm::is_contained(released, slot)) {
    return run.error(event.op)
           << "V8: expected slots that are read before they are released, got "
              "cycle "
           << slot.number << " of '" << run.events.objects()[slot.object].name
           << "' released before";
  }
  return success();
}

LogicalResult SyncSlots::useSlot(const SyncEvent &event, Value value) {
  FailureOr<SlotRef> slot = slotOf(value, event.op);
  if (failed(slot) || failed(checkHeld(event, *slot))) {
    return failure();
  }
  run.add(event, slot->number);
  return success();
}

LogicalResult SyncSlots::useNumber(const SyncEvent &event, Value value) {
  const SyncObject &object = run.events.objects()[event.object];
  bool isHold = object.kind == SyncObject::Hold;
  FailureOr<int64_t> number = numbers.numberBelow(
      value, isHold ? object.pieces : object.depth, event.op);
  if (failed(number)) {
    return failure();
  }
  if (event.kind == SyncEvent::Put) {
    *number += puts[event.object]++ * object.pieces % object.depth;
  }
  run.add(event, *number);
  return success();
}

/// Returns A or B in shared memory. A warp reads only the rows of a hold that
/// it has put, or all of them.
FailureOr<SlotRef> SyncSlots::operandOf(ws::MmaOp mma, bool isB) {
  Value operand = isB ? mma.getB() : mma.getA();
  if (!isa<ws::SlotType>(operand.getType())) {
    return SlotRef(); // in registers, which the constraints of the op protect
  }
  FailureOr<SlotRef> slot = slotOf(operand, mma);
  if (failed(slot)) {
    return failure();
  }
  bool isHeld = run.events.objects()[slot->object].kind == SyncObject::Hold;
  bool isOdd = isB && !(slot->isWhole && mma.getTransposeA());
  if (isHeld && (isOdd || !run.isOf(SyncEvent::Put, slot->object))) {
    return run.error(mma) << "V8: expected a hold to be operand A in the role "
                             "that puts it, got "
                          << (isB ? "operand B" : "a role that does not");
  }
  return slot;
}

LogicalResult SyncSlots::issueMma(const SyncEvent &event, ws::MmaOp mma) {
  FailureOr<SlotRef> a = operandOf(mma, /*isB=*/false);
  FailureOr<SlotRef> b = operandOf(mma, /*isB=*/true);
  if (failed(a) || failed(b) || failed(checkHeld(event, *a)) ||
      failed(checkHeld(event, *b))) {
    return failure();
  }
  auto result = dyn_cast<ShapedType>(mma.getResult().getType());
  if (mma.getPiece() && result && result.hasRank() && result.getRank() == 2) {
    auto slot = cast<ws::SlotType>(mma.getA().getType());
    int64_t pieces = slot.getTile().getDimSize(mma.getTransposeA() ? 1 : 0) /
                     std::max<int64_t>(1, result.getDimSize(0));
    if (failed(numbers.numberBelow(mma.getPiece(), pieces, mma))) {
      return failure();
    }
  }
  int step = run.steps.size();
  tokens[mma.getToken()] = step;
  inFlight.push_back(step);
  SyncStep &added = run.add(event);
  added.reads[0] = *a;
  added.reads[1] = *b;
  return success();
}

/// The MMAs of a role end in order. The number of MMAs in flight at an await is
/// the number between them in the text, so none of these may be in a loop or
/// branch.
LogicalResult SyncSlots::awaitMma(const SyncEvent &event, ws::AwaitOp await) {
  Operation *mma = await.getToken().getDefiningOp();
  for (Operation *op = mma; op && op != await; op = op->getNextNode()) {
    if (op->getNumRegions() == 0) {
      continue;
    }
    WalkResult walked = op->walk([&](ws::MmaOp other) {
      return other->getBlock() == mma->getBlock() ? WalkResult::advance()
                                                  : WalkResult::interrupt();
    });
    if (walked.wasInterrupted()) {
      return run.error(await)
             << "expected no MMA in a loop or branch between an "
                "MMA and its await, got one in "
             << op->getName();
    }
  }
  int issued = tokens.lookup(await.getToken());
  llvm::erase_if(inFlight, [&](int step) { return step <= issued; });
  run.add(event).issued = issued;
  return success();
}

LogicalResult SyncSlots::release(const SyncEvent &event, Value value) {
  FailureOr<SlotRef> slot = slotOf(value, event.op);
  if (failed(slot) || failed(checkHeld(event, *slot))) {
    return failure();
  }
  for (int step : inFlight) {
    if (llvm::is_contained(run.steps[step].reads, *slot)) {
      InFlightDiagnostic diagnostic = run.error(event.op);
      diagnostic << "V9: expected an MMA to be awaited before what it reads is "
                    "released, got one in flight that reads cycle "
                 << slot->number << " of '"
                 << run.events.objects()[slot->object].name << "'";
      diagnostic.attachNote(run.steps[step].event->op->getLoc()) << "the MMA";
      return diagnostic;
    }
  }
  if (!run.isOf(SyncEvent::Wait, slot->object)) {
    return run.error(event.op)
           << "expected a slot of 'ws.wait', got one that the "
              "role fills";
  }
  released.push_back(*slot);
  run.add(event, slot->number);
  return success();
}

/// A role has only one counter for a ring, whichever end of it it uses.
LogicalResult SyncSlots::checkEnds() const {
  for (auto [i, object] : llvm::enumerate(run.events.objects())) {
    if (object.kind == SyncObject::Channel && run.isOf(SyncEvent::Acquire, i) &&
        run.isOf(SyncEvent::Wait, i)) {
      ws::RoleOp role = run.of.role;
      return role.emitOpError("attn-verify-sync: expected a role to fill or "
                              "to read a channel, got both for '")
             << object.name << "'";
    }
  }
  return success();
}
