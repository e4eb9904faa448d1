// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys that the queries of a block may see: the ranges of key blocks that
// it streams, and the built-in mask inside them.
#ifndef ATTN_PASSES_TILING_KEYRANGES_H
#define ATTN_PASSES_TILING_KEYRANGES_H

#include "../../TileBuilder.h"
#include "attn/dialect/Masks.h"

namespace attn {

/// One dimension of the score matrix.
struct Axis {
  int64_t tile = 0;     // positions in a block
  mlir::Value tileSize; // the same as an i32
  mlir::Value length;   // total number of positions, as an i32
};

struct KeyRanges {
  /// Returns the ranges of key blocks, from the right. With a mask region all
  /// of them are masked.
  tile::RangesAttr ranges(mlir::MLIRContext *context) const;
  /// Writes the bounds of these ranges for the rows of an item.
  llvm::SmallVector<mlir::Value> writeBounds(TileBuilder &b,
                                             mlir::Value work) const;
  /// Writes which pairs the built-in mask admits; this also cuts the keys at
  /// the end. Positions are tiles; those of queries are unused without a mask.
  mlir::Value writeAdmitted(TileBuilder &b, mlir::Value queries,
                            mlir::Value keys) const;
  /// Returns the query of a row, a scalar or a tile: with packed heads, several
  /// consecutive rows belong to one query.
  mlir::Value toQuery(TileBuilder &b, mlir::Value row) const;

  Axis query, key;
  bool bottomRight = false, maskRegion = false;
  int64_t packed = 1;                  // query heads that share a tile's rows
  SeenKeys seen;                       // by the built-in mask
  llvm::StringMap<mlir::Value> bounds; // the bounds of that mask, by name
  mlir::Value parts;                   // of an item that is cut, or null

private:
  mlir::Value toDiagonal(TileBuilder &b, mlir::Value queries) const;
  mlir::Value wordOf(llvm::StringRef word, mlir::Value diagonal) const;
  mlir::Value write(TileBuilder &b, mlir::Attribute expression,
                    mlir::Value diagonal) const;
  mlir::Value lastKey(TileBuilder &b, mlir::Value queries) const;
  mlir::Value firstKey(TileBuilder &b, mlir::Value queries) const;
  bool dependsOnRows() const { return seen.first || seen.last; }
  llvm::SmallVector<mlir::Value> boundsOf(TileBuilder &b,
                                          mlir::Value work) const;
  llvm::SmallVector<mlir::Value> boundsOfRows(TileBuilder &b, mlir::Value first,
                                              mlir::Value rows) const;
  void keepPart(TileBuilder &b, mlir::Value work,
                llvm::MutableArrayRef<mlir::Value> bounds) const;
};

} // namespace attn

#endif // ATTN_PASSES_TILING_KEYRANGES_H
