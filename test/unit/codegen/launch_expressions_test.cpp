// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler accepts those expressions of a kernel's checks that the runtime
// reads. Neither sees the other's sources, so each has its table of operators.
#include "launch/LaunchExpressions.h"

#include "expr.h"
#include "launch_plan.h"

#include <gtest/gtest.h>

namespace {

using attn::codegen::launchOperators;
using attn::runtime::ExprOp;

TEST(LaunchExpressions, operatorsAreThoseOfTheRuntime) {
  for (const auto &known : launchOperators()) {
    ExprOp op;
    int arity = 0;
    ASSERT_TRUE(attn::runtime::lookupExprOp(known.name.str(), op, arity))
        << known.name.str();
    EXPECT_EQ(known.operands, size_t(arity)) << known.name.str();
    EXPECT_EQ(known.isVariadic, attn::runtime::isVariadic(op))
        << known.name.str();
  }
}

TEST(LaunchExpressions, noOperatorOfTheRuntimeIsMissing) {
  // Literals and symbols are no operators.
  size_t operators = size_t(ExprOp::Select) - size_t(ExprOp::Symbol);
  EXPECT_EQ(launchOperators().size(), operators);
}

TEST(LaunchExpressions, limitsAreThoseOfTheRuntime) {
  EXPECT_EQ(attn::codegen::mostLaunchDepth, attn::runtime::kMaxExprDepth);
  EXPECT_EQ(attn::codegen::mostLaunchList, attn::runtime::kMaxList);
}

} // namespace
