// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The queries that see the keys of a block: the ranges of query blocks that a
// work item streams, if it owns keys.
#ifndef ATTN_PASSES_KERNELS_TILING_QUERYRANGES_H
#define ATTN_PASSES_KERNELS_TILING_QUERYRANGES_H

#include "ScoreMatrix.h"

namespace attn {

struct QueryRanges {
  /// Returns the ranges of query blocks, from the last one. With a mask region
  /// all of them are masked.
  tile::RangesAttr ranges(mlir::MLIRContext *context) const;
  /// Writes the bounds of these ranges for the keys of an item, in iterations.
  llvm::SmallVector<mlir::Value> writeBounds(TileBuilder &b,
                                             mlir::Value work) const;

  /// A block of keys, its first position, and the batch and head of its item.
  struct KeyBlock {
    mlir::Value block, first, batch, head;
  };
  /// The number that an item waits for before it adds to a block of queries:
  /// one more than that of the last block of keys before its own whose item
  /// visits these queries. If there is none, it does not wait.
  struct Turn {
    mlir::Value number, waits;
  };
  /// Writes the turn of the item `at` at the block of queries at position
  /// `row`, which that item visits. There may be no `seeing`.
  Turn turnOf(TileBuilder &b, const KeyBlock &at, mlir::Value row) const;

  const KeyRanges &keys; // axes and mask
  /// Whether the block that the queries fill partially is masked.
  bool masksEnd = false;
  mlir::Value repeats;     // iterations on each block
  mlir::Value seeing = {}; // the result of gradients(seeing), or null
  /// Whether `seeing` tells all of what the mask region decides: which blocks
  /// need no mask for it, too.
  bool knowsRegion = false;

private:
  /// Query blocks of a block of keys. In blocks from `lo` to before `hi`,
  /// queries may see some of the keys; in blocks from `left` to before `mid`,
  /// if there are any, every query sees all of them.
  struct SeeingBlocks {
    mlir::Value hi, lo, left, mid;
  };
  /// The keys that an item owns, from `first` to `last`, and its batch and
  /// head.
  struct OwnedKeys {
    mlir::Value first, last, batch, head;
  };
  /// One of the keys that `row_keys` yields.
  enum class RowKey { First, End, Prefix };

  bool hasRightRange() const {
    return masksEnd || knowsRegion || keys.builtIn.seeing.last ||
           (hasOrderedRows() && keys.rowKeys.hasFirst());
  }
  /// Whether every block has to be masked.
  bool areAllMasked() const {
    return (keys.maskRegion && !knowsRegion) ||
           (keys.rowKeys.region && !hasOrderedRows());
  }
  /// Whether `row_keys` chooses the blocks: it has to give the same keys to all
  /// query heads of the group.
  bool hasRowsOfGroup() const;
  bool hasOrderedRows() const {
    return hasRowsOfGroup() && keys.rowKeys.isOrdered;
  }
  SeeingBlocks blocksOfMask(TileBuilder &b, const OwnedKeys &owned) const;
  SeeingBlocks blocksOfRowKeys(TileBuilder &b, const OwnedKeys &owned) const;
  mlir::Value countBlocks(TileBuilder &b, const OwnedKeys &owned, RowKey which,
                          bool ofLastRow, mlir::Value most) const;
  llvm::SmallVector<mlir::Value> boundsOf(TileBuilder &b,
                                          mlir::Value work) const;
  /// Returns the bounds for `rows` keys of an item, from position `first` on.
  llvm::SmallVector<mlir::Value> boundsOfKeys(TileBuilder &b, mlir::Value work,
                                              mlir::Value first,
                                              mlir::Value rows) const;
  Turn turnOfMask(TileBuilder &b, const KeyBlock &at, mlir::Value row) const;
  Turn turnOfRowKeys(TileBuilder &b, const KeyBlock &at, mlir::Value row) const;
  /// Drops blocks before and after all that `seeing` has for the owned keys.
  void intersectSeeing(TileBuilder &b, const OwnedKeys &owned,
                       SeeingBlocks &blocks) const;
  /// Keeps only blocks of the longest run of `seeing` without a mask.
  void intersectRun(TileBuilder &b, const OwnedKeys &owned,
                    SeeingBlocks &blocks) const;
  /// Returns the most of the numbers of `seeing` in the rows from `row` on.
  mlir::Value mostOfSeeing(TileBuilder &b, const OwnedKeys &owned,
                           int64_t row) const;
  /// Returns the number of groups of keys of `seeing` that a block may touch.
  int64_t countGroups() const;
  /// Returns a block of queries of `seeing` as a position.
  mlir::Value positionOf(TileBuilder &b, mlir::Value block) const;
  /// Returns the count of queries, at least 0 and at most their number.
  mlir::Value clamp(TileBuilder &b, mlir::Value count) const;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_QUERYRANGES_H
