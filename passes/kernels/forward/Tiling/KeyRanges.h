// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys the queries of a block may see: the ranges of key blocks that it
// streams, and the built-in mask inside of them.
#ifndef ATTN_PASSES_TILING_KEYRANGES_H
#define ATTN_PASSES_TILING_KEYRANGES_H

#include "../../TileBuilder.h"
#include "attn/dialect/Masks.h"

namespace attn {

/// One dimension of the score matrix in the kernel.
struct Axis {
  int64_t tile = 0;     // positions a block
  mlir::Value tileSize; // the same, i32
  mlir::Value length;   // positions in all, i32
};

struct KeyRanges {
  /// The ranges of key blocks, from the right. With a mask region all of them
  /// are masked.
  tile::RangesAttr ranges(mlir::MLIRContext *context) const;
  /// The ends of these ranges for the rows of an item.
  llvm::SmallVector<mlir::Value> writeBounds(TileBuilder &b,
                                             mlir::Value work) const;
  /// Which pairs the built-in mask admits; it also ends the keys. Positions are
  /// tiles; those of queries are not read without a mask.
  mlir::Value writeAdmitted(TileBuilder &b, mlir::Value queries,
                            mlir::Value keys) const;
  /// The query of a row, a scalar or a tile: several heads of it follow one
  /// another where packed.
  mlir::Value toQuery(TileBuilder &b, mlir::Value row) const;

  Axis query, key;
  bool bottomRight = false, maskRegion = false;
  int64_t packed = 1;                  // query heads that share a tile's rows
  SeenKeys seen;                       // by the built-in mask
  llvm::StringMap<mlir::Value> bounds; // of that mask, by their names
  mlir::Value parts; // of an item that is cut; null where none is

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
