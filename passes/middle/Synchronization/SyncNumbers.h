// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the numbers that decide trip counts, pieces and turns, for the
// current item of a run.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCNUMBERS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCNUMBERS_H

#include "SyncRun.h"
#include "attn/dialect/Tile.h"

namespace attn {

class SyncNumbers {
public:
  explicit SyncNumbers(const SyncRun &run) : run(run) {}

  mlir::FailureOr<int64_t> evaluate(mlir::Value value, mlir::Operation *user);
  /// Returns nothing if the number depends on data or on the problem.
  std::optional<int64_t> tryEvaluate(mlir::Value value);
  /// Like tryEvaluate(), with invented sizes and coordinates of items.
  mlir::FailureOr<int64_t> coordinate(mlir::Value value, mlir::Operation *user);
  mlir::FailureOr<int64_t> numberBelow(mlir::Value value, int64_t count,
                                       mlir::Operation *user);
  /// Like coordinate(), for the row block that comes `blocks` later.
  mlir::FailureOr<int64_t> laterCoordinate(mlir::Value value, int64_t blocks,
                                           mlir::Operation *user);
  /// Returns the iteration that runs a block: `tile.skip` numbers blocks with a
  /// gap, which is invented too.
  static int64_t iterationOf(int64_t block) {
    return block >= skippedBlocks ? block - skippedBlocks : block;
  }
  /// Sets the induction variable of a loop for the current trip.
  void set(mlir::Value counter, int64_t number) { numbers[counter] = number; }

  const SyncRun &run;

private:
  /// More than the blocks of any item.
  static constexpr int64_t skippedBlocks = 1 << 20;

  /// Evaluates `value`; `known` holds the results of the current evaluation.
  std::optional<int64_t> numberOf(mlir::Value value);
  std::optional<int64_t> boundOf(tile::BoundsOp bounds, unsigned index);
  std::optional<int64_t> blockOf(tile::SkipOp skip);
  std::optional<int64_t> fold(mlir::Operation *op);
  /// Returns a size, or a coordinate of an item, invented so that they differ.
  std::optional<int64_t> makeUp(mlir::Value value);

  bool makesUp = false;
  /// The number of row blocks after the one of the item.
  int64_t later = 0;
  llvm::DenseMap<mlir::Value, int64_t> numbers; // of loops
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCNUMBERS_H
