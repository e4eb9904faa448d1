// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/packed_half.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn::sim;

namespace {

constexpr Rounding kModes[] = {Rounding::RN, Rounding::RZ, Rounding::RM,
                               Rounding::RP};

/// Random f32 bits, often with exponents close to each other.
class RandomFloats {
public:
  float next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto bits = uint32_t(state >> 32);
    switch (bits % 4) {
    case 0:
      return f32FromBits(bits);
    case 1:
      return f32FromBits((bits & 0x807FFFFF) | 0x3F800000);
    case 2:
      return f32FromBits((bits & 0x83FFFFFF) | 0x3C000000);
    default:
      return f32FromBits(bits & 0x81FFFFFF);
    }
  }

private:
  uint64_t state = 42;
};

/// One rounding of a + b where long double (64 bits) may be inexact: only used
/// for values whose sum is exact in it or far from a tie.
uint32_t roundExact(double exact, Rounding mode) {
  return roundToFormat(exact, kF32, mode);
}

TEST(F32Math, mulMatchesTheExactProductInEveryMode) {
  RandomFloats random;
  for (int i = 0; i < 300000; ++i) {
    float a = random.next();
    float b = random.next();
    double exact = double(a) * b;
    for (Rounding mode : kModes) {
      ASSERT_EQ(toBits(mulF32(a, b, {mode, false, false})),
                roundExact(exact, mode))
          << a << " " << b;
    }
  }
}

TEST(F32Math, addAndFmaMatchRoundToOddInEveryMode) {
  RandomFloats random;
  for (int i = 0; i < 300000; ++i) {
    float a = random.next();
    float b = random.next();
    float c = random.next();
    for (Rounding mode : kModes) {
      double sum = addToOdd(a, c);
      if (sum != 0) {
        ASSERT_EQ(toBits(addF32(a, c, {mode, false, false})),
                  roundExact(sum, mode));
        ASSERT_EQ(toBits(subF32(a, -c, {mode, false, false})),
                  roundExact(sum, mode));
      }
      double fused = addToOdd(double(a) * b, c);
      if (fused != 0) {
        ASSERT_EQ(toBits(fmaF32(a, b, c, {mode, false, false})),
                  roundExact(fused, mode))
            << a << " " << b << " " << c;
      }
    }
  }
}

TEST(F32Math, divAndSqrtBracketTheExactValue) {
  RandomFloats random;
  for (int i = 0; i < 100000; ++i) {
    float a = std::fabs(random.next());
    float b = random.next();
    if (!(a < INFINITY) || !(std::fabs(b) < INFINITY) || b == 0) {
      continue;
    }
    float down = divF32(a, b, {Rounding::RM, false, false});
    float up = divF32(a, b, {Rounding::RP, false, false});
    float nearest = divF32(a, b);
    EXPECT_LE(down, nearest);
    EXPECT_LE(nearest, up);
    EXPECT_LE(double(down), double(a) / b);
    EXPECT_GE(double(up), double(a) / b);
    EXPECT_TRUE(up == down || std::nextafter(down, INFINITY) == up);
    float root = sqrtF32(a, {Rounding::RM, false, false});
    float above = sqrtF32(a, {Rounding::RP, false, false});
    EXPECT_LE(double(root) * root, double(a));
    EXPECT_GE(double(above) * above, double(a));
  }
}

TEST(F32Math, flushesAndSaturates) {
  float tiny = f32FromBits(0x00400000);
  F32Mode ftz = {Rounding::RN, true, false};
  EXPECT_EQ(toBits(addF32(-tiny, -0.0f, ftz)), 0x80000000u);
  EXPECT_EQ(toBits(mulF32(tiny, 1e30f, ftz)), 0u);
  EXPECT_EQ(toBits(mulF32(-0x1p-100f, 0x1p-30f, ftz)), 0x80000000u);
  EXPECT_EQ(mulF32(0x1p-100f, 0x1p-30f), 0x1p-130f);
  EXPECT_EQ(fmaF32(tiny, 1e30f, 2.0f, ftz), 2.0f);
  F32Mode sat = {Rounding::RN, false, true};
  EXPECT_EQ(addF32(0.75f, 0.5f, sat), 1.0f);
  EXPECT_EQ(toBits(addF32(-0.75f, 0.5f, sat)), 0u);
  EXPECT_EQ(toBits(mulF32(INFINITY, 0.0f, sat)), 0u);
  EXPECT_EQ(addF32(0.25f, 0.5f, sat), 0.75f);
}

TEST(F32Math, signsOfZeroByMode) {
  EXPECT_EQ(toBits(addF32(1.0f, -1.0f)), 0u);
  EXPECT_EQ(toBits(addF32(1.0f, -1.0f, {Rounding::RM, false, false})),
            0x80000000u);
  EXPECT_EQ(toBits(addF32(0.0f, 0.0f, {Rounding::RM, false, false})), 0u);
}

TEST(F32Math, canonicalNaN) {
  float nan = f32FromBits(0xFFC00001);
  EXPECT_EQ(toBits(addF32(nan, 1.0f)), kCanonicalNaN);
  EXPECT_EQ(toBits(subF32(INFINITY, INFINITY)), kCanonicalNaN);
  EXPECT_EQ(toBits(fmaF32(INFINITY, 0.0f, 1.0f)), kCanonicalNaN);
  EXPECT_EQ(toBits(sqrtF32(-1.0f)), kCanonicalNaN);
  EXPECT_EQ(toBits(divF32(0.0f, 0.0f)), kCanonicalNaN);
}

TEST(F32Math, minMax) {
  float nan = f32FromBits(0xFFC00001);
  EXPECT_EQ(minF32(1.0f, nan), 1.0f);
  EXPECT_EQ(maxF32(nan, -1.0f), -1.0f);
  EXPECT_EQ(toBits(maxF32(nan, nan)), kCanonicalNaN);
  EXPECT_EQ(toBits(maxF32(nan, 1.0f, {false, true, false})), kCanonicalNaN);
  EXPECT_EQ(toBits(minF32(0.0f, -0.0f)), 0x80000000u);
  EXPECT_EQ(toBits(minF32(-0.0f, 0.0f)), 0x80000000u);
  EXPECT_EQ(toBits(maxF32(0.0f, -0.0f)), 0u);
  EXPECT_EQ(toBits(maxF32(-0.0f, 0.0f)), 0u);
  EXPECT_EQ(maxF32(-3.0f, 2.0f), 2.0f);
  EXPECT_EQ(maxF32(-3.0f, 2.0f, {false, false, true}), -3.0f);
  EXPECT_EQ(minF32(-3.0f, -2.0f, {false, false, true}), 2.0f);
  EXPECT_EQ(toBits(minF32(f32FromBits(0x80000001), 1.0f, {true, false, false})),
            0x80000000u);
  EXPECT_EQ(toBits(absF32(f32FromBits(0x80000001), true)), 0u);
  EXPECT_EQ(toBits(negF32(f32FromBits(0x00000001), true)), 0x80000000u);
  EXPECT_EQ(copysignF32(-1.0f, 3.0f), -3.0f);
}

TEST(F32Math, doubleModes) {
  EXPECT_EQ(addF64(1.0, 0x1p-60), 1.0);
  EXPECT_EQ(addF64(1.0, 0x1p-60, Rounding::RP), 1.0 + 0x1p-52);
  EXPECT_EQ(addF64(1.0, -0x1p-60, Rounding::RZ), 1.0 - 0x1p-53);
  EXPECT_EQ(fmaF64(0x1p-30, 0x1p-30, 1.0, Rounding::RP), 1.0 + 0x1p-52);
  EXPECT_LT(divF64(1.0, 3.0, Rounding::RM), divF64(1.0, 3.0, Rounding::RP));
  EXPECT_LT(sqrtF64(2.0, Rounding::RM), sqrtF64(2.0, Rounding::RP));
  EXPECT_LT(mulF64(0.1, 0.1, Rounding::RM), mulF64(0.1, 0.1, Rounding::RP));
  EXPECT_EQ(minF64(NAN, 2.0), 2.0);
  EXPECT_EQ(maxF64(2.0, NAN), 2.0);
  EXPECT_EQ(roundToIntegralF32(2.5f, Rounding::RN), 2.0f);
  EXPECT_EQ(roundToIntegralF64(-2.5, Rounding::RM), -3.0);
}

/// x*y + z of f16 values in units of 2^-48 as an integer, rounded to odd to 53
/// bits. A zero has its sign from double.
double fusedToOdd(double x, double y, double z) {
  __extension__ using S128 = __int128;
  S128 sum = S128(x * y * 0x1p48) + S128(z * 0x1p48);
  if (sum == 0) {
    return x * y + z;
  }
  S128 magnitude = sum < 0 ? -sum : sum;
  int exponent = -48;
  for (; magnitude >> 53; ++exponent) {
    magnitude = (magnitude >> 1) | (magnitude & 1);
  }
  return std::ldexp(double(int64_t(magnitude)), exponent) * (sum < 0 ? -1 : 1);
}

TEST(PackedHalf, f16MatchesExactArithmetic) {
  uint64_t state = 7;
  for (int i = 0; i < 300000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto a = uint16_t(state >> 16);
    auto b = uint16_t(state >> 32);
    auto c = uint16_t(state >> 48);
    double x = fromFormat(a, kF16), y = fromFormat(b, kF16),
           z = fromFormat(c, kF16);
    // All exact in double.
    ASSERT_EQ(addHalf(HalfType::F16, a, b), roundToFormat(x + y, kF16));
    ASSERT_EQ(subHalf(HalfType::F16, a, b), roundToFormat(x - y, kF16));
    ASSERT_EQ(mulHalf(HalfType::F16, a, b), roundToFormat(x * y, kF16));
    if (std::isfinite(x * y + z)) {
      ASSERT_EQ(fmaHalf(HalfType::F16, a, b, c),
                roundToFormat(fusedToOdd(x, y, z), kF16))
          << x << " " << y << " " << z;
    }
  }
}

TEST(PackedHalf, bf16RoundsOnce) {
  // 1 + 2^-8 is a tie that a tiny third term breaks.
  uint16_t one = 0x3F80;
  uint16_t almost = 0x3B80; // 2^-8
  uint16_t tiny = 0x0080;   // 2^-126
  EXPECT_EQ(addHalf(HalfType::BF16, one, almost), one);
  EXPECT_EQ(fmaHalf(HalfType::BF16, 0x3F81, 0x3F81, tiny), 0x3F82);
  // (1 + 2^-7)^2 = 1 + 2^-6 + 2^-14: down; 0x3F81 * 0x3FC0 = 1.51171875, a tie.
  EXPECT_EQ(mulHalf(HalfType::BF16, 0x3F81, 0x3FC0), 0x3FC2);
  EXPECT_EQ(fmaHalf(HalfType::BF16, 0x3F81, 0x3FC0, uint16_t(tiny | 0x8000)),
            0x3FC1);
}

TEST(PackedHalf, modifiers) {
  HalfMode relu = {false, false, true};
  HalfMode sat = {false, true, false};
  HalfMode ftz = {true, false, false};
  EXPECT_EQ(addHalf2(HalfType::F16, 0x3C00C000, 0x3C003C00, relu), 0x40000000u);
  EXPECT_EQ(fmaHalf2(HalfType::BF16, 0x3F80BF80, 0x3F803F80, 0, relu),
            0x3F800000u);
  EXPECT_EQ(mulHalf2(HalfType::F16, 0x40007E00, 0x40003C00, sat), 0x3C000000u);
  EXPECT_EQ(addHalf(HalfType::F16, 0x0001, 0x0001, ftz), 0);
  EXPECT_EQ(addHalf(HalfType::F16, 0x0001, 0x0001), 2);
  EXPECT_EQ(addHalf(HalfType::BF16, 0x0001, 0x0001, ftz), 2);
  EXPECT_EQ(subHalf2(HalfType::F16, 0x7C003C00, 0x7C003C00), 0x7FFF0000u);
  EXPECT_EQ(absHalf2(HalfType::F16, 0xBC008001), 0x3C000001u);
  EXPECT_EQ(negHalf2(HalfType::F16, 0xBC000001, true), 0x3C008000u);
}

TEST(PackedHalf, minMax) {
  for (HalfType type : {HalfType::F16, HalfType::BF16}) {
    uint16_t one = type == HalfType::F16 ? 0x3C00 : 0x3F80;
    auto minusOne = uint16_t(one | 0x8000);
    EXPECT_EQ(minHalf(type, one, minusOne), minusOne);
    EXPECT_EQ(maxHalf(type, one, minusOne), one);
    EXPECT_EQ(maxHalf(type, 0x7FFF, one), one);
    EXPECT_EQ(maxHalf(type, 0xFFFF, one, {false, true, false}), 0x7FFF);
    EXPECT_EQ(minHalf(type, 0xFFFF, 0x7FFF), 0x7FFF);
    EXPECT_EQ(minHalf(type, 0, 0x8000), 0x8000);
    EXPECT_EQ(maxHalf(type, one, minusOne, {false, false, true}), minusOne);
    EXPECT_EQ(maxHalf2(type, uint32_t(one) << 16, minusOne), uint32_t(one)
                                                                 << 16);
    EXPECT_EQ(minHalf2(type, uint32_t(one) << 16, minusOne), minusOne);
  }
  EXPECT_EQ(maxHalf(HalfType::F16, 0x8001, 0xBC00, {true, false, false}),
            0x8000);
}

TEST(F32Math, flushesWhatIsSubnormalWithoutExponentLimits) {
  F32Mode ftz;
  ftz.ftz = true;
  // 2^-126 (1 - 2^-24) rounds up to 2^-126 only because smaller exponents are
  // missing.
  EXPECT_EQ(toBits(mulF32(0.5f, f32FromBits(0x00FFFFFF), ftz)), 0u);
  // A value just below 2^-126 does so with any exponent range.
  float smallest = f32FromBits(0x00800000);
  EXPECT_EQ(fmaF32(0x1p-100f, -0x1p-100f, smallest, ftz), smallest);
  EXPECT_EQ(toBits(divF32(f32FromBits(0x80FFFFFF), 2.0f, ftz)), 0x80000000u);
}

TEST(F32Math, choosesAmongDoubleNaNs) {
  double first = f64FromBits(0x7FF0000000000001);
  double second = f64FromBits(0xFFF0000000000002);
  EXPECT_EQ(toBits(addF64(first, second)), 0xFFF8000000000002u);
  EXPECT_EQ(toBits(subF64(first, 1.0)), 0x7FF8000000000001u);
  EXPECT_EQ(toBits(fmaF64(first, 1.0, second)), 0xFFF8000000000002u);
  EXPECT_EQ(toBits(divF64(first, second)), 0x7FF8000000000001u);
  EXPECT_EQ(toBits(subF64(HUGE_VAL, HUGE_VAL)), 0xFFF8000000000000u);
  EXPECT_EQ(toBits(minF64(first, second)), 0xFFF8000000000002u);
}

} // namespace
