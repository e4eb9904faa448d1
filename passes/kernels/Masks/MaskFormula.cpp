// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskFormula.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

/// Joins the parts of an And or an Or; `neutral` is the formula that changes
/// nothing, `deciding` the formula that fixes the result.
static MaskFormula join(MaskFormula::Kind kind, MaskFormula::Kind neutral,
                        MaskFormula::Kind deciding,
                        std::vector<MaskFormula> parts) {
  MaskFormula joined{kind};
  for (MaskFormula &part : parts) {
    if (part.kind == deciding) {
      return part;
    }
    if (part.kind == kind) {
      joined.parts.insert(joined.parts.end(), part.parts.begin(),
                          part.parts.end());
    } else if (part.kind != neutral) {
      joined.parts.push_back(std::move(part));
    }
  }
  if (joined.parts.empty()) {
    return {neutral};
  }
  return joined.parts.size() == 1 ? MaskFormula(joined.parts.front()) : joined;
}

MaskFormula attn::allOf(std::vector<MaskFormula> parts) {
  return join(MaskFormula::And, MaskFormula::True, MaskFormula::False,
              std::move(parts));
}

MaskFormula attn::anyOf(std::vector<MaskFormula> parts) {
  return join(MaskFormula::Or, MaskFormula::False, MaskFormula::True,
              std::move(parts));
}

//===----------------------------------------------------------------------===//
// Truth values.
//===----------------------------------------------------------------------===//

/// The other operand of an `xor` with true; null for other ops.
static Value negatedBy(Operation *op) {
  if (isa_and_nonnull<arith::XOrIOp>(op)) {
    for (unsigned n : {0, 1}) {
      if (constantOf(op->getOperand(n)) == 1) {
        return op->getOperand(1 - n);
      }
    }
  }
  return {};
}

static bool hasOpaque(const MaskFormula &formula) {
  return formula.kind == MaskFormula::Opaque ||
         llvm::any_of(formula.parts, hasOpaque);
}

MaskFormula FormulaReader::read(Value truth, bool isNegated) {
  if (budget == 0) {
    return opaque();
  }
  --budget;
  if (std::optional<int64_t> constant = constantOf(truth)) {
    return {(*constant != 0) != isNegated ? MaskFormula::True
                                          : MaskFormula::False};
  }
  MaskFormula choice{MaskFormula::Choice, {}, {}, truth, isNegated};
  Direction direction =
      facts.usesKey(truth) ? Direction::Unknown : facts.directionOf(truth);
  if (direction == Direction::Uniform) {
    return choice;
  }
  Operation *op = truth.getDefiningOp();
  if (Value other = negatedBy(op)) {
    return read(other, !isNegated);
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    std::vector<MaskFormula> parts{read(op->getOperand(0), isNegated),
                                   read(op->getOperand(1), isNegated)};
    return isa<arith::AndIOp>(op) != isNegated ? allOf(std::move(parts))
                                               : anyOf(std::move(parts));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    return readSelect(select, isNegated);
  }
  MaskFormula formula = opaque();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    formula = readComparison(compare, isNegated);
  }
  if (hasOpaque(formula) && direction != Direction::Unknown) {
    return choice;
  }
  if (hasOpaque(formula)) {
    obstacle = op;
  }
  return formula;
}

MaskFormula FormulaReader::readSelect(arith::SelectOp select, bool isNegated) {
  Value condition = select.getCondition();
  return anyOf(
      {allOf({read(condition), read(select.getTrueValue(), isNegated)}),
       allOf(
           {read(condition, true), read(select.getFalseValue(), isNegated)})});
}

/// Returns a signed predicate that compares the operands like `predicate`, if
/// there is one.
static std::optional<arith::CmpIPredicate>
asSigned(arith::CmpIPredicate predicate, bool areNatural) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::ult:
    return areNatural ? std::optional(P::slt) : std::nullopt;
  case P::ule:
    return areNatural ? std::optional(P::sle) : std::nullopt;
  case P::ugt:
    return areNatural ? std::optional(P::sgt) : std::nullopt;
  case P::uge:
    return areNatural ? std::optional(P::sge) : std::nullopt;
  default:
    return predicate;
  }
}

MaskFormula FormulaReader::readComparison(arith::CmpIOp compare,
                                          bool isNegated) {
  using P = arith::CmpIPredicate;
  Value x = compare.getLhs(), y = compare.getRhs();
  bool areNatural =
      facts.rangeOf(x).isNatural() && facts.rangeOf(y).isNatural();
  P predicate = isNegated ? arith::invertPredicate(compare.getPredicate())
                          : compare.getPredicate();
  auto wanted = asSigned(predicate, areNatural);
  auto left = sums.of(x), right = sums.of(y);
  if (!wanted || !left || !right || x.getType().isInteger(1)) {
    return opaque();
  }
  // x - y >= more, or y - x >= more.
  auto above = [&](int64_t more) {
    return solveOptional(sums.combine(*left, -1, *right, -more));
  };
  auto below = [&](int64_t more) {
    return solveOptional(sums.combine(*right, -1, *left, -more));
  };
  switch (*wanted) {
  case P::sge:
    return above(0);
  case P::sgt:
    return above(1);
  case P::sle:
    return below(0);
  case P::slt:
    return below(1);
  case P::eq:
    return allOf({above(0), below(0)});
  default:
    return anyOf({above(1), below(1)});
  }
}

//===----------------------------------------------------------------------===//
// Sums.
//===----------------------------------------------------------------------===//

MaskFormula FormulaReader::solveOptional(const std::optional<LinearSum> &sum) {
  return sum ? solve(*sum) : opaque();
}

MaskFormula FormulaReader::solve(const LinearSum &sum) {
  if (budget == 0) {
    return opaque();
  }
  --budget;
  LinearSum rest = sum;
  llvm::erase_if(rest.terms, [&](const LinearSum::Term &term) {
    return facts.usesKey(term.first);
  });
  if (rest.terms.size() == sum.terms.size()) {
    return solveGuard(sum);
  }
  if (rest.terms.size() + 1 != sum.terms.size()) {
    return opaque();
  }
  auto [term, factor] =
      *llvm::find_if(sum.terms, [&](const LinearSum::Term &term) {
        return facts.usesKey(term.first);
      });
  return factor == 1 || factor == -1 ? solveTerm(term, rest, factor == 1)
                                     : opaque();
}

/// term + rest >= 0, or -term + rest >= 0.
MaskFormula FormulaReader::solveTerm(Value term, const LinearSum &rest,
                                     bool isFirst) {
  if (term == facts.getKey()) {
    return solveKey(rest, isFirst);
  }
  Operation *op = term.getDefiningOp();
  if (!facts.isExact(op)) {
    return opaque();
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) {
    return solveQuotient(op, rest, isFirst);
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    return solveExtremum(op, rest, isFirst);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto either = [&](Value value) {
      auto sum = sums.of(value);
      return sum ? solveOptional(isFirst ? sums.combine(*sum, 1, rest)
                                         : sums.combine(rest, -1, *sum))
                 : opaque();
    };
    Value condition = select.getCondition();
    return anyOf(
        {allOf({read(condition), either(select.getTrueValue())}),
         allOf({read(condition, true), either(select.getFalseValue())})});
  }
  return opaque();
}

/// For a numerator n and a divisor c, floor(n / c) >= -rest if and only if n +
/// c * rest >= 0, and floor(n / c) <= rest if and only if c * rest + c - 1 - n
/// >= 0. Divisions round down if n is not negative, shifts always do.
MaskFormula FormulaReader::solveQuotient(Operation *op, const LinearSum &rest,
                                         bool isFirst) {
  Value numerator = op->getOperand(0);
  bool isShift = isa<arith::ShRSIOp, arith::ShRUIOp>(op);
  if (!isShift && !facts.rangeOf(numerator).isNatural()) {
    return opaque();
  }
  int64_t number = *constantOf(op->getOperand(1));
  int64_t divisor = isShift ? int64_t(1) << number : number;
  auto sum = sums.of(numerator);
  if (!sum) {
    return opaque();
  }
  if (isFirst) {
    return solveOptional(sums.combine(*sum, divisor, rest));
  }
  auto scaled = sums.combine({}, divisor, rest, divisor - 1);
  return scaled ? solveOptional(sums.combine(*scaled, -1, *sum)) : opaque();
}

/// max(a, b) is at least n if a or b is, and at most n if both are. For a
/// minimum it is the other way round.
MaskFormula FormulaReader::solveExtremum(Operation *op, const LinearSum &rest,
                                         bool isFirst) {
  std::vector<MaskFormula> parts;
  for (Value operand : op->getOperands()) {
    auto sum = sums.of(operand);
    parts.push_back(sum ? solveOptional(isFirst ? sums.combine(*sum, 1, rest)
                                                : sums.combine(rest, -1, *sum))
                        : opaque());
  }
  return isa<arith::MaxSIOp>(op) == isFirst ? anyOf(std::move(parts))
                                            : allOf(std::move(parts));
}

/// key + rest >= 0, or -key + rest >= 0.
MaskFormula FormulaReader::solveKey(const LinearSum &rest, bool isFirst) {
  auto bound =
      isFirst ? sums.combine({}, -1, rest) : sums.combine(rest, 0, {}, 1);
  std::optional<Interval> range = bound ? sums.rangeOf(*bound) : std::nullopt;
  Direction direction = bound ? sums.directionOf(*bound) : Direction::Unknown;
  if (!range || direction == Direction::Unknown) {
    return opaque();
  }
  if (isFirst ? range->high <= 0 : range->low >= kItemLimit) {
    return {MaskFormula::True};
  }
  if (isFirst ? range->low >= kItemLimit : range->high <= 0) {
    return {MaskFormula::False};
  }
  return {isFirst ? MaskFormula::First : MaskFormula::End, {}, *bound};
}

MaskFormula FormulaReader::solveGuard(const LinearSum &sum) {
  std::optional<Interval> range = sums.rangeOf(sum);
  if (!range || sums.directionOf(sum) == Direction::Unknown) {
    return opaque();
  }
  if (range->low >= 0) {
    return {MaskFormula::True};
  }
  return range->high < 0 ? MaskFormula{MaskFormula::False}
                         : MaskFormula{MaskFormula::Guard, {}, sum};
}
