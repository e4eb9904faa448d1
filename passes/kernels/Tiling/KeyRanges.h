// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys that the queries of a block may see: the ranges of key blocks that
// it streams, and the mask inside them. Either a built-in mask or the user's
// `row_keys` says where the keys of a query begin and end.
#ifndef ATTN_PASSES_TILING_KEYRANGES_H
#define ATTN_PASSES_TILING_KEYRANGES_H

#include "../RegionFacts.h"
#include "BuiltInKeys.h"
#include "attn/dialect/RegionProgram.h"

namespace attn {

/// One dimension of the score matrix.
struct Axis {
  int64_t tile = 0;     // positions in a block
  mlir::Value tileSize; // the same as an i32
  mlir::Value length;   // total number of positions, as an i32
};

/// Positions of queries, a scalar or a tile, of one batch and head.
struct Queries {
  mlir::Value positions, batch, head;
};

/// The user's `row_keys`, if there are any, and the arguments of the kernel
/// that they read.
struct RowKeysRegion {
  mlir::Region *region = nullptr;
  RowKeys sides = RowKeys::None;
  bool hasPrefix = false;
  bool mayBeNegative = false; // the keys that it yields, which count as 0 then
  bool isOrdered = true;      // no key that it yields falls from row to row
  llvm::SmallVector<mlir::Value> captures;

  /// Returns the region of an attn.attention or of its gradients, with the
  /// arguments of the kernel for its captures.
  template <typename Op>
  static RowKeysRegion of(Op op, mlir::ValueRange captures) {
    if (!op.hasRowKeys()) {
      return {};
    }
    return {&op.getRowKeys(),
            op.getRowKeysSides(),
            op.hasPrefix(),
            !op->hasAttr(kUserProblemAttr),
            areKeysOrdered(op.getRowKeys()),
            llvm::to_vector(captures)};
  }
  bool hasFirst() const { return bitEnumContainsAll(sides, RowKeys::First); }
  bool hasEnd() const { return bitEnumContainsAll(sides, RowKeys::End); }
};

/// The results of `row_keys`: each is a number, or a tile of numbers.
struct RowEnds {
  mlir::Value first, end;
  mlir::Value prefix; // the end of the prefix, or null
};

/// The smallest and the largest of the ends of some rows; null where the rows
/// are not bounded.
struct EndsOfRows {
  mlir::Value leastFirst, mostFirst, leastEnd, mostEnd;
};

/// A block of rows of one batch and head.
struct RowBlock {
  mlir::Value block, batch, head;
};

/// The key blocks that a work item streams: those before `prefix`, and others
/// from `begin`, which is not before it.
struct SeenBlocks {
  mlir::Value prefix, begin;
};

struct KeyRanges {
  /// Returns the ranges of key blocks, from the right. With a mask region all
  /// of them are masked.
  tile::RangesAttr ranges(mlir::MLIRContext *context) const;
  /// Writes the bounds of these ranges for the rows of an item.
  llvm::SmallVector<mlir::Value> writeBounds(TileBuilder &b,
                                             mlir::Value work) const;
  /// Writes which pairs the built-in mask or `row_keys` admits; keys beyond the
  /// last one are not admitted. Positions are tiles; those of queries are
  /// unused without a mask.
  mlir::Value writeAdmitted(TileBuilder &b, Queries queries,
                            mlir::Value keys) const;
  /// Returns the key block of an iteration, which counts the blocks that the
  /// work item streams.
  mlir::Value toBlock(TileBuilder &b, mlir::Value iteration,
                      const RowBlock &at) const;
  /// Returns the query of a row, a scalar or a tile: with packed heads, several
  /// consecutive rows belong to one query.
  mlir::Value toQuery(TileBuilder &b, mlir::Value row) const;

  /// Returns the results of `row_keys`: tiles if the positions of the queries
  /// are a tile, otherwise scalars.
  RowEnds liftRowKeys(TileBuilder &b, Queries queries) const;

  Axis query, key;
  int64_t cluster = 1; // CTAs that stream the same blocks
  bool maskRegion = false;
  int64_t rowsOfPosition = 1; // of a tile; several with packed heads
  BuiltInKeys builtIn;
  RowKeysRegion rowKeys;
  mlir::Value parts; // of an item that is cut, or null

private:
  EndsOfRows endsOfRows(TileBuilder &b, Queries first, mlir::Value rows) const;
  EndsOfRows reduceRows(TileBuilder &b, Queries first, mlir::Value rows) const;
  SeenBlocks blocksOfItem(TileBuilder &b, const RowBlock &at) const;
  bool hasFirst() const { return builtIn.seen.first || rowKeys.hasFirst(); }
  bool hasEnd() const { return builtIn.seen.last || rowKeys.hasEnd(); }
  bool dependsOnRows() const { return hasFirst() || hasEnd(); }
  /// Returns the count of keys, at least 0 and at most their number.
  mlir::Value clamp(TileBuilder &b, mlir::Value count, mlir::Value zero) const;
  llvm::SmallVector<mlir::Value> boundsOf(TileBuilder &b,
                                          mlir::Value work) const;
  llvm::SmallVector<mlir::Value> boundsOfRows(TileBuilder &b, mlir::Value work,
                                              mlir::Value first,
                                              mlir::Value rows) const;
  llvm::SmallVector<mlir::Value> boundsOfMask(TileBuilder &b, mlir::Value first,
                                              mlir::Value rows) const;
  llvm::SmallVector<mlir::Value> boundsOfRowKeys(TileBuilder &b, Queries first,
                                                 mlir::Value rows) const;
  llvm::SmallVector<mlir::Value>
  countBlocks(TileBuilder &b, const RowBlock &at, mlir::Value firstRow,
              llvm::SmallVector<mlir::Value> bounds) const;
  void keepPart(TileBuilder &b, mlir::Value work,
                llvm::MutableArrayRef<mlir::Value> bounds) const;
};

/// Keeps the iterations of one part in the bounds of ranges: the parts of an
/// item, whose iterations are those from the first number of `item` to before
/// the second, have equal numbers of them, in order.
void keepPartOf(TileBuilder &b, mlir::Value work, mlir::Value parts,
                std::pair<mlir::Value, mlir::Value> item,
                llvm::MutableArrayRef<mlir::Value> bounds);

} // namespace attn

#endif // ATTN_PASSES_TILING_KEYRANGES_H
