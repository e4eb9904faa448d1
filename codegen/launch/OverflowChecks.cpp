// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OverflowChecks.h"
#include "LaunchItems.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// The numbers from `low` to `high`.
struct Interval {
  int64_t low, high;

  static Interval of(int64_t number) { return {number, number}; }
  static Interval i32() { return {INT32_MIN, INT32_MAX}; }
  Interval within(Interval other) const {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
};

class OverflowChecks {
public:
  OverflowChecks(ws::KernelOp kernel, SmallVectorImpl<LaunchCheck> &checks)
      : kernel(kernel), checks(checks), make(kernel.getContext()) {}

  void run(const LaunchItems &items);

private:
  void learn(const LaunchCheck &check);
  void learn(Attribute expr, LaunchOp shared, Interval range);
  void learnFactors(Attribute product, int64_t most);
  Interval rangeOf(Attribute expr);
  Interval resultOf(Attribute expr);
  Interval known(Attribute expr, Interval range);
  void demand(Attribute expr);
  void require(Attribute expr, LaunchOp op, int64_t bound, int64_t equals,
               const Twine &what);

  ws::KernelOp kernel;
  SmallVectorImpl<LaunchCheck> &checks;
  launch::Expressions make;
  /// The known ranges of expressions, from the checks.
  std::vector<std::pair<Attribute, Interval>> facts;
};

} // namespace

/// Returns the operands of `op`; none of another expression.
static ArrayRef<Attribute> operandsOf(Attribute expr, LaunchOp op) {
  auto apply = dyn_cast<launch::ApplyAttr>(expr);
  return apply && apply.getOp() == op ? apply.getOperands()
                                      : ArrayRef<Attribute>();
}

static std::optional<int64_t> numberOf(Attribute expr) {
  auto number = dyn_cast<IntegerAttr>(expr);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What checks say.
//===----------------------------------------------------------------------===//

/// A bound on the smallest or the largest operand holds for all.
void OverflowChecks::learn(Attribute expr, LaunchOp shared, Interval range) {
  facts.push_back({expr, range});
  for (Attribute operand : operandsOf(expr, shared)) {
    learn(operand, shared, range);
  }
}

/// Learns from comparisons with numbers.
void OverflowChecks::learn(const LaunchCheck &check) {
  bool holds = check.equals == 1;
  if (!holds && check.equals != 0) {
    return;
  }
  ArrayRef<Attribute> operands = operandsOf(check.expr, LaunchOp::Lt);
  bool isLess = !operands.empty();
  if (!isLess) {
    operands = operandsOf(check.expr, LaunchOp::Ge);
  }
  if (operands.empty()) {
    return;
  }
  auto least = [&](Attribute of, int64_t number) {
    learn(of, LaunchOp::Min, {number, INT64_MAX});
  };
  auto most = [&](Attribute of, int64_t number) {
    learn(of, LaunchOp::Max, {INT64_MIN, number});
  };
  Attribute a = operands[0], b = operands[1];
  std::optional<int64_t> first = numberOf(a), second = numberOf(b);
  bool isBelow = isLess == holds; // a < b, otherwise a >= b
  if (second && isBelow && *second > INT64_MIN) {
    most(a, *second - 1);
  } else if (second && !isBelow) {
    least(a, *second);
  } else if (first && isBelow && *first < INT64_MAX) {
    least(b, *first + 1);
  } else if (first && !isBelow) {
    most(b, *first);
  }
}

/// A factor is at most the number of items if there are any; without items
/// nothing is launched.
void OverflowChecks::learnFactors(Attribute product, int64_t most) {
  facts.push_back({product, {INT64_MIN, most}});
  ArrayRef<Attribute> factors = operandsOf(product, LaunchOp::Mul);
  if (llvm::any_of(factors,
                   [&](Attribute factor) { return rangeOf(factor).low < 0; })) {
    return;
  }
  for (Attribute factor : factors) {
    learnFactors(factor, most);
  }
}

//===----------------------------------------------------------------------===//
// Ranges.
//===----------------------------------------------------------------------===//

Interval OverflowChecks::known(Attribute expr, Interval range) {
  for (const auto &[fact, bounds] : facts) {
    if (fact == expr) {
      range = range.within(bounds);
    }
  }
  return range;
}

/// Returns the range of results from the corners of the operands' ranges: the
/// operators are monotonic in each operand, a quotient if it does not divide by
/// 0.
static Interval corners(Interval a, Interval b,
                        function_ref<int64_t(int64_t, int64_t)> compute) {
  auto [low, high] =
      std::minmax({compute(a.low, b.low), compute(a.low, b.high),
                   compute(a.high, b.low), compute(a.high, b.high)});
  return {low, high};
}

static Interval applyQuotient(bool isUp, Interval a, Interval b) {
  if (b.high >= 1 && b.low >= 0) {
    return corners(a, {std::max<int64_t>(b.low, 1), b.high},
                   [&](int64_t a, int64_t b) {
                     return isUp ? llvm::divideCeilSigned(a, b)
                                 : llvm::divideFloorSigned(a, b);
                   });
  }
  int64_t most = std::max(std::abs(a.low), std::abs(a.high));
  return {-most, most};
}

/// For operands that fit 32 bits.
static Interval apply(LaunchOp op, Interval a, Interval b) {
  switch (op) {
  case LaunchOp::Add:
    return {a.low + b.low, a.high + b.high};
  case LaunchOp::Sub:
    return {a.low - b.high, a.high - b.low};
  case LaunchOp::Mul:
    return corners(a, b, [](int64_t a, int64_t b) { return a * b; });
  case LaunchOp::Min:
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  case LaunchOp::Max:
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  case LaunchOp::Mod: // of an operand that is never negative
    return {0, std::min(a.high, std::max<int64_t>(b.high - 1, 0))};
  case LaunchOp::Div:
  case LaunchOp::CeilDiv:
    return applyQuotient(op == LaunchOp::CeilDiv, a, b);
  case LaunchOp::Eq:
  case LaunchOp::Ge:
  case LaunchOp::Lt:
  case LaunchOp::Select:
    break;
  }
  llvm_unreachable("no operator of sizes");
}

/// Returns the range of `expr` for operands that fit 32 bits.
Interval OverflowChecks::resultOf(Attribute expr) {
  if (std::optional<int64_t> number = numberOf(expr)) {
    return Interval::of(*number);
  }
  if (auto name = dyn_cast<StringAttr>(expr)) {
    return known(expr, isSizeName(kernel, name) ? Interval{0, INT32_MAX}
                                                : Interval::i32());
  }
  auto of = cast<launch::ApplyAttr>(expr);
  return known(expr, apply(of.getOp(), rangeOf(of.getOperands()[0]),
                           rangeOf(of.getOperands()[1])));
}

/// Returns the range of `expr` after its check.
Interval OverflowChecks::rangeOf(Attribute expr) {
  return resultOf(expr).within(Interval::i32());
}

//===----------------------------------------------------------------------===//
// New checks.
//===----------------------------------------------------------------------===//

/// Returns the text of `expr` as a function of its operands; collects their
/// names.
static std::string textOf(Attribute expr,
                          llvm::SmallSetVector<StringRef, 4> &names) {
  if (auto number = numberOf(expr)) {
    return std::to_string(*number);
  }
  if (auto name = dyn_cast<StringAttr>(expr)) {
    names.insert(name.getValue());
    return name.str();
  }
  auto apply = cast<launch::ApplyAttr>(expr);
  return (stringifyLaunchOp(apply.getOp()) + "(" +
          textOf(apply.getOperands()[0], names) + ", " +
          textOf(apply.getOperands()[1], names) + ")")
      .str();
}

void OverflowChecks::require(Attribute expr, LaunchOp op, int64_t bound,
                             int64_t equals, const Twine &what) {
  llvm::SmallSetVector<StringRef, 4> names;
  std::string message = "expected " + textOf(expr, names) + " to be " +
                        what.str() + " " + std::to_string(bound);
  for (auto [number, name] : llvm::enumerate(names)) {
    message += (number == 0 ? ", got " : ", ") + name.str() + " = {" +
               name.str() + "}";
  }
  checks.push_back({make.apply(op, {expr, make.number(bound)}), equals,
                    StringAttr::get(expr.getContext(), message)});
  learn(checks.back());
}

/// Requires that `expr`, and everything that it is computed from, fits 32 bits.
void OverflowChecks::demand(Attribute expr) {
  auto apply = dyn_cast<launch::ApplyAttr>(expr);
  if (!apply) {
    return;
  }
  for (Attribute operand : apply.getOperands()) {
    demand(operand);
  }
  Interval range = resultOf(expr);
  if (range.high > INT32_MAX) {
    require(expr, LaunchOp::Lt, int64_t(INT32_MAX) + 1, 1, "below");
  }
  if (range.low < INT32_MIN) {
    require(expr, LaunchOp::Lt, INT32_MIN, 0, "at least");
  }
}

void OverflowChecks::run(const LaunchItems &items) {
  for (const LaunchCheck &check : checks) {
    learn(check);
  }
  auto extents = items.extents();
  for (Attribute extent : extents) {
    if (rangeOf(extent).low < 0) {
      require(extent, LaunchOp::Lt, 0, 0, "at least");
    }
  }
  Interval count = known(items.count(), {0, INT64_MAX});
  learnFactors(items.count(), count.high);
  for (Attribute extent : extents) {
    demand(extent);
  }
  if (items.areCut()) {
    demand(items.length());
  }
}

void codegen::addOverflowChecks(ws::KernelOp kernel, const LaunchItems &items,
                                SmallVectorImpl<LaunchCheck> &checks) {
  OverflowChecks(kernel, checks).run(items);
}
