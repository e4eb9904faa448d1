// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls the program of one replica of a role into its events, in program
// order, for given work items.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H

#include "SyncIterations.h"
#include "SyncSlots.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

class TileRanges;

/// Runs the control flow; SyncSlots and SyncIterations handle the ops.
class SyncUnroller {
public:
  /// With `tiles`, which may be null, computing ops are run as well.
  SyncUnroller(const SyncEvents &events, llvm::ArrayRef<SyncItem> items,
               SyncReplica of, TileRanges *tiles)
      : at(events, items, of), numbers(at), slots(at, numbers), iterations(at),
        tiles(tiles) {}

  /// Checks rules V8, V9 and V26 within one role.
  mlir::LogicalResult unroll();

  std::vector<SyncStep> takeSteps() { return std::move(at.steps); }
  /// Of steps, by object and kind.
  std::vector<int64_t> takeCounts() { return std::move(at.counts); }

private:
  mlir::LogicalResult runBlock(mlir::Block &block);
  mlir::LogicalResult runWork(ws::WorkLoopOp work);
  mlir::LogicalResult runOp(mlir::Operation *op);
  bool hasKnownTrips(mlir::scf::ForOp loop);
  mlir::LogicalResult runLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult runOnce(mlir::scf::ForOp loop);
  mlir::LogicalResult runBranch(mlir::scf::IfOp branch);
  mlir::LogicalResult runEither(mlir::scf::IfOp branch);
  mlir::LogicalResult runEvent(const SyncEvent &event);
  mlir::LogicalResult addStep(const SyncEvent &event);
  mlir::LogicalResult shareItem(const SyncEvent &event, ws::ShareWorkOp share);
  void beginIteration(int item);
  void pass(mlir::ValueRange from, mlir::ValueRange to);

  SyncRun at;
  SyncNumbers numbers;
  SyncSlots slots;
  SyncIterations iterations;
  TileRanges *tiles;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H
