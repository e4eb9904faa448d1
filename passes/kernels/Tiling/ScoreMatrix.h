// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions in the score matrix: the rows and columns of a work item and of an
// iteration of the loop.
#ifndef ATTN_PASSES_TILING_SCOREMATRIX_H
#define ATTN_PASSES_TILING_SCOREMATRIX_H

#include "KeyRanges.h"

namespace attn {

/// The two dimensions of the score matrix. A CTA owns one block of one of
/// them and streams the blocks of the other: forward owns queries.
enum class Side { Query, Key };

/// The coordinates of a work item: its row block, query head (head of K and V
/// if heads are packed) and batch; and the positions of a score tile's
/// elements, once they are needed.
struct Place {
  mlir::Value block, head, batch;
  mlir::Value queries, keys;
};

class ScoreMatrix {
public:
  ScoreMatrix(TileBuilder &b, Side owned) : b(b), owned(owned) {}

  Side streamed() const {
    return owned == Side::Query ? Side::Key : Side::Query;
  }
  Axis &axis(Side side) {
    return side == Side::Query ? ranges.query : ranges.key;
  }

  Place place(mlir::Value work);
  /// The first position along `side` of the block of this iteration.
  mlir::Value start(Side side, const Place &at);
  /// The first row to store: past the end if a later part stores the rows.
  mlir::Value firstRowToWrite(mlir::Value work, const Place &at);
  /// Returns the numbers of this iteration among the iterations on its block:
  /// the one in `repeats`, then the one in `outerRepeats`.
  llvm::SmallVector<mlir::Value> members();
  /// The position along `side` of each element of a score tile.
  mlir::Value coords(Side side, Place &at);

  mlir::RankedTensorType scoreType(mlir::Type element) {
    return mlir::RankedTensorType::get(
        {axis(owned).tile, axis(streamed()).tile}, element);
  }
  mlir::RankedTensorType tileType(Side side, int64_t dim, mlir::Type element) {
    return mlir::RankedTensorType::get({axis(side).tile, dim}, element);
  }

  /// Inlines a region of the user on tiles, with the arguments (leading..., b,
  /// h, i, j, captures...), and returns its results.
  llvm::SmallVector<mlir::Value> liftRegion(mlir::Region &region,
                                            mlir::ValueRange leading,
                                            mlir::ValueRange captures,
                                            Place &at);

  KeyRanges ranges;
  mlir::Value iteration; // the block number in the loop
  /// The number of consecutive iterations on one block; null if it is 1. With
  /// `outerRepeats`, that number is `repeats` times `outerRepeats`.
  mlir::Value repeats, outerRepeats;

private:
  TileBuilder &b;
  Side owned;
};

} // namespace attn

#endif // ATTN_PASSES_TILING_SCOREMATRIX_H
