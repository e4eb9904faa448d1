// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace attn;
using namespace attn::run;

namespace {

Inputs inputsOf(const std::string &text) {
  Inputs inputs;
  EXPECT_TRUE(parseInputs(text, inputs)) << text;
  return inputs;
}

Problem problemWith(const std::string &inputs) {
  Problem p;
  p.batch = p.headsQ = p.headsK = 1;
  p.seqQ = 3;
  p.seqK = 300;
  p.dim = p.dimV = 64;
  p.scale = 0.125f;
  p.inputs = inputsOf(inputs);
  return p;
}

/// Q, K and V as --inputs makes them, without rounding.
ReferenceInputs makeInputs(const Problem &p) {
  ReferenceInputs in;
  in.problem = p;
  in.numerics[runtime::PlanNumerics::ORelative] =
      0x1p-7; // the roundings of P and O to bf16
  in.numerics[runtime::PlanNumerics::LseAbsolute] = 1e-5;
  auto fill = [&](std::vector<float> &out, runtime::Role role, char seed,
                  int64_t length) {
    Random random(1, uint64_t(seed));
    for (int64_t i = 0; i < length * p.dim; ++i) {
      out.push_back(patternElement(p, role, i / p.dim, i % p.dim,
                                   random.normal(uint64_t(i))));
    }
  };
  fill(in.q, runtime::Role::Query, 'q', p.seqQ);
  fill(in.k, runtime::Role::Key, 'k', p.seqK);
  fill(in.v, runtime::Role::Value, 'v', p.seqK);
  return in;
}

RowResult rowOf(const Problem &p, int64_t i) {
  ReferenceInputs in = makeInputs(p);
  RowResult result;
  computeRow(in, {0, 0, i}, result);
  return result;
}

TEST(RunInputs, spellsWhatItReads) {
  for (const char *text :
       {"normal", "spike-key:7:126.5", "spike-key:7:126.5:0.25",
        "spike-key:7:-inf", "low", "low:-250", "alternating", "infinite:3",
        "nan:0", "large-v", "large:-1e+30", "large-runs:1048576"}) {
    EXPECT_EQ(inputsOf(text).spell(), text);
  }
  EXPECT_EQ(inputsOf("spike-key:7").spell(), "spike-key:7:200");
  Inputs inputs;
  for (const char *text : {"",
                           "Low",
                           "low:",
                           "low:x",
                           "spike-key",
                           "spike-key:",
                           "spike-key:-1",
                           "spike-key:1:",
                           "spike-key:1:x",
                           "spike-key:1:inf",
                           "spike-key:1:nan",
                           "spike-key:1:2:-inf",
                           "spike-key:1:2:",
                           "spike-key:1:2:x",
                           "spike-key:1:2:3:4",
                           "nan",
                           "nan:1:2",
                           "infinite:1x",
                           "large",
                           "large:",
                           "large:x",
                           "large:inf",
                           "large-v:1"}) {
    EXPECT_FALSE(parseInputs(text, inputs)) << text;
  }
}

TEST(RunInputs, everyPatternIsChosen) {
  std::set<std::string> seen;
  for (int i = 1; i <= 60; ++i) {
    seen.insert(chooseInputs(i / 60.0, 5, 1).spell());
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_FALSE(seen.count("normal"));
}

/// In log2 units.
double lseOf(const std::string &inputs) {
  return rowOf(problemWith(inputs), 1).lse / std::log(2.0);
}

TEST(RunInputs, scalesV) {
  RowResult whole = rowOf(problemWith("spike-key:20:50"), 1);
  RowResult small = rowOf(problemWith("spike-key:20:50:0.25"), 1);
  ASSERT_FALSE(whole.exact.empty());
  EXPECT_EQ(small.lse, whole.lse);
  for (size_t c = 0; c < whole.exact.size(); ++c) {
    EXPECT_EQ(small.exact[c], whole.exact[c] / 4) << c;
  }
}

TEST(RunInputs, shiftsScores) {
  EXPECT_NEAR(lseOf("spike-key:20"), 200, 8);
  EXPECT_NEAR(lseOf("spike-key:20:50"), 50, 8);
  EXPECT_NEAR(lseOf("spike-key:20:-inf"), std::log2(299.0), 8);
  EXPECT_NEAR(lseOf("low"), -1000 + std::log2(300.0), 8);
  EXPECT_NEAR(lseOf("low:-250"), -250 + std::log2(300.0), 8);
  // 3e4, the largest product, times the scale.
  EXPECT_NEAR(lseOf("alternating"), 3e4 * 0.125 / std::log(2.0), 12);
}

TEST(RunInputs, largeScoresAreExactAndHaveTies) {
  EXPECT_NEAR(lseOf("large:1e30"), -0.99e30, 0.26e30); // of query 1
  Problem p = problemWith("large:1e30");
  std::set<float> keys;
  for (int64_t j = 0; j < p.seqK; ++j) {
    keys.insert(patternElement(p, runtime::Role::Key, j, 0, 1));
    EXPECT_EQ(patternElement(p, runtime::Role::Key, j, 1, 1), 0);
  }
  EXPECT_EQ(keys.size(), 16u);
  p.dtype = runtime::DataType::F16;
  EXPECT_LT(std::fabs(patternElement(p, runtime::Role::Key, 0, 0, 1)), 65504);
}

TEST(RunInputs, largeVFitsItsType) {
  Problem p = problemWith("large-v");
  EXPECT_GT(std::fabs(patternElement(p, runtime::Role::Value, 0, 0, 1)), 1e32f);
  p.dtype = runtime::DataType::F16;
  EXPECT_LT(std::fabs(patternElement(p, runtime::Role::Value, 0, 0, 6)), 65504);
  EXPECT_GT(std::fabs(patternElement(p, runtime::Role::Value, 0, 0, 1)), 1000);
}

TEST(RunInputs, referenceKeepsWhatIsNotFinite) {
  Problem p = problemWith("nan:100");
  EXPECT_TRUE(std::isnan(rowOf(p, 0).lse));
  EXPECT_TRUE(std::isnan(rowOf(p, 0).exact[5]));
  // The sign of an infinite score is that of the query's element.
  p = problemWith("infinite:100");
  ReferenceInputs in = makeInputs(p);
  for (int64_t i = 0; i < p.seqQ; ++i) {
    RowResult row = rowOf(p, i);
    bool takesIt = in.q[size_t(i * p.dim + 1)] > 0;
    EXPECT_EQ(std::isnan(row.lse), takesIt);
    EXPECT_EQ(std::isfinite(row.exact[5]), !takesIt);
    EXPECT_FALSE(std::isfinite(row.exact[0]));
  }
}

TEST(RunInputs, aRowOfMinusInfinityIsEmpty) {
  Problem p = problemWith("normal");
  p.seqQ = p.seqK = 1;
  ReferenceInputs in = makeInputs(p);
  in.q[0] = 1;
  in.k[0] = -INFINITY;
  RowResult row;
  computeRow(in, {0, 0, 0}, row);
  EXPECT_EQ(row.lse, -INFINITY);
  EXPECT_EQ(row.exact[3], 0);
}

/// What the check reports if one element of the reference's O and LSE is
/// changed.
std::string failureOf(const Problem &p, int64_t row, int64_t column,
                      float changed) {
  ReferenceInputs in = makeInputs(p);
  HostTensor o;
  o.shape = {1, p.seqQ, 1, p.dimV};
  o.layOut(0, -1);
  o.allocate();
  for (int64_t i = 0; i < p.seqQ; ++i) {
    RowResult want;
    computeRow(in, {0, 0, i}, want);
    for (int64_t c = 0; c < p.dimV; ++c) {
      o.set(i * p.dimV + c, want.rounded[size_t(c)]);
    }
  }
  o.set(row * p.dimV + column, changed);
  return checkOutputs(in, o, nullptr).failure;
}

TEST(RunInputs, checkWantsNonFiniteWhereTheReferenceIs) {
  Problem p = problemWith("nan:100");
  EXPECT_EQ(failureOf(p, 1, 5, INFINITY), "");
  EXPECT_NE(failureOf(p, 1, 5, 1).find("expected O to be"), std::string::npos);
}

TEST(RunInputs, checkAllowsAnythingWhereAMaskedVIsNotFinite) {
  Problem p = problemWith("nan:4");
  for (int64_t i = 0; i < p.seqQ; ++i) { // rows 0 and 1 see no key 2
    p.keys.emplace_back(0, std::min(i + 1, p.seqK));
  }
  EXPECT_EQ(failureOf(p, 1, 0, NAN), "");
  EXPECT_EQ(failureOf(p, 1, 0, 7), "");
  EXPECT_NE(failureOf(p, 1, 5, NAN), "");
  EXPECT_NE(failureOf(p, 2, 0, 7), "");
}

} // namespace
