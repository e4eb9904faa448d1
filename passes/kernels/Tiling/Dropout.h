// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dropout of a kernel: which pairs of a query and a key are kept, and the
// factor of those that are. All kernels of one attention keep the same pairs.
#ifndef ATTN_PASSES_KERNELS_TILING_DROPOUT_H
#define ATTN_PASSES_KERNELS_TILING_DROPOUT_H

#include "ArgumentList.h"
#include "ScoreMatrix.h"

namespace attn {

class Dropout {
public:
  /// Adds the arguments of an op with dropout.
  void addArguments(ArgumentList &list, mlir::Value givenRate,
                    mlir::Value givenState);
  /// Computes the numbers that depend on the rate alone, outside of the work
  /// loop.
  void writeNumbers(TileBuilder &b);
  /// Returns whether each pair of a score tile is kept.
  mlir::Value writeKept(TileBuilder &b, ScoreMatrix &matrix, Place at) const;
  /// Returns the factor of pairs that are kept, as a tile.
  mlir::Value spreadFactor(TileBuilder &b, mlir::RankedTensorType type) const;
  /// Returns `values` times that factor.
  mlir::Value scaleUp(TileBuilder &b, mlir::Value values) const;

  explicit operator bool() const { return bool(rate); }

private:
  mlir::Value rate, state; // null in a kernel without dropout
  mlir::Value drop, factor;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_DROPOUT_H
