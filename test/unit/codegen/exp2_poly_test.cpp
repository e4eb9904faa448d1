// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The polynomial of nvx.exp2_poly against 2^x in float64, step by step as the
// kernel computes it (Exp2Poly.cpp), denormals flushed.
#include "attn/dialect/Exp2Poly.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace attn::exp2poly;

namespace {

/// The kernel's arithmetic; volatile keeps the compiler from contracting it.
float evaluate(float x, int degree) {
  x = x < kClampBelow ? kClampBelow : x; // keeps a NaN, as max.NaN does
  x = x > kClampAbove ? kClampAbove : x;
  volatile float shifted = x + kRound;
  volatile float whole = shifted - kRound;
  float fraction = x - whole;
  const float *c = kCoefficients[degree - kMinDegree];
  float sum = c[degree];
  for (int i = degree - 1; i >= 0; --i) {
    sum = std::fma(sum, fraction, c[i]);
  }
  float low = shifted;
  uint32_t exponent, bits;
  std::memcpy(&exponent, &low, sizeof(bits));
  std::memcpy(&bits, &sum, sizeof(bits));
  bits += exponent << kMantissaBits;
  float result;
  std::memcpy(&result, &bits, sizeof(bits));
  result = std::fma(x, 0.0f, result);
  return std::fpclassify(result) == FP_SUBNORMAL ? 0.0f : result;
}

class Exp2Poly : public testing::TestWithParam<int> {};

TEST_P(Exp2Poly, StaysWithinItsBound) {
  int degree = GetParam();
  double worst = 0;
  for (int64_t i = 0; i < 4000000; ++i) {
    float x = static_cast<float>(
        kSmallest + i * (double(kClampAbove) - kSmallest) / 3999999);
    double error = evaluate(x, degree) / std::exp2(static_cast<double>(x)) - 1;
    worst = std::max(worst, std::fabs(error));
  }
  EXPECT_LE(worst, kRelativeError[degree - kMinDegree]);
  // The bound is tight: a better coefficient table would show here.
  EXPECT_GE(worst, 0.5 * kRelativeError[degree - kMinDegree]);
}

/// What the documentation of nvx.exp2_poly says of each degree.
TEST_P(Exp2Poly, IsBelowTheRoundingOfP) {
  const double ofF16[] = {6, 170, 1900}, ofBf16[] = {25, 690, 7800};
  int row = GetParam() - kMinDegree;
  EXPECT_LE(kRelativeError[row] * ofF16[row], std::exp2(-11));
  EXPECT_LE(kRelativeError[row] * ofBf16[row], std::exp2(-9));
}

TEST_P(Exp2Poly, IsZeroFarBelow) {
  for (float x : {-126.1f, -126.5f, -127.0f, -150.0f, -1e30f,
                  -std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(evaluate(x, GetParam()), 0.0f) << x;
  }
}

TEST_P(Exp2Poly, IsTheSameAboveItsEnd) {
  float most = evaluate(kClampAbove, GetParam());
  EXPECT_GT(most, std::exp2(126.0f));
  for (float x : {127.49f, 127.5f, 128.0f, 200.0f, 255.0f, 383.5f, 1e30f,
                  std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(evaluate(x, GetParam()), most) << x;
  }
}

TEST_P(Exp2Poly, KeepsNaN) {
  EXPECT_TRUE(std::isnan(evaluate(std::nanf(""), GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Degrees, Exp2Poly,
                         testing::Range(kMinDegree, kMaxDegree + 1));

} // namespace
