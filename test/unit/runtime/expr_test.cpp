// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sample_plan.h"

using namespace attn::runtime;

namespace {

/// Evaluates `json` as the sample's `when` with sq = 7 and sk = -7 (which no
/// tensor can have, but expressions can).
std::string evaluate(const std::string &json) {
  LaunchPlan plan;
  if (Status status = parseLaunchPlan(
          samplePlanWith("[\"lt\",\"sq\",1000000]", json), plan)) {
    return status.getMessage();
  }
  SymbolValues values(plan.symbols.size());
  values.bind(plan.symbols.lookup("sq"), 7);
  values.bind(plan.symbols.lookup("sk"), -7);
  int64_t result = 0;
  Status status = plan.variants[0].when.evaluate(plan.symbols, values, result);
  return status ? status.getMessage() : std::to_string(result);
}

TEST(Expr, evaluatesOperators) {
  EXPECT_EQ(evaluate("42"), "42");
  EXPECT_EQ(evaluate("\"sq\""), "7");
  EXPECT_EQ(evaluate(R"(["add",1,2,3])"), "6");
  EXPECT_EQ(evaluate(R"(["sub",1,2])"), "-1");
  EXPECT_EQ(evaluate(R"(["mul","sq",2,3])"), "42");
  EXPECT_EQ(evaluate(R"(["min",3,"sq",5])"), "3");
  EXPECT_EQ(evaluate(R"(["max",3,"sq",5])"), "7");
  EXPECT_EQ(evaluate(R"(["eq","sq",7])"), "1");
  EXPECT_EQ(evaluate(R"(["ge",7,"sq"])"), "1");
  EXPECT_EQ(evaluate(R"(["lt",7,"sq"])"), "0");
  EXPECT_EQ(evaluate(R"(["select",0,1,2])"), "2");
  EXPECT_EQ(evaluate(R"(["select",-5,1,2])"), "1");
  EXPECT_EQ(evaluate(R"(["sub",["mul",["add",1,2],4],["div",9,2]])"), "8");
}

TEST(Expr, roundsDivisionDown) {
  EXPECT_EQ(evaluate(R"(["div","sq",2])"), "3");
  EXPECT_EQ(evaluate(R"(["div","sk",2])"), "-4");
  EXPECT_EQ(evaluate(R"(["div","sk",-2])"), "3");
  EXPECT_EQ(evaluate(R"(["ceildiv","sq",2])"), "4");
  EXPECT_EQ(evaluate(R"(["ceildiv","sk",2])"), "-3");
  EXPECT_EQ(evaluate(R"(["ceildiv",8,2])"), "4");
  EXPECT_EQ(evaluate(R"(["ceildiv",0,2])"), "0");
  EXPECT_EQ(evaluate(R"(["mod","sq",4])"), "3");
  EXPECT_EQ(evaluate(R"(["mod","sk",4])"), "1");
  EXPECT_EQ(evaluate(R"(["mod","sq",-4])"), "-1");
}

TEST(Expr, reportsOverflow) {
  const std::string error = "plan: variants[0].when: overflow of 64 bits";
  EXPECT_EQ(evaluate(R"(["add",9223372036854775807,1])"), error);
  EXPECT_EQ(evaluate(R"(["sub",-9223372036854775808,1])"), error);
  EXPECT_EQ(evaluate(R"(["mul",4294967296,4294967296])"), error);
  EXPECT_EQ(evaluate(R"(["div",-9223372036854775808,-1])"), error);
  EXPECT_EQ(evaluate(R"(["ceildiv",-9223372036854775808,-1])"), error);
  EXPECT_EQ(evaluate(R"(["mod",-9223372036854775808,-1])"), "0");
}

TEST(Expr, reportsDivisionByZero) {
  const std::string error = "plan: variants[0].when: division by zero";
  EXPECT_EQ(evaluate(R"(["div",1,0])"), error);
  EXPECT_EQ(evaluate(R"(["ceildiv",1,0])"), error);
  EXPECT_EQ(evaluate(R"(["mod",1,0])"), error);
}

TEST(Expr, reportsUnboundSymbols) {
  EXPECT_EQ(evaluate("\"hq\""),
            "plan: variants[0].when: symbol 'hq' has no value");
}

TEST(Expr, refusesBadForms) {
  const std::string at = "plan: variants[0].when";
  EXPECT_EQ(evaluate("\"nope\""), at + ": unknown symbol 'nope'");
  EXPECT_EQ(evaluate("1.5"), at + ": expected an integer, a symbol or "
                                  "[operator, operands...], got 1.5");
  EXPECT_EQ(evaluate("[]"), at + ": expected an integer, a symbol or "
                                 "[operator, operands...], got []");
  EXPECT_EQ(evaluate(R"(["pow",1,2])"), at + "[0]: unknown operator 'pow'");
  EXPECT_EQ(evaluate(R"(["sub",1])"),
            at + ": expected an array of 3 values, got [\"sub\",1]");
  EXPECT_EQ(evaluate(R"(["add",1])"),
            at + ": expected an array of 3 to 256 values, got [\"add\",1]");
  EXPECT_EQ(evaluate(R"(["add",1,["mul","x",1]])"),
            at + "[2][1]: unknown symbol 'x'");
  EXPECT_NE(evaluate("9223372036854775808").find("expected an integer from"),
            std::string::npos);
}

TEST(Expr, evaluatesTheDeepestAndRefusesDeeper) {
  auto nest = [](int depth) {
    std::string text = "1";
    for (int i = 1; i < depth; ++i) {
      text = "[\"select\",1,2," + text + "]";
    }
    return text;
  };
  EXPECT_EQ(evaluate(nest(kMaxExprDepth)), "2");
  EXPECT_NE(evaluate(nest(kMaxExprDepth + 1)).find("at most 32 deep"),
            std::string::npos);
  EXPECT_NE(evaluate(nest(5000)).find("at most 32 deep"), std::string::npos);
}

} // namespace
