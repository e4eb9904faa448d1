// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OverflowChecks.h"
#include "LaunchExpressions.h"
#include "LaunchItems.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

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
  OverflowChecks(ws::KernelOp kernel, json::Array &checks)
      : kernel(kernel), checks(checks) {}

  void run(const LaunchItems &items);

private:
  void learn(const json::Object &check);
  void learn(const json::Value &expr, LaunchOp shared, Interval range);
  void learnFactors(const json::Value &product, int64_t most);
  Interval rangeOf(const json::Value &expr);
  Interval resultOf(const json::Value &expr);
  Interval known(const json::Value &expr, Interval range);
  void demand(const json::Value &expr);
  void require(const json::Value &expr, LaunchOp op, int64_t bound,
               int64_t equals, const Twine &what);

  ws::KernelOp kernel;
  json::Array &checks;
  /// The known ranges of expressions, from the checks.
  std::vector<std::pair<json::Value, Interval>> facts;
};

} // namespace

static const json::Array *operandsOf(const json::Value &expr, LaunchOp op) {
  const json::Array *list = expr.getAsArray();
  return list && list->front() == stringifyLaunchOp(op) ? list : nullptr;
}

//===----------------------------------------------------------------------===//
// What checks say.
//===----------------------------------------------------------------------===//

/// A bound on the smallest or the largest operand holds for all.
void OverflowChecks::learn(const json::Value &expr, LaunchOp shared,
                           Interval range) {
  facts.push_back({expr, range});
  if (const json::Array *list = operandsOf(expr, shared)) {
    for (const json::Value &operand : llvm::drop_begin(*list)) {
      learn(operand, shared, range);
    }
  }
}

/// Learns from comparisons with numbers.
void OverflowChecks::learn(const json::Object &check) {
  const json::Value &expr = *check.get("expr");
  bool holds = *check.get("equals") == 1;
  if (!holds && *check.get("equals") != 0) {
    return;
  }
  bool isLess = operandsOf(expr, LaunchOp::Lt);
  const json::Array *list =
      isLess ? expr.getAsArray() : operandsOf(expr, LaunchOp::Ge);
  if (!list) {
    return;
  }
  auto least = [&](const json::Value &of, int64_t number) {
    learn(of, LaunchOp::Min, {number, INT64_MAX});
  };
  auto most = [&](const json::Value &of, int64_t number) {
    learn(of, LaunchOp::Max, {INT64_MIN, number});
  };
  const json::Value &a = (*list)[1], &b = (*list)[2];
  std::optional<int64_t> first = a.getAsInteger(), second = b.getAsInteger();
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
void OverflowChecks::learnFactors(const json::Value &product, int64_t most) {
  facts.push_back({product, {INT64_MIN, most}});
  const json::Array *list = operandsOf(product, LaunchOp::Mul);
  if (!list || llvm::any_of(llvm::drop_begin(*list), [&](const auto &factor) {
        return rangeOf(factor).low < 0;
      })) {
    return;
  }
  for (const json::Value &factor : llvm::drop_begin(*list)) {
    learnFactors(factor, most);
  }
}

//===----------------------------------------------------------------------===//
// Ranges.
//===----------------------------------------------------------------------===//

Interval OverflowChecks::known(const json::Value &expr, Interval range) {
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
Interval OverflowChecks::resultOf(const json::Value &expr) {
  if (std::optional<int64_t> number = expr.getAsInteger()) {
    return Interval::of(*number);
  }
  if (auto name = expr.getAsString()) {
    return known(expr, isSizeName(kernel, *name) ? Interval{0, INT32_MAX}
                                                 : Interval::i32());
  }
  const json::Array &list = *expr.getAsArray();
  LaunchOp op = *symbolizeLaunchOp(*list[0].getAsString());
  return known(expr, apply(op, rangeOf(list[1]), rangeOf(list[2])));
}

/// Returns the range of `expr` after its check.
Interval OverflowChecks::rangeOf(const json::Value &expr) {
  return resultOf(expr).within(Interval::i32());
}

//===----------------------------------------------------------------------===//
// New checks.
//===----------------------------------------------------------------------===//

/// Returns the text of `expr` as a function of its operands; collects their
/// names.
static std::string textOf(const json::Value &expr,
                          llvm::SmallSetVector<StringRef, 4> &names) {
  if (auto number = expr.getAsInteger()) {
    return std::to_string(*number);
  }
  if (auto name = expr.getAsString()) {
    names.insert(*name);
    return name->str();
  }
  const json::Array &list = *expr.getAsArray();
  return (*list[0].getAsString() + "(" + textOf(list[1], names) + ", " +
          textOf(list[2], names) + ")")
      .str();
}

void OverflowChecks::require(const json::Value &expr, LaunchOp op,
                             int64_t bound, int64_t equals, const Twine &what) {
  llvm::SmallSetVector<StringRef, 4> names;
  std::string message = "expected " + textOf(expr, names) + " to be " +
                        what.str() + " " + std::to_string(bound);
  for (auto [number, name] : llvm::enumerate(names)) {
    message += (number == 0 ? ", got " : ", ") + name.str() + " = {" +
               name.str() + "}";
  }
  json::Value check =
      json::Object{{"expr", json::Array{stringifyLaunchOp(op), expr, bound}},
                   {"equals", equals},
                   {"message", std::move(message)}};
  learn(*check.getAsObject());
  checks.push_back(std::move(check));
}

/// Requires that `expr`, and everything that it is computed from, fits 32 bits.
void OverflowChecks::demand(const json::Value &expr) {
  const json::Array *list = expr.getAsArray();
  if (!list) {
    return;
  }
  for (const json::Value &operand : llvm::drop_begin(*list)) {
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
  for (const json::Value &check : checks) {
    learn(*check.getAsObject());
  }
  auto extents = items.extents();
  for (const json::Value &extent : extents) {
    if (rangeOf(extent).low < 0) {
      require(extent, LaunchOp::Lt, 0, 0, "at least");
    }
  }
  Interval count = known(items.count(), {0, INT64_MAX});
  learnFactors(items.count(), count.high);
  for (const json::Value &extent : extents) {
    demand(extent);
  }
  if (items.areCut()) {
    demand(items.length());
  }
}

void codegen::addOverflowChecks(ws::KernelOp kernel, const LaunchItems &items,
                                json::Array &checks) {
  OverflowChecks(kernel, checks).run(items);
}
