// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of a query as one interval, from formulas.
#ifndef ATTN_PASSES_KERNELS_MASKS_KEYINTERVAL_H
#define ATTN_PASSES_KERNELS_MASKS_KEYINTERVAL_H

#include "MaskFormula.h"

namespace attn {

/// A key position that is computed for each query.
struct KeyExpression {
  enum Kind {
    Number, // sum.constant: 0, or kItemLimit for no end
    Bound,  // sum
    Least,  // of parts
    Most,   // of parts
    Where,  // the one part where `guard` holds, otherwise sum.constant
  };
  Kind kind = Number;
  LinearSum sum = {};
  std::vector<KeyExpression> parts = {};
  std::vector<MaskFormula> guard = {}; // one Guard or Choice, of Where

  static KeyExpression number(int64_t value) { return {Number, {{}, value}}; }
  bool is(int64_t value) const {
    return kind == Number && sum.constant == value;
  }
  /// Whether it is proven not to decrease when the query's position grows.
  bool isOrdered(const SumMaker &sums) const;
  bool operator==(const KeyExpression &other) const {
    return kind == other.kind && sum == other.sum && parts == other.parts &&
           guard == other.guard;
  }
};

/// Return the smallest and the largest of expressions; bounds that differ only
/// by a constant become one.
KeyExpression leastOf(const std::vector<KeyExpression> &parts);
KeyExpression mostOf(const std::vector<KeyExpression> &parts);

/// A query sees only keys from `first` to before `end`, and keys before
/// `prefix`. If the interval is exact, the query sees all of them.
struct KeyInterval {
  KeyExpression first, end, prefix;
  bool isExact = true;

  static KeyInterval all();
  bool isAll() const;
  bool hasPrefix() const { return !prefix.is(0); }
  bool isOrdered(const SumMaker &sums) const {
    return first.isOrdered(sums) && end.isOrdered(sums) &&
           prefix.isOrdered(sums);
  }
};

/// Returns an interval that contains all keys that the formula admits: the
/// smallest that its form shows.
KeyInterval intervalOf(const MaskFormula &formula, const SumMaker &sums);
KeyInterval intersect(const KeyInterval &a, const KeyInterval &b);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_KEYINTERVAL_H
