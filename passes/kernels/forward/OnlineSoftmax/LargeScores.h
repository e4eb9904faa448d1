// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References for rows with scores so large that the rounding of m, the
// reference in log2 units, would be too inaccurate for exponentials. Such a row
// uses the score itself as its reference, scaled by a power of two to a number
// that is closer to 0 than any m. docs/adr/0024 explains why.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_LARGE_SCORES_H
#define ATTN_PASSES_ONLINE_SOFTMAX_LARGE_SCORES_H

#include "SoftmaxBuilder.h"

namespace attn {

class LargeScores {
public:
  explicit LargeScores(SoftmaxBuilder &b) : b(b), row(b.rowType) {}
  /// Computes the values that depend only on the scale, outside of the work
  /// loop.
  void writeConstants();

  /// Returns the rows whose maximum `top` is finite and large: their reference
  /// is a score.
  mlir::Value isLargeScore(mlir::Value top);
  /// Returns the rows with an m that should have been a score.
  mlir::Value isTooLarge(mlir::Value m);
  /// Returns the rows whose reference is a score.
  mlir::Value isScore(mlir::Value reference);
  /// Returns the rows without a reference yet.
  mlir::Value isNone(mlir::Value reference);

  /// Returns the reference m, given in log2 units.
  mlir::Value fromLog2(mlir::Value m);
  /// Returns the reference for the large score `top`.
  mlir::Value fromScore(mlir::Value top);
  /// Returns the score that a reference represents, or 0 for an m.
  mlir::Value scoreOf(mlir::Value reference);

  /// Returns a - b for two references in log2 units, given their scores.
  mlir::Value difference(mlir::Value a, mlir::Value scoreA, mlir::Value other,
                         mlir::Value scoreOther);
  mlir::Value difference(mlir::Value a, mlir::Value other) {
    return difference(a, scoreOf(a), other, scoreOf(other));
  }
  /// Returns the natural logarithm of a sum, given its base-2 logarithm
  /// `log2Sum` relative to `reference`.
  mlir::Value logSumExp(mlir::Value reference, mlir::Value log2Sum);

private:
  mlir::Value splat(mlir::Value bits) {
    return b.make<mlir::tensor::SplatOp>(bits, row.clone(b.getI32Type()));
  }
  mlir::Value bitcast(mlir::Value value, mlir::Type element) {
    return b.make<mlir::arith::BitcastOp>(row.clone(element), value);
  }

  SoftmaxBuilder &b;
  mlir::RankedTensorType row;
  /// The bits of the smallest large score, and the number of floats above it.
  mlir::Value least, count;
  /// The bits of a reference minus those of its score.
  mlir::Value shift;
};

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_LARGE_SCORES_H
