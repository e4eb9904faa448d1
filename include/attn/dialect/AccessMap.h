// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The access map of a load or store: from (batch, head, row, dim) of a tile's
// element to the dimensions of a tensor in memory.
#ifndef ATTN_DIALECT_ACCESSMAP_H
#define ATTN_DIALECT_ACCESSMAP_H

#include "attn/support/mlir_pch.h"

namespace attn {

/// A permutation of four dimensions that keeps the last one, or one with packed
/// heads: n of them share the rows of a tile, where each position has m rows, n
/// rounded up to a power of two. Row r is position r / m of head
/// `head` * n + r mod m; rows with r mod m >= n are empty.
struct AccessMap {
  enum Coordinate : unsigned { Batch, Head, Position, Dim };

  /// The coordinate of each dimension of the tensor.
  std::array<unsigned, 4> order;
  /// The number of heads that share the rows of a tile.
  int64_t packedHeads = 1;

  static constexpr int64_t mostPackedHeads = 64;

  /// Returns the rows of a position, for so many packed heads.
  static int64_t rowsOfPosition(int64_t packedHeads) {
    return llvm::PowerOf2Ceil(packedHeads);
  }
  int64_t rowsOfPosition() const { return rowsOfPosition(packedHeads); }
  /// Whether positions have empty rows.
  bool hasEmptyRows() const { return rowsOfPosition() != packedHeads; }

  /// Returns the map of a tensor with positions and heads in these dimensions.
  static AccessMap of(unsigned positionDim, unsigned headsDim) {
    AccessMap map{{Batch, Batch, Batch, Dim}};
    map.order[headsDim] = Head;
    map.order[positionDim] = Position;
    return map;
  }
  /// Returns the parts of the map, if it is an access map.
  static std::optional<AccessMap> parse(mlir::AffineMap map);
  mlir::AffineMap build(mlir::MLIRContext *context) const;

  /// Returns the tensor's dimension for a coordinate.
  unsigned dimOf(Coordinate coordinate) const {
    return llvm::find(order, coordinate) - order.begin();
  }
};

} // namespace attn

#endif // ATTN_DIALECT_ACCESSMAP_H
