// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference against hand-made cases, and the check against outputs that
// are wrong in one way each.

#include "check.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::run;
using Bound = runtime::PlanNumerics;

namespace {

enum class Mask { None, CausalTopLeft, CausalBottomRight };

/// Query i of `p` sees the keys from d - left to d + right, where d is i plus
/// `offset`.
void seeRound(Problem &p, int64_t offset, int64_t left, int64_t right) {
  p.keys.clear();
  for (int64_t i = 0; i < p.seqQ; ++i) {
    int64_t first = std::max<int64_t>(i + offset - left, 0);
    p.keys.emplace_back(first,
                        std::clamp<int64_t>(i + offset + right + 1, 0, p.seqK));
  }
}

Problem makeSmall(Mask mask = Mask::None) {
  Problem p;
  p.batch = 2;
  p.seqQ = 9;
  p.seqK = 7;
  p.headsQ = 4;
  p.headsK = 2;
  p.dim = p.dimV = 16;
  p.scale = 0.25f;
  p.seed = 3;
  if (mask != Mask::None) {
    seeRound(p, mask == Mask::CausalTopLeft ? 0 : p.seqK - p.seqQ, p.seqK, 0);
  }
  return p;
}

std::vector<float> randomFloats(uint64_t stream, int64_t count) {
  Random random(5, stream);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(
        roundTo(runtime::DataType::BF16, random.normal(uint64_t(i))));
  }
  return values;
}

ReferenceInputs makeInputs(const Problem &p) {
  ReferenceInputs in;
  in.problem = p;
  in.q = randomFloats(0, p.batch * p.seqQ * p.headsQ * p.dim);
  in.k = randomFloats(1, p.batch * p.seqK * p.headsK * p.dim);
  in.v = randomFloats(2, p.batch * p.seqK * p.headsK * p.dimV);
  // Of a bf16 kernel with negligible approximations.
  in.numerics[Bound::ScoreRelative] = 1e-6;
  in.numerics[Bound::ORelative] = 0x1p-7;
  in.numerics[Bound::LseAbsolute] = 1e-5;
  in.numerics[Bound::LseRelative] = 0x1p-22;
  return in;
}

/// O and LSE as a correct kernel would write them: the rounded reference.
struct Outputs {
  HostTensor o;
  HostTensor lse;

  explicit Outputs(const ReferenceInputs &in) {
    const Problem &p = in.problem;
    o.name = "o";
    o.dtype = runtime::DataType::BF16;
    o.shape = {p.batch, p.seqQ, p.headsQ, p.dimV};
    lse.name = "lse";
    lse.shape = {p.batch, p.headsQ, p.seqQ};
    for (HostTensor *tensor : {&o, &lse}) {
      tensor->isOutput = true;
      tensor->layOut(8, -1);
      tensor->allocate();
    }
    RowResult row;
    for (int64_t b = 0; b < p.batch; ++b) {
      for (int64_t h = 0; h < p.headsQ; ++h) {
        for (int64_t i = 0; i < p.seqQ; ++i) {
          computeRow(in, {b, h, i}, row);
          lse.set((b * p.headsQ + h) * p.seqQ + i, row.lse);
          for (int64_t c = 0; c < p.dimV; ++c) {
            o.set(((b * p.seqQ + i) * p.headsQ + h) * p.dimV + c,
                  row.rounded[size_t(c)]);
          }
        }
      }
    }
  }
};

TEST(Reference, oneKeyGivesItsValue) {
  Problem p = makeSmall();
  p.seqK = 1;
  ReferenceInputs in = makeInputs(p);
  RowResult row;
  computeRow(in, {1, 3, 2}, row);
  double s = 0;
  for (int64_t c = 0; c < p.dim; ++c) {
    s += double(in.q[size_t(((1 * 9 + 2) * 4 + 3) * 16 + c)]) *
         double(in.k[size_t((1 * 2 + 1) * 16 + c)]);
    EXPECT_EQ(row.exact[size_t(c)], in.v[size_t((1 * 2 + 1) * 16 + c)]);
    EXPECT_EQ(row.rounded[size_t(c)], row.exact[size_t(c)]);
  }
  EXPECT_NEAR(row.lse, s * 0.25, 1e-12);
}

TEST(Reference, equalScoresGiveTheMean) {
  Problem p = makeSmall();
  ReferenceInputs in = makeInputs(p);
  std::fill(in.q.begin(), in.q.end(), 0.0f);
  RowResult row;
  computeRow(in, {0, 0, 0}, row);
  double mean = 0;
  for (int64_t j = 0; j < 7; ++j) {
    mean += in.v[size_t(j * 2 * 16)] / 7.0;
  }
  EXPECT_NEAR(row.exact[0], mean, 1e-12);
  EXPECT_NEAR(row.lse, std::log(7.0), 1e-12);
}

TEST(Reference, pairsOfAMask) {
  EXPECT_EQ(
      countAdmissiblePairs(makeInputs(makeSmall(Mask::CausalBottomRight))),
      2 * 4 * (1 + 2 + 3 + 4 + 5 + 6 + 7));
  Problem p = makeSmall();
  seeRound(p, -2, 2, 1);
  EXPECT_TRUE(isAdmissible(makeInputs(p), {0, 0, 5}, 1));
  EXPECT_FALSE(isAdmissible(makeInputs(p), {0, 0, 5}, 0));
  EXPECT_FALSE(isAdmissible(makeInputs(p), {0, 0, 5}, 5));
  // Two keys at most, of which the first rows have fewer.
  seeRound(p, 0, 1, 0);
  EXPECT_EQ(countAdmissiblePairs(makeInputs(p)),
            2 * 4 * (1 + 2 + 2 + 2 + 2 + 2 + 2 + 1));
}

TEST(Reference, rowsOfALayout) {
  Problem p = makeSmall();
  EXPECT_EQ(p.rowIndex(1, 3, 2, 9, 4), (1 * 9 + 3) * 4 + 2);
  p.headsFirst = true;
  EXPECT_EQ(p.rowIndex(1, 3, 2, 9, 4), (1 * 4 + 2) * 9 + 3);
}

class Check : public testing::TestWithParam<Mask> {};

TEST_P(Check, passesTheRoundedReference) {
  ReferenceInputs in = makeInputs(makeSmall(GetParam()));
  Outputs out(in);
  CheckResult result = checkOutputs(in, out.o, &out.lse);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.rows, 72);
  EXPECT_EQ(result.rowsCompared + result.emptyRows, 72);
  EXPECT_EQ(result.emptyRows,
            GetParam() == Mask::CausalBottomRight ? 2 * 2 * 4 : 0);
  EXPECT_EQ(out.o.checkPoison(), "");
}

INSTANTIATE_TEST_SUITE_P(Masks, Check,
                         testing::Values(Mask::None, Mask::CausalTopLeft,
                                         Mask::CausalBottomRight));

TEST(CheckFailures, wrongElement) {
  ReferenceInputs in = makeInputs(makeSmall());
  Outputs out(in);
  out.o.set(100, out.o.get(100) + 0.1);
  std::string failure = checkOutputs(in, out.o, &out.lse).failure;
  EXPECT_EQ(failure.rfind("expected O to be ", 0), 0u) << failure;
  EXPECT_NE(failure.find("at batch 0, head 2, row 1, column 4"),
            std::string::npos)
      << failure;
  // If the contract allows the error, the rule for typical errors remains.
  in.numerics[Bound::ORelative] = 0.5;
  EXPECT_NE(checkOutputs(in, out.o, &out.lse).failure.find("max error of O"),
            std::string::npos);
}

TEST(CheckFailures, contractsThatPromiseTooMuch) {
  ReferenceInputs in = makeInputs(makeSmall());
  Outputs out(in);
  CheckResult good = checkOutputs(in, out.o, &out.lse);
  EXPECT_EQ(good.failure, "");
  EXPECT_GT(good.oShare, 0);
  EXPECT_LT(good.oShare, 1);
  in.numerics[Bound::ORelative] /= 100;
  EXPECT_EQ(
      checkOutputs(in, out.o, &out.lse).failure.rfind("expected O to be ", 0),
      0u);
  in = makeInputs(makeSmall());
  in.numerics[Bound::LseAbsolute] = in.numerics[Bound::LseRelative] =
      in.numerics[Bound::ScoreRelative] = 0;
  EXPECT_EQ(
      checkOutputs(in, out.o, &out.lse).failure.rfind("expected LSE to be ", 0),
      0u);
}

/// The bounds of one row against the formulas of the contract.
TEST(Reference, boundsFollowTheContract) {
  Problem p = makeSmall();
  ReferenceInputs in = makeInputs(p);
  in.numerics = {};
  in.numerics[Bound::ORelative] = 0x1p-7;
  in.numerics[Bound::OPerKey] = 0x1p-20;
  in.numerics[Bound::Flush] = 0x1p-25;
  in.numerics[Bound::LseAbsolute] = 1e-4;
  in.numerics[Bound::LsePerRootKey] = 1e-6;
  in.numerics[Bound::LseRelative] = 1e-3;
  std::fill(in.q.begin(), in.q.end(), 0.0f); // all scores are 0
  RowResult row;
  computeRow(in, {0, 0, 0}, row);
  double values = 0;
  for (int64_t j = 0; j < 7; ++j) {
    values += std::fabs(double(in.v[size_t(j * 2 * 16)]));
  }
  EXPECT_NEAR(row.bound[0],
              values / 7 * (0x1p-7 + 7 * 0x1p-20) + 0x1p-25 * (values + 1),
              1e-15);
  EXPECT_NEAR(row.lseBound, 1e-4 + std::sqrt(7.0) * 1e-6 + 1e-3 * std::log(7.0),
              1e-12);
}

TEST(CheckFailures, slightlyWrongEverywhere) {
  ReferenceInputs in = makeInputs(makeSmall());
  Outputs out(in);
  CheckResult good = checkOutputs(in, out.o, &out.lse);
  for (int64_t i = 0; i < out.o.elementCount(); ++i) {
    out.o.set(i, out.o.get(i) + (i % 2 ? 1 : -1) * good.maxErrorRounded * 0.8);
  }
  in.numerics[Bound::ORelative] = 0.5; // the other rule notices
  EXPECT_NE(checkOutputs(in, out.o, &out.lse).failure.find("error of O"),
            std::string::npos);
}

TEST(CheckFailures, nanAnywhereEvenOutsideTheSample) {
  ReferenceInputs in = makeInputs(makeSmall());
  Outputs out(in);
  out.o.set(64 * 16 + 5, NAN);
  EXPECT_NE(checkOutputs(in, out.o, &out.lse, /*macBudget=*/1)
                .failure.find("expected O to be finite, got"),
            std::string::npos);
}

TEST(CheckFailures, lse) {
  ReferenceInputs in = makeInputs(makeSmall());
  Outputs out(in);
  out.lse.set(71, out.lse.get(71) + 1e-4);
  std::string failure = checkOutputs(in, out.o, &out.lse).failure;
  EXPECT_EQ(failure.rfind("expected LSE to be", 0), 0u) << failure;
  EXPECT_NE(failure.find("at batch 1, head 3, row 8"), std::string::npos);
  EXPECT_EQ(checkOutputs(in, out.o, nullptr).failure, "");
}

TEST(CheckFailures, rowsWithoutKeys) {
  ReferenceInputs in = makeInputs(makeSmall(Mask::CausalBottomRight));
  Outputs out(in);
  out.o.set(0, 0.5);
  EXPECT_EQ(checkOutputs(in, out.o, &out.lse).failure,
            "expected O to be 0 in a row without keys, got 0.5 at batch 0, "
            "head 0, row 0");
  out.o.set(0, 0);
  out.lse.set(1, -1e30);
  EXPECT_EQ(checkOutputs(in, out.o, &out.lse).failure,
            "expected LSE to be -inf in a row without keys, got -1e+30 at "
            "batch 0, head 0, row 1");
}

TEST(CheckFailures, guardBands) {
  ReferenceInputs in = makeInputs(makeSmall());
  Outputs out(in);
  HostTensor bad = out.o;
  bad.bytes[kGuardBytes - 1] = 0;
  EXPECT_EQ(bad.checkPoison(), "guard byte -1 of 'o' was written (byte 0 is "
                               "its first element)");
  bad = out.o;
  bad.bytes.back() = 0;
  EXPECT_EQ(bad.checkPoison().rfind("guard byte", 0), 0u);
  bad = out.o;
  bad.bytes[kGuardBytes + 32] = 0; // after the first head's 16 elements
  EXPECT_EQ(bad.checkPoison().rfind("padding byte 32", 0), 0u);
  bad = out.o;
  std::fill_n(bad.at(17), 2, kPoison);
  EXPECT_EQ(bad.checkPoison(), "element [0, 0, 1, 1] of 'o' was not written");
}

} // namespace
