// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots that a role's values are, and the MMAs that read them.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCSLOTS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCSLOTS_H

#include "SyncNumbers.h"

namespace attn {

/// Rules V8 and V9 as far as one role shows them: a slot is read after it was
/// waited for, and before it is given back.
class SyncSlots {
public:
  SyncSlots(SyncRun &run, SyncNumbers &numbers) : run(run), numbers(numbers) {}

  mlir::LogicalResult checkEnds() const;
  void beginItem() { released.clear(); }
  /// The values of a region or block become others.
  void pass(mlir::ValueRange from, mlir::ValueRange to);

  /// The next cycle of its channel: the op's result.
  void enterCycle(const SyncEvent &event, mlir::Value slot);
  mlir::LogicalResult useSlot(const SyncEvent &event, mlir::Value slot);
  /// The piece of a hold, or the replica whose turn it is: below `count`.
  mlir::LogicalResult useNumber(const SyncEvent &event, mlir::Value number);
  mlir::LogicalResult release(const SyncEvent &event, mlir::Value slot);
  mlir::LogicalResult issueMma(const SyncEvent &event, ws::MmaOp mma);
  mlir::LogicalResult awaitMma(const SyncEvent &event, ws::AwaitOp await);

private:
  mlir::FailureOr<SlotRef> slotOf(mlir::Value value, mlir::Operation *user);
  mlir::FailureOr<SlotRef> operandOf(ws::MmaOp mma, bool isB);
  /// The slot has not been released.
  mlir::LogicalResult checkHeld(const SyncEvent &event, SlotRef slot);

  SyncRun &run;
  SyncNumbers &numbers;
  llvm::DenseMap<mlir::Value, SlotRef> slots;
  llvm::DenseMap<mlir::Value, int> tokens; // the steps that issued them
  llvm::SmallVector<int> inFlight;         // MMAs
  llvm::SmallVector<SlotRef> released;     // of the current item
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCSLOTS_H
