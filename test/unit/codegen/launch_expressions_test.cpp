// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler accepts exactly those expressions of a kernel's checks that the
// runtime reads, and both compute the same. They share no sources, so each has
// its own table of operators.
#include "launch/LaunchExpressions.h"

#include "attn/dialect/Launch.h"

#include "expr.h"
#include "launch_plan.h"

#include <gtest/gtest.h>

namespace {

using attn::launchOperators;
using attn::runtime::ExprOp;

std::string nameOf(const attn::LaunchOperator &known) {
  return stringifyLaunchOp(known.op).str();
}

TEST(LaunchExpressions, operatorsAreInTheOrderOfTheEnum) {
  size_t place = 0;
  for (const auto &known : launchOperators()) {
    EXPECT_EQ(size_t(known.op), place++) << nameOf(known);
  }
}

TEST(LaunchPlans, rolesAreThoseOfTheRuntime) {
  using attn::runtime::Role;
  uint32_t last = attn::getMaxEnumValForArgumentRole();
  EXPECT_EQ(last, uint32_t(Role::SeeingQueries));
  for (uint32_t role = 0; role <= last; ++role) {
    EXPECT_EQ(stringifyArgumentRole(attn::ArgumentRole(role)),
              attn::runtime::nameOf(Role(role)));
  }
}

TEST(LaunchExpressions, operatorsAreThoseOfTheRuntime) {
  for (const auto &known : launchOperators()) {
    ExprOp op;
    int arity = 0;
    ASSERT_TRUE(attn::runtime::lookupExprOp(nameOf(known), op, arity))
        << nameOf(known);
    EXPECT_EQ(known.operands, size_t(arity)) << nameOf(known);
    EXPECT_EQ(known.isVariadic, attn::runtime::isVariadic(op)) << nameOf(known);
  }
}

TEST(LaunchExpressions, noOperatorOfTheRuntimeIsMissing) {
  // Literals and symbols are no operators.
  size_t operators = size_t(ExprOp::Select) - size_t(ExprOp::Symbol);
  EXPECT_EQ(launchOperators().size(), operators);
}

/// None where the runtime refuses the launch.
std::optional<int64_t> evaluate(ExprOp op, int64_t a, int64_t b) {
  attn::runtime::Expr expr(
      {{ExprOp::Literal, a}, {ExprOp::Literal, b}, {op, 0}}, "");
  int64_t result = 0;
  bool failed = bool(expr.evaluate({}, attn::runtime::SymbolValues(0), result));
  return failed ? std::nullopt : std::optional(result);
}

TEST(LaunchExpressions, operatorsComputeWhatTheRuntimeDoes) {
  for (const auto &known : launchOperators()) {
    if (!known.compute) {
      EXPECT_EQ(nameOf(known), "select");
      continue;
    }
    ExprOp op;
    int arity = 0;
    ASSERT_TRUE(attn::runtime::lookupExprOp(nameOf(known), op, arity));
    constexpr int64_t numbers[] = {
        INT64_MIN, INT64_MIN + 1, -8,       -7, -3, -2, -1, 0, 1, 2, 3, 7,
        8,         INT64_MAX - 1, INT64_MAX};
    for (int64_t a : numbers) {
      for (int64_t b : numbers) {
        EXPECT_EQ(known.compute(a, b), evaluate(op, a, b))
            << nameOf(known) << " of " << a << " and " << b;
      }
    }
  }
}

TEST(LaunchExpressions, limitsAreThoseOfTheRuntime) {
  EXPECT_EQ(attn::launch::mostDepth, attn::runtime::kMaxExprDepth);
  EXPECT_EQ(attn::launch::mostList, attn::runtime::kMaxList);
}

} // namespace
