// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of a mask region as sums of values with constant factors.
#ifndef ATTN_PASSES_KERNELS_MASKS_LINEARSUM_H
#define ATTN_PASSES_KERNELS_MASKS_LINEARSUM_H

#include "../RegionFacts.h"

namespace attn {

/// factor * value + ... + constant, as exact numbers. The values are those that
/// are no sums themselves: positions, quotients, minima, captured numbers.
struct LinearSum {
  using Term = std::pair<mlir::Value, int64_t>;

  llvm::SmallVector<Term, 2> terms; // in the order of the region's ops
  int64_t constant = 0;

  bool operator==(const LinearSum &other) const {
    return terms == other.terms && constant == other.constant;
  }
  /// Whether the sums differ by a constant alone.
  bool isShifted(const LinearSum &other) const { return terms == other.terms; }
  bool isConstant() const { return terms.empty(); }
};

/// A number that no sum of terms reaches that are not far.
constexpr int64_t kFar = int64_t(1) << 55;
/// Whether numbers may be beyond kFar.
inline bool isFar(Interval range) {
  return range.low < -kFar || range.high > kFar;
}

/// Makes sums. A result is missing if a factor or a constant gets too large.
class SumMaker {
public:
  explicit SumMaker(const RegionFacts &facts) : facts(facts) {}

  std::optional<LinearSum> of(mlir::Value value) const;
  /// a + factor * b + constant.
  std::optional<LinearSum> combine(const LinearSum &a, int64_t factor,
                                   const LinearSum &b,
                                   int64_t constant = 0) const;
  /// The range of a sum that uses no key, if 64 bits are enough to compute it
  /// term by term: one term may be far, and counts as its nearest number within
  /// kFar, which leaves the sum on the same side of all positions.
  std::optional<Interval> rangeOf(const LinearSum &sum) const;
  Direction directionOf(const LinearSum &sum) const;
  Direction directionOf(mlir::Value value) const {
    return facts.directionOf(value);
  }

private:
  /// Takes one of `steps`, for each op that makes the value; fails without any.
  bool add(LinearSum &sum, mlir::Value value, int64_t factor,
           unsigned &steps) const;
  static bool addTerm(LinearSum &sum, mlir::Value value, int64_t factor);
  static bool addConstant(LinearSum &sum, int64_t number, int64_t factor);

  const RegionFacts &facts;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_LINEARSUM_H
