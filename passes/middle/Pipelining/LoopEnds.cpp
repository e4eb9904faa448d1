// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop has besides its steps: slots given back early, blocks that a
// sub-tile skips, and what runs where there is no block.
#include "LoopExpander.h"

using namespace mlir;
using namespace attn;

/// A slot from outside the loop goes back before the epilogue, unless that or
/// what follows the loop reads it, so that the next item's tile can come
/// meanwhile.
void LoopExpander::takeEarlyReleases() {
  if (maxShift == 0) {
    return;
  }
  llvm::SetVector<Value> read, readLate;
  for (ws::EntryOp entry : entries) {
    bool runsLate = entry.getShift() > 0 || entry.getGuard() == "last";
    for (Value value : entry.getCaptures()) {
      if (isa<ws::SlotType>(value.getType()) && !isa<BlockArgument>(value) &&
          !loop->isAncestor(value.getDefiningOp())) {
        (runsLate ? readLate : read).insert(value);
      }
    }
  }
  for (Value slot : read) {
    SmallVector<Operation *> others;
    for (Operation *user : slot.getUsers()) {
      if (!loop->isAncestor(user)) {
        others.push_back(user);
      }
    }
    if (!readLate.contains(slot) && others.size() == 1 &&
        isa<ws::ReleaseOp>(others[0]) &&
        others[0]->getBlock() == loop->getBlock()) {
      others[0]->erase();
      earlyReleases.push_back(slot);
    }
  }
}

void LoopExpander::emitEarlyReleases() {
  for (Value slot : earlyReleases) {
    ws::ReleaseOp::create(builder, loc, slot);
  }
}

/// Blocks are skipped one after the other: a channel must not have slots of
/// another block between those of one.
LogicalResult LoopExpander::checkSkippedOrder() {
  llvm::DenseMap<Attribute, int64_t> shifts;
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard()) {
      continue;
    }
    for (auto wait : entry.getBody().getOps<ws::WaitOp>()) {
      Attribute channel = wait.getSlot().getType().getChannel();
      int64_t shift = entry.getShift();
      int64_t first = shifts.try_emplace(channel, shift).first->second;
      if (shift != first) {
        return entry.emitOpError("attn-pipeline: expected one shift of the "
                                 "waits for ")
               << channel << " in the loop of a role that skips blocks, got "
               << first << " and " << shift;
      }
    }
  }
  return success();
}

/// Slots of skipped blocks are waited for and given back, and turns are passed
/// on. What is pinned runs once an item, in the blocks that follow or for none.
LogicalResult LoopExpander::emitSkipped() {
  if (failed(checkSkippedOrder())) {
    return failure();
  }
  Value count = arith::SubIOp::create(builder, loc, loop.getBounds()[0], top);
  auto skipped =
      scf::ForOp::create(builder, loc, constant(0), count, constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(skipped.getBody());
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard()) {
      continue;
    }
    for (Operation &op : entry.getBody().front().without_terminator()) {
      if (isa<ws::SignalOp, ws::WaitEdgeOp, ws::SyncOp, ws::AcquireOp>(op)) {
        return entry.emitOpError("attn-pipeline: no lowering for '")
               << op.getName() << "' in the loop of a role that skips blocks";
      }
      if (isa<ws::TakeOp, ws::GiveOp>(op)) {
        builder.clone(op);
      } else if (isa<ws::WaitOp>(op)) {
        Value slot = builder.clone(op)->getResult(0);
        ws::ReleaseOp::create(builder, loc, slot);
      }
    }
  }
  return success();
}

/// An empty range runs what is pinned in the loop, waits first.
LogicalResult LoopExpander::emitEmpty() {
  SmallVector<ws::EntryOp> pinned;
  for (ws::EntryOp entry : entries) {
    if (entry.getGuard()) {
      pinned.push_back(entry);
    }
  }
  auto waits = [](ws::EntryOp entry) {
    return !entry.getBody().getOps<ws::WaitEdgeOp>().empty();
  };
  llvm::sort(pinned, [&](ws::EntryOp a, ws::EntryOp b) {
    return std::make_tuple(!waits(a), a.getSlot()) <
           std::make_tuple(!waits(b), b.getSlot());
  });
  emitEarlyReleases();
  TimeStep step{constant(0), 0, 0, false, true, true, {}};
  for (ws::EntryOp entry : pinned) {
    if (failed(emitEntry(entry, step))) {
      return failure();
    }
  }
  return success();
}
