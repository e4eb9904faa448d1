// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots behind a role's values, and the MMAs that read them.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCSLOTS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCSLOTS_H

#include "SyncNumbers.h"

namespace attn {

/// Rules V8 and V9 within one role: a slot is read after it was waited for, and
/// before it is released.
class SyncSlots {
public:
  SyncSlots(SyncRun &run, SyncNumbers &numbers) : run(run), numbers(numbers) {}

  mlir::LogicalResult checkEnds() const;
  void beginItem() { released.clear(); }
  /// Renames the values of a region or block.
  void pass(mlir::ValueRange from, mlir::ValueRange to);

  /// Starts the next cycle of a channel, whose slot is the op's result.
  void enterCycle(const SyncEvent &event, mlir::Value slot);
  mlir::LogicalResult useSlot(const SyncEvent &event, mlir::Value slot);
  /// Evaluates the piece of a hold, or the replica that has the turn: below
  /// `count`.
  mlir::LogicalResult useNumber(const SyncEvent &event, mlir::Value number);
  mlir::LogicalResult release(const SyncEvent &event, mlir::Value slot);
  mlir::LogicalResult issueMma(const SyncEvent &event, ws::MmaOp mma);
  mlir::LogicalResult awaitMma(const SyncEvent &event, ws::AwaitOp await);

private:
  mlir::FailureOr<SlotRef> slotOf(mlir::Value value, mlir::Operation *user);
  mlir::FailureOr<SlotRef> operandOf(ws::MmaOp mma, bool isB);
  /// Checks that the slot has not been released.
  mlir::LogicalResult checkHeld(const SyncEvent &event, SlotRef slot);

  SyncRun &run;
  SyncNumbers &numbers;
  llvm::DenseMap<mlir::Value, SlotRef> slots;
  llvm::DenseMap<mlir::Value, int> tokens; // the steps that issued them
  llvm::DenseMap<unsigned, int64_t> puts;  // into a hold, so far
  llvm::SmallVector<int> inFlight;         // MMAs
  llvm::SmallVector<SlotRef> released;     // of the current item
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCSLOTS_H
