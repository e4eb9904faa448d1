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

  const KeyRanges &keys; // axes and mask
  /// Whether the block that the queries fill partially is masked.
  bool masksEnd = false;
  mlir::Value repeats; // iterations on each block

private:
  bool hasRightRange() const {
    return masksEnd || bool(keys.builtIn.seeing.last);
  }
  llvm::SmallVector<mlir::Value> boundsOf(TileBuilder &b,
                                          mlir::Value work) const;
  /// Returns the count of queries, at least 0 and at most their number.
  mlir::Value clamp(TileBuilder &b, mlir::Value count) const;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_QUERYRANGES_H
