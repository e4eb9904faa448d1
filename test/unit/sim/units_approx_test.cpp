// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/approx.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn::sim;

namespace {

/// The distance of `got` from `exact` in units of its last place.
double ulps(float got, double exact) {
  if (double(got) == exact) {
    return 0;
  }
  int exponent;
  std::frexp(exact, &exponent);
  int unit = exponent - 24 < -149 ? -149 : exponent - 24;
  return std::fabs(got - exact) / std::ldexp(1.0, unit);
}

TEST(Approx, ex2IsNearestOverTheWholeRange) {
  for (double x = -152; x < 129; x += 0.00037) {
    auto input = float(x);
    double exact = std::exp2(double(input));
    float got = ex2Approx(input);
    if (exact >= 0x1p128) {
      ASSERT_EQ(got, INFINITY);
      continue;
    }
    ASSERT_LE(ulps(got, exact), 0.501) << input;
    float flushed = ex2Approx(input, true);
    ASSERT_EQ(flushed, got < 0x1p-126f ? 0.0f : got) << input;
  }
}

TEST(Approx, ex2Specials) {
  for (bool ftz : {false, true}) {
    EXPECT_EQ(ex2Approx(INFINITY, ftz), INFINITY);
    EXPECT_EQ(toBits(ex2Approx(-INFINITY, ftz)), 0u);
    EXPECT_EQ(toBits(ex2Approx(NAN, ftz)), kCanonicalNaN);
    EXPECT_EQ(ex2Approx(f32FromBits(0x807FFFFF), ftz), 1.0f);
    EXPECT_EQ(ex2Approx(-0.0f, ftz), 1.0f);
    EXPECT_EQ(ex2Approx(1e30f, ftz), INFINITY);
    EXPECT_EQ(ex2Approx(-1e30f, ftz), 0.0f);
    for (int n = -126; n < 128; ++n) {
      EXPECT_EQ(ex2Approx(float(n), ftz), std::ldexp(1.0f, n));
    }
  }
  EXPECT_EQ(ex2Approx(-149.0f), 0x1p-149f);
}

TEST(Approx, aWarpOfEx2IsBitIdentical) {
  uint64_t state = 3;
  for (int i = 0; i < 20000; ++i) {
    float in[kWarpSize];
    float out[kWarpSize];
    for (float &x : in) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      auto bits = uint32_t(state >> 32);
      x = bits % 3 ? f32FromBits((bits & 0x83FFFFFF) | 0x40000000)
                   : f32FromBits(bits);
    }
    bool ftz = i & 1;
    ex2ApproxWarp(in, out, ftz);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      ASSERT_EQ(toBits(out[lane]), toBits(ex2Approx(in[lane], ftz)));
    }
  }
}

TEST(Approx, othersKeepTheirBounds) {
  for (double base = -126; base < 126; base += 0.0131) {
    auto x = float(std::exp2(base));
    EXPECT_LE(ulps(rcpApprox(x), 1 / double(x)), 1.0);
    EXPECT_LE(ulps(rsqrtApprox(x), 1 / std::sqrt(double(x))), 1.0);
    EXPECT_LE(ulps(sqrtApprox(x), std::sqrt(double(x))), 1.0);
    EXPECT_LE(std::fabs(lg2Approx(x) - std::log2(double(x))),
              std::fabs(base) * 0x1p-22 + 0x1p-22);
    EXPECT_LE(ulps(divFull(3.0f, x), 3.0 / double(x)), 2.0);
  }
  for (double x = -6.28; x < 6.28; x += 0.001) {
    EXPECT_NEAR(sinApprox(float(x)), std::sin(double(float(x))), 0x1p-20);
    EXPECT_NEAR(cosApprox(float(x)), std::cos(double(float(x))), 0x1p-20);
    EXPECT_NEAR(tanhApprox(float(x)), std::tanh(double(float(x))), 0x1p-11);
  }
}

TEST(Approx, specials) {
  EXPECT_EQ(rcpApprox(-0.0f), -INFINITY);
  EXPECT_EQ(toBits(rcpApprox(-INFINITY)), 0x80000000u);
  EXPECT_EQ(toBits(rcpApprox(0x1.8p127f, true)), 0u);
  EXPECT_EQ(rcpApprox(f32FromBits(1), true), INFINITY);
  EXPECT_EQ(lg2Approx(-0.0f), -INFINITY);
  EXPECT_EQ(lg2Approx(f32FromBits(0x00400000)), -127.0f);
  EXPECT_EQ(lg2Approx(f32FromBits(0x00400000), true), -INFINITY);
  EXPECT_EQ(toBits(lg2Approx(-1.0f)), kCanonicalNaN);
  EXPECT_EQ(rsqrtApprox(-0.0f), -INFINITY);
  EXPECT_EQ(toBits(rsqrtApprox(-2.0f)), kCanonicalNaN);
  EXPECT_EQ(toBits(sinApprox(INFINITY)), kCanonicalNaN);
  EXPECT_EQ(toBits(sinApprox(-0.0f)), 0x80000000u);
  EXPECT_EQ(tanhApprox(100.0f), 1.0f);
  EXPECT_EQ(divApprox(1.0f, 0x1.8p126f), 0.0f);
  EXPECT_EQ(toBits(divApprox(INFINITY, 0x1.8p126f)), kCanonicalNaN);
  EXPECT_EQ(toBits(divApprox(1.0f, INFINITY)), 0u);
  EXPECT_EQ(divFull(0x1p127f, 0x1.8p126f), float(0x1p127 / 0x1.8p126));
  EXPECT_EQ(rcpApproxF64(4.0), 0.25);
  EXPECT_NEAR(rcpApproxF64(3.0), 1.0 / 3, 1e-6);
  EXPECT_EQ(toBits(rcpApproxF64(3.0)) & 0xFFFFFFFF, 0u);
  EXPECT_EQ(rsqrtApproxF64(4.0), 0.5);
}

TEST(Approx, halves) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double x = fromFormat(bits, kF16);
    if (x == x && std::fabs(x) < 14) {
      double got =
          fromFormat(ex2ApproxHalf(HalfType::F16, uint16_t(bits)), kF16);
      ASSERT_NEAR(got / std::exp2(x), 1, std::exp2(-9.9));
    }
    double y = fromFormat(bits, kBF16);
    if (y == y && std::fabs(y) < 100) {
      auto in = uint16_t(bits);
      double got = fromFormat(ex2ApproxHalf(HalfType::BF16, in), kBF16);
      ASSERT_NEAR(got / std::exp2(y), 1, std::exp2(-7));
      double tanh = fromFormat(tanhApproxHalf(HalfType::BF16, in), kBF16);
      ASSERT_NEAR(tanh, std::tanh(y), std::exp2(-8));
    }
  }
  EXPECT_EQ(ex2ApproxHalf2(HalfType::BF16, 0x3F80FF80), 0x40000000u);
  EXPECT_EQ(tanhApproxHalf2(HalfType::F16, 0x7C000000), 0x3C000000u);
}

} // namespace
