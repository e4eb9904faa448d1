// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RegionFacts.h"
#include "attn/dialect/LaunchChecks.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

Interval attn::limitsOf(Type type) {
  unsigned bits = type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
  return bits == 1 ? Interval{0, 1}
                   : Interval{llvm::minIntN(bits), llvm::maxIntN(bits)};
}

std::optional<Interval> attn::add(Interval a, Interval b) {
  Interval sum;
  return llvm::AddOverflow(a.low, b.low, sum.low) ||
                 llvm::AddOverflow(a.high, b.high, sum.high)
             ? std::nullopt
             : std::optional(sum);
}

std::optional<Interval> attn::multiply(Interval a, int64_t factor) {
  Interval product;
  if (llvm::MulOverflow(a.low, factor, product.low) ||
      llvm::MulOverflow(a.high, factor, product.high)) {
    return std::nullopt;
  }
  if (factor < 0) {
    std::swap(product.low, product.high);
  }
  return product;
}

Direction attn::reversed(Direction direction) {
  return direction == Direction::Up     ? Direction::Down
         : direction == Direction::Down ? Direction::Up
                                        : direction;
}

Direction attn::joined(Direction a, Direction b) {
  if (a == Direction::Unknown || b == Direction::Unknown) {
    return Direction::Unknown;
  }
  if (a == Direction::Uniform || b == Direction::Uniform) {
    return a == Direction::Uniform ? b : a;
  }
  return a == b ? a : Direction::Any;
}

std::optional<int64_t> attn::constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant))) {
    return std::nullopt;
  }
  return value.getType().isInteger(1) ? int64_t(constant.getZExtValue())
                                      : constant.getSExtValue();
}

static bool isInteger(Type type) { return type.isIntOrIndex(); }

//===----------------------------------------------------------------------===//
// Ranges.
//===----------------------------------------------------------------------===//

/// Returns the quotient by a positive constant, rounded toward zero.
static std::optional<Interval> quotient(Interval a, Value by) {
  std::optional<int64_t> divisor = constantOf(by);
  return divisor && *divisor > 0
             ? std::optional(Interval{a.low / *divisor, a.high / *divisor})
             : std::nullopt;
}

static std::optional<Interval> remainder(Interval a, Value by) {
  std::optional<int64_t> divisor = constantOf(by);
  if (!divisor || *divisor <= 0) {
    return std::nullopt;
  }
  return a.isNatural() ? Interval{0, std::min(a.high, *divisor - 1)}
                       : Interval{1 - *divisor, *divisor - 1};
}

/// Returns the count of a shift, if it is a constant below the width.
static std::optional<int64_t> countOf(Operation &op) {
  std::optional<int64_t> count = constantOf(op.getOperand(1));
  Type type = op.getResult(0).getType();
  int64_t width = type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
  return count && *count >= 0 && *count < std::min<int64_t>(width, 62)
             ? count
             : std::nullopt;
}

static Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

static std::optional<Interval> bitsOf(Operation &op, Interval a, Interval b) {
  if (isa<arith::AndIOp>(op)) {
    if (a.isNatural() && b.isNatural()) {
      return Interval{0, std::min(a.high, b.high)};
    }
    return a.isNatural()   ? std::optional(Interval{0, a.high})
           : b.isNatural() ? std::optional(Interval{0, b.high})
                           : std::nullopt;
  }
  bool isSmall = a.isNatural() && b.isNatural() &&
                 std::max(a.high, b.high) < (int64_t(1) << 62);
  return isSmall
             ? std::optional(Interval{
                   0,
                   int64_t(llvm::NextPowerOf2(std::max(a.high, b.high))) - 1})
             : std::nullopt;
}

/// Returns the range of the op's mathematical result. Returns nothing if the
/// op's result can differ from it, or if this function does not handle the op.
std::optional<Interval> RegionFacts::exactRange(Operation &op) const {
  using Result = std::optional<Interval>;
  // Signed ops read true as -1.
  bool isSignedTruth =
      isa<arith::MinSIOp, arith::MaxSIOp, arith::ExtSIOp, arith::IndexCastOp,
          arith::DivSIOp, arith::RemSIOp, arith::ShRSIOp>(op) &&
      op.getOperand(0).getType().isInteger(1);
  if (isSignedTruth) {
    return std::nullopt;
  }
  auto range = [&](unsigned n) { return rangeOf(op.getOperand(n)); };
  auto ifNatural = [&](auto compute) -> Result {
    return range(0).isNatural() && range(1).isNatural() ? Result(compute())
                                                        : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(&op)
      .Case([&](arith::ConstantOp) -> Result {
        std::optional<int64_t> value = constantOf(op.getResult(0));
        return value ? Result({*value, *value}) : std::nullopt;
      })
      .Case([&](arith::AddIOp) { return add(range(0), range(1)); })
      .Case([&](arith::SubIOp) -> Result {
        Result opposite = multiply(range(1), -1);
        return opposite ? add(range(0), *opposite) : std::nullopt;
      })
      .Case([&](arith::MulIOp) -> Result {
        Result low = multiply(range(0), range(1).low),
               high = multiply(range(0), range(1).high);
        return low && high ? Result(hull(*low, *high)) : std::nullopt;
      })
      .Case([&](arith::ShLIOp) -> Result {
        std::optional<int64_t> count = countOf(op);
        return count ? multiply(range(0), int64_t(1) << *count) : std::nullopt;
      })
      .Case([&](arith::ShRSIOp) -> Result {
        std::optional<int64_t> count = countOf(op);
        return count ? Result({range(0).low >> *count, range(0).high >> *count})
                     : std::nullopt;
      })
      .Case([&](arith::ShRUIOp) -> Result {
        std::optional<int64_t> count = countOf(op);
        return count && range(0).isNatural()
                   ? Result({range(0).low >> *count, range(0).high >> *count})
                   : std::nullopt;
      })
      .Case(
          [&](arith::DivSIOp) { return quotient(range(0), op.getOperand(1)); })
      .Case([&](arith::DivUIOp) -> Result {
        return range(0).isNatural() ? quotient(range(0), op.getOperand(1))
                                    : std::nullopt;
      })
      .Case(
          [&](arith::RemSIOp) { return remainder(range(0), op.getOperand(1)); })
      .Case([&](arith::RemUIOp) -> Result {
        return range(0).isNatural() ? remainder(range(0), op.getOperand(1))
                                    : std::nullopt;
      })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return bitsOf(op, range(0), range(1)); })
      .Case([&](arith::MinSIOp) -> Result {
        return Interval{std::min(range(0).low, range(1).low),
                        std::min(range(0).high, range(1).high)};
      })
      .Case([&](arith::MaxSIOp) -> Result {
        return Interval{std::max(range(0).low, range(1).low),
                        std::max(range(0).high, range(1).high)};
      })
      .Case([&](arith::MinUIOp) {
        return ifNatural([&] {
          return Interval{std::min(range(0).low, range(1).low),
                          std::min(range(0).high, range(1).high)};
        });
      })
      .Case([&](arith::MaxUIOp) {
        return ifNatural([&] {
          return Interval{std::max(range(0).low, range(1).low),
                          std::max(range(0).high, range(1).high)};
        });
      })
      .Case([&](arith::SelectOp) -> Result { return hull(range(1), range(2)); })
      .Case([&](arith::ExtUIOp) -> Result {
        return range(0).isNatural() ? Result(range(0)) : std::nullopt;
      })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) -> Result { return range(0); })
      .Default([](Operation *) { return Result(); });
}

Interval RegionFacts::rangeOf(Value value) const {
  auto known = ranges.find(value);
  return known == ranges.end() ? limitsOf(value.getType()) : known->second;
}

//===----------------------------------------------------------------------===//
// Directions.
//===----------------------------------------------------------------------===//

Direction RegionFacts::directionOf(Value value) const {
  auto known = directions.find(value);
  return known == directions.end() ? Direction::Uniform : known->second;
}

/// The direction of a product by a factor whose sign does not change.
static Direction scaled(Direction direction, Interval factor) {
  return factor.low >= 0    ? direction
         : factor.high <= 0 ? reversed(direction)
                            : Direction::Any;
}

/// Of a truth value: x >= y holds from some position on if x - y grows.
Direction RegionFacts::ofComparison(arith::CmpIOp compare) const {
  using P = arith::CmpIPredicate;
  Value x = compare.getLhs(), y = compare.getRhs();
  Direction difference = joined(directionOf(x), reversed(directionOf(y)));
  bool areNatural = rangeOf(x).isNatural() && rangeOf(y).isNatural();
  // Signed comparisons read true as -1.
  bool isSignless = !x.getType().isInteger(1);
  switch (compare.getPredicate()) {
  case P::sge:
  case P::sgt:
    return isSignless ? difference : Direction::Any;
  case P::sle:
  case P::slt:
    return isSignless ? reversed(difference) : Direction::Any;
  case P::uge:
  case P::ugt:
    return areNatural ? difference : Direction::Any;
  case P::ule:
  case P::ult:
    return areNatural ? reversed(difference) : Direction::Any;
  default:
    return Direction::Any;
  }
}

/// A select whose condition changes once does not fall if it changes to a value
/// that is not smaller.
Direction RegionFacts::ofChoice(arith::SelectOp select) const {
  Direction condition = directionOf(select.getCondition());
  Direction both = joined(directionOf(select.getTrueValue()),
                          directionOf(select.getFalseValue()));
  if (condition == Direction::Uniform) {
    return both;
  }
  Interval before = rangeOf(select.getFalseValue()),
           after = rangeOf(select.getTrueValue());
  if (condition == Direction::Down) {
    std::swap(before, after);
  }
  bool isOnce = condition == Direction::Up || condition == Direction::Down;
  return isOnce && isOrdered(both) && before.high <= after.low ? Direction::Up
                                                               : Direction::Any;
}

Direction RegionFacts::findDirection(Operation &op) const {
  auto of = [&](unsigned n) { return directionOf(op.getOperand(n)); };
  auto isUniform = [&](Value operand) {
    return directionOf(operand) == Direction::Uniform;
  };
  if (llvm::any_of(op.getOperands(), [&](Value operand) {
        return directionOf(operand) == Direction::Unknown;
      })) {
    return Direction::Unknown;
  }
  if (llvm::all_of(op.getOperands(), isUniform)) {
    return Direction::Uniform;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return ofComparison(compare);
  }
  if (!isExact(&op)) {
    return Direction::Any;
  }
  return llvm::TypeSwitch<Operation *, Direction>(&op)
      .Case<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
            arith::MaxUIOp>([&](auto) { return joined(of(0), of(1)); })
      .Case([&](arith::SubIOp) { return joined(of(0), reversed(of(1))); })
      .Case([&](arith::MulIOp) {
        unsigned factor = isUniform(op.getOperand(0)) ? 0 : 1;
        return isUniform(op.getOperand(factor))
                   ? scaled(of(1 - factor), rangeOf(op.getOperand(factor)))
                   : Direction::Any;
      })
      // The second operand of an exact shift or quotient is a positive
      // constant.
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::DivSIOp,
            arith::DivUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
            arith::IndexCastOp>([&](auto) { return of(0); })
      .Case([&](arith::SelectOp select) { return ofChoice(select); })
      .Default([](Operation *) { return Direction::Any; });
}

//===----------------------------------------------------------------------===//
// The region.
//===----------------------------------------------------------------------===//

void RegionFacts::visit(Operation &op) {
  Value result = op.getResult(0);
  bool isOfIntegers =
      isInteger(result.getType()) &&
      llvm::all_of(op.getOperandTypes(), [](Type t) { return isInteger(t); });
  if (llvm::any_of(op.getOperands(), [&](Value v) { return usesKey(v); })) {
    ofKey.insert(result);
  }
  if (isOfIntegers) {
    Interval limits = limitsOf(result.getType());
    std::optional<Interval> range = exactRange(op);
    if (range && limits.contains(*range)) {
      exact.insert(&op);
    }
    ranges[result] = range && limits.contains(*range) ? *range : limits;
  }
  if (!usesKey(result)) {
    bool isElement = isa<tensor::ExtractOp>(op) && isInteger(result.getType());
    directions[result] =
        isOfIntegers || isElement ? findDirection(op) : Direction::Unknown;
  }
}

RegionFacts::RegionFacts(Region &region, Of kind)
    : query(region.getArgument(2)) {
  // A tile has far fewer rows than there are numbers beyond the limit.
  constexpr int64_t beyond = 1 << 15;
  if (kind == Of::Mask) {
    key = region.getArgument(3);
    ofKey.insert(key);
  }
  directions[query] = Direction::Up;
  for (unsigned position = 0; position < (key ? 4 : 3); ++position) {
    ranges[region.getArgument(position)] = {0, kItemLimit - 1};
  }
  ranges[query].high += beyond;
  for (Operation &op : region.front().without_terminator()) {
    visit(op);
  }
}

bool attn::isKeyOrdered(Region &rowKeys, unsigned number) {
  RegionFacts facts(rowKeys, RegionFacts::Of::RowKeys);
  Operation *yield = rowKeys.front().getTerminator();
  return isOrdered(facts.directionOf(yield->getOperand(number)));
}

bool attn::areKeysOrdered(Region &rowKeys) {
  unsigned count = rowKeys.front().getTerminator()->getNumOperands();
  return llvm::all_of(llvm::seq(count), [&](unsigned number) {
    return isKeyOrdered(rowKeys, number);
  });
}
