// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Truth values of a mask region as formulas over bounds on the key.
#ifndef ATTN_PASSES_KERNELS_MASKS_MASKFORMULA_H
#define ATTN_PASSES_KERNELS_MASKS_MASKFORMULA_H

#include "LinearSum.h"

namespace attn {

/// A formula without negations. Bounds and guards may increase and decrease as
/// the query's position grows: isOrdered() of their intervals says more.
struct MaskFormula {
  enum Kind {
    True,
    False,
    And,
    Or,
    First,  // key >= sum
    End,    // key < sum
    Guard,  // sum >= 0, of a query
    Choice, // a truth value of a query, as it is
    Opaque, // anything else
  };
  Kind kind;
  std::vector<MaskFormula> parts = {}; // of And and Or
  LinearSum sum = {};
  mlir::Value choice = {};
  bool isNegated = false; // of a choice

  bool operator==(const MaskFormula &other) const {
    return kind == other.kind && parts == other.parts && sum == other.sum &&
           choice == other.choice && isNegated == other.isNegated;
  }
};

/// Reads the formulas of one region.
class FormulaReader {
public:
  FormulaReader(const RegionFacts &facts, const SumMaker &sums)
      : facts(facts), sums(sums) {}

  /// Returns the formula of a truth value, or of its negation.
  MaskFormula read(mlir::Value truth, bool isNegated = false);
  /// Returns the op that made the last opaque part opaque, or null.
  mlir::Operation *getObstacle() const { return obstacle; }

private:
  MaskFormula readComparison(mlir::arith::CmpIOp compare, bool isNegated);
  MaskFormula readSelect(mlir::arith::SelectOp select, bool isNegated);
  /// Returns the formula of sum >= 0. The functions below do this for one form
  /// of sum each: with the key itself, without the key, and with an op on the
  /// key.
  MaskFormula solve(const LinearSum &sum);
  MaskFormula solveKey(const LinearSum &rest, bool isFirst);
  MaskFormula solveGuard(const LinearSum &sum);
  MaskFormula solveQuotient(mlir::Operation *op, const LinearSum &rest,
                            bool isFirst);
  MaskFormula solveExtremum(mlir::Operation *op, const LinearSum &rest,
                            bool isFirst);
  MaskFormula solveTerm(mlir::Value term, const LinearSum &rest, bool isFirst);
  MaskFormula solveOptional(const std::optional<LinearSum> &sum);
  MaskFormula opaque() const { return {MaskFormula::Opaque}; }

  const RegionFacts &facts;
  const SumMaker &sums;
  mlir::Operation *obstacle = nullptr;
  unsigned budget = 1000; // truth values and sums that are still read
};

/// Joins formulas; True and False are dropped.
MaskFormula allOf(std::vector<MaskFormula> parts);
MaskFormula anyOf(std::vector<MaskFormula> parts);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_MASKFORMULA_H
