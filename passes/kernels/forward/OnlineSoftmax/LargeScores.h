// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References of rows whose scores are so large that m, the reference in log2
// units, would be rounded by more than exponentials can bear. Such a row keeps
// the score itself as its reference, scaled by a power of two to a number that
// is closer to 0 than any m. docs/adr/0024 has the argument.

#ifndef ATTN_PASSES_ONLINE_SOFTMAX_LARGE_SCORES_H
#define ATTN_PASSES_ONLINE_SOFTMAX_LARGE_SCORES_H

#include "SoftmaxBuilder.h"

namespace attn {

class LargeScores {
public:
  explicit LargeScores(SoftmaxBuilder &b) : b(b), row(b.rowType) {}
  /// Computes what depends on the scale alone, outside of the work loop.
  void writeConstants();

  /// Rows whose maximum `top` is finite and large: its reference is a score.
  mlir::Value isLargeScore(mlir::Value top);
  /// Rows whose m should have been a score.
  mlir::Value isTooLarge(mlir::Value m);
  /// Rows whose reference is a score.
  mlir::Value isScore(mlir::Value reference);
  /// Rows without a reference yet.
  mlir::Value isNone(mlir::Value reference);

  /// The reference m, in log2 units.
  mlir::Value fromLog2(mlir::Value m);
  /// The reference that is the large score `top`.
  mlir::Value fromScore(mlir::Value top);
  /// The score that a reference is; 0 where it is an m.
  mlir::Value scoreOf(mlir::Value reference);

  /// a - b of two references in log2 units, given the scores that they are.
  mlir::Value difference(mlir::Value a, mlir::Value scoreA, mlir::Value other,
                         mlir::Value scoreOther);
  mlir::Value difference(mlir::Value a, mlir::Value other) {
    return difference(a, scoreOf(a), other, scoreOf(other));
  }
  /// The natural logarithm of a sum, whose logarithm to the base 2, relative to
  /// `reference`, is `log2Sum`.
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
  /// The bits of the smallest large score, and how many floats are above it.
  mlir::Value least, count;
  /// What the bits of a reference have more than those of its score.
  mlir::Value shift;
};

} // namespace attn

#endif // ATTN_PASSES_ONLINE_SOFTMAX_LARGE_SCORES_H
