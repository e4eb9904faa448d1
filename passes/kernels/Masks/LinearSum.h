// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of a mask region as sums of values with constant factors.
#ifndef ATTN_PASSES_KERNELS_MASKS_LINEARSUM_H
#define ATTN_PASSES_KERNELS_MASKS_LINEARSUM_H

#include "../RegionFacts.h"

namespace attn {

/// factor * value + ... + constant, as exact numbers. The values are not sums
/// themselves: positions, quotients, minima, captured numbers.
struct LinearSum {
  using Term = std::pair<mlir::Value, int64_t>;

  llvm::SmallVector<Term, 2> terms; // in the order of the region's ops
  int64_t constant = 0;

  bool operator==(const LinearSum &other) const {
    return terms == other.terms && constant == other.constant;
  }
  /// Whether the sums differ only by a constant.
  bool isShifted(const LinearSum &other) const { return terms == other.terms; }
  bool isConstant() const { return terms.empty(); }
};

/// Positions and numbers of 32 bits are far below this number, and so are sums
/// of them; some 64-bit numbers are beyond it.
constexpr int64_t kFar = int64_t(1) << 55;
/// Whether numbers may be beyond kFar.
inline bool isFar(Interval range) {
  return range.low < -kFar || range.high > kFar;
}

/// Builds sums. There is no result if a factor or a constant gets too large.
class SumMaker {
public:
  explicit SumMaker(const RegionFacts &facts) : facts(facts) {}

  std::optional<LinearSum> of(mlir::Value value) const;
  /// Returns a + factor * b + constant.
  std::optional<LinearSum> combine(const LinearSum &a, int64_t factor,
                                   const LinearSum &b,
                                   int64_t constant = 0) const;
  /// Returns the range of a sum that uses no key, if 64 bits are enough to
  /// compute it term by term. One term may be far. It is replaced by the
  /// nearest number within kFar, after which the sum is on the same side of all
  /// positions.
  std::optional<Interval> rangeOf(const LinearSum &sum) const;
  Direction directionOf(const LinearSum &sum) const;
  Direction directionOf(mlir::Value value) const {
    return facts.directionOf(value);
  }

private:
  /// Uses up one of `steps` for each op that the value is computed by; fails
  /// when none is left.
  bool add(LinearSum &sum, mlir::Value value, int64_t factor,
           unsigned &steps) const;
  static bool addTerm(LinearSum &sum, mlir::Value value, int64_t factor);
  static bool addConstant(LinearSum &sum, int64_t number, int64_t factor);

  const RegionFacts &facts;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_LINEARSUM_H
