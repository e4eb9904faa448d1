// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace attn::sim;

namespace {

const FloatFormat kFormats[] = {kF16,  kBF16, kTF32, kE4M3,
                                kE5M2, kE2M1, kE2M3, kE3M2};

/// The value of a positive finite pattern, written independently.
double valueOf(uint32_t bits, const FloatFormat &format) {
  int field = int(bits >> format.fractionBits);
  double fraction = double(bits % (1u << format.fractionBits)) /
                    double(1u << format.fractionBits);
  int bias = (1 << (format.exponentBits - 1)) - 1;
  return field ? std::pow(2.0, field - bias) * (1 + fraction)
               : std::pow(2.0, 1 - bias) * fraction;
}

/// The rounded result of a value between the neighbors below and above, by the
/// definition of the modes. `where`: -1, 0, 1 if the value is nearer to below,
/// halfway, nearer to above.
uint32_t expected(uint32_t below, int where, bool negative, Rounding rounding) {
  bool up = false;
  switch (rounding) {
  case Rounding::RN:
    up = where > 0 || (where == 0 && below % 2 == 1);
    break;
  case Rounding::RNA:
    up = where >= 0;
    break;
  case Rounding::RZ:
    break;
  case Rounding::RM:
    up = negative;
    break;
  case Rounding::RP:
    up = !negative;
    break;
  }
  return below + up;
}

constexpr Rounding kModes[] = {Rounding::RN, Rounding::RZ, Rounding::RM,
                               Rounding::RP, Rounding::RNA};

TEST(FloatFormat, decodesEveryFinitePattern) {
  for (const FloatFormat &format : kFormats) {
    for (uint32_t bits = 0; bits <= format.maxFinite; ++bits) {
      EXPECT_EQ(fromFormat(bits, format), valueOf(bits, format));
      EXPECT_EQ(fromFormat(bits | format.signBit(), format),
                -valueOf(bits, format));
    }
  }
}

TEST(FloatFormat, roundsBetweenAllNeighbours) {
  for (const FloatFormat &format : kFormats) {
    for (uint32_t bits = 0; bits < format.maxFinite; ++bits) {
      double low = valueOf(bits, format);
      double high = valueOf(bits + 1, format);
      double points[] = {low + (high - low) / 1024, (low + high) / 2,
                         high - (high - low) / 1024};
      for (Rounding mode : kModes) {
        EXPECT_EQ(roundToFormat(low, format, mode), bits);
        for (int i = 0; i < 3; ++i) {
          ASSERT_EQ(roundToFormat(points[i], format, mode),
                    expected(bits, i - 1, false, mode))
              << points[i];
          ASSERT_EQ(roundToFormat(-points[i], format, mode),
                    expected(bits, i - 1, true, mode) | format.signBit());
          ASSERT_EQ(roundToFormat(-points[i], format, mode, false, true), 0u);
        }
      }
    }
  }
}

TEST(FloatFormat, overflowsByMode) {
  for (const FloatFormat &format : kFormats) {
    double beyond = 3 * valueOf(format.maxFinite, format);
    uint32_t infinity = format.infinity ? format.infinity : format.maxFinite;
    EXPECT_EQ(roundToFormat(beyond, format, Rounding::RN), infinity);
    EXPECT_EQ(roundToFormat(beyond, format, Rounding::RNA), infinity);
    EXPECT_EQ(roundToFormat(beyond, format, Rounding::RZ), format.maxFinite);
    EXPECT_EQ(roundToFormat(beyond, format, Rounding::RM), format.maxFinite);
    EXPECT_EQ(roundToFormat(beyond, format, Rounding::RP), infinity);
    EXPECT_EQ(roundToFormat(-beyond, format, Rounding::RM),
              infinity | format.signBit());
    EXPECT_EQ(roundToFormat(beyond, format, Rounding::RN, true),
              format.maxFinite);
    EXPECT_EQ(roundToFormat(HUGE_VAL, format, Rounding::RZ), infinity);
    EXPECT_EQ(roundToFormat(-HUGE_VAL, format, Rounding::RN, true),
              format.maxFinite | format.signBit());
    EXPECT_EQ(roundToFormat(1e300, format, Rounding::RN), infinity);
    EXPECT_EQ(roundToFormat(1e-320, format, Rounding::RP), 1u);
    EXPECT_EQ(roundToFormat(1e-320, format, Rounding::RN), 0u);
  }
}

TEST(FloatFormat, roundsF16AtItsLimit) {
  EXPECT_EQ(toF16(65504.0f), 0x7BFF);
  EXPECT_EQ(toF16(65519.996f), 0x7BFF);
  EXPECT_EQ(toF16(65520.0f), 0x7C00);
  EXPECT_EQ(toF16(65520.0f, Rounding::RN, true), 0x7BFF);
}

TEST(FloatFormat, keepsNaNsCanonical) {
  float nan = f32FromBits(0xFFC12345);
  EXPECT_EQ(toF16(nan), 0x7FFF);
  EXPECT_EQ(toBF16(nan), 0x7FFF);
  EXPECT_EQ(toBF16(nan, Rounding::RZ, true, true), 0x7FFF);
  EXPECT_EQ(toTF32(nan, Rounding::RN), 0x7FFFE000u);
  EXPECT_EQ(toTF32(nan), 0xFFC12000u);
  EXPECT_EQ(toTF32(f32FromBits(0x7F800001)), 0x7F800000u);
  EXPECT_EQ(toTF32(nan, Rounding::RNA, true), 0xFFC10000u);
  EXPECT_EQ(roundToFormat(nan, kE4M3), 0x7Fu);
  EXPECT_EQ(roundToFormat(nan, kE5M2), 0x7Fu);
  EXPECT_EQ(roundToFormat(nan, kE2M1), kE2M1.maxFinite);
  EXPECT_EQ(toBits(fromF16(0xFE01)), 0x7FFFFFFFu);
  EXPECT_EQ(toBits(fromBF16(0xFFC1)), 0x7FFFFFFFu);
  EXPECT_EQ(toBits(fromE4M3(0xFF)), 0x7FFFFFFFu);
  EXPECT_EQ(toBits(fromE5M2(0xFD)), 0x7FFFFFFFu);
}

TEST(FloatFormat, fastPathsAgreeWithTheGeneralOne) {
  uint64_t state = 1;
  for (int i = 0; i < 2000000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float value = f32FromBits(uint32_t(state >> 32));
    ASSERT_EQ(toF16(value), roundToFormat(value, kF16)) << value;
    ASSERT_EQ(toBF16(value), roundToFormat(value, kBF16)) << value;
  }
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto f16 = float(fromFormat(bits, kF16));
    if (f16 == f16) {
      ASSERT_EQ(toBits(fromF16(uint16_t(bits))), toBits(f16));
      ASSERT_EQ(toF16(f16), bits);
    }
    if (auto bf16 = float(fromFormat(bits, kBF16)); bf16 == bf16) {
      ASSERT_EQ(toBits(fromBF16(uint16_t(bits))), toBits(bf16));
      ASSERT_EQ(toBF16(bf16), bits);
    }
  }
}

TEST(FloatFormat, packsTheFirstOperandHigh) {
  EXPECT_EQ(toBF16x2(1.0f, -2.0f), 0x3F80C000u);
  EXPECT_EQ(toF16x2(1.0f, -2.0f), 0x3C00C000u);
}

TEST(FloatFormat, saturatesToTheLargestFinite) {
  auto round = [](double value, const FloatFormat &format, bool relu = false) {
    return roundToFormat(value, format, Rounding::RN, /*satfinite=*/true, relu);
  };
  EXPECT_EQ(round(1000.0, kE4M3), 0x7Eu);
  EXPECT_EQ(round(-1e-9, kE4M3, true), 0u);
  EXPECT_EQ(round(1e9, kE5M2), 0x7Bu);
}

TEST(Convert, roundsAndClampsToIntegers) {
  EXPECT_EQ(f32ToInteger(2.5f, Rounding::RN, 32, true), 2u);
  EXPECT_EQ(f32ToInteger(3.5f, Rounding::RN, 32, true), 4u);
  EXPECT_EQ(f32ToInteger(-2.5f, Rounding::RZ, 32, true), 0xFFFFFFFEu);
  EXPECT_EQ(f32ToInteger(-2.5f, Rounding::RM, 32, true), 0xFFFFFFFDu);
  EXPECT_EQ(f32ToInteger(2.1f, Rounding::RP, 32, true), 3u);
  EXPECT_EQ(f32ToInteger(3e9f, Rounding::RZ, 32, true), 0x7FFFFFFFu);
  EXPECT_EQ(f32ToInteger(-3e9f, Rounding::RZ, 32, true), 0x80000000u);
  EXPECT_EQ(f32ToInteger(-1.0f, Rounding::RZ, 32, false), 0u);
  EXPECT_EQ(f32ToInteger(1e20f, Rounding::RZ, 64, false), ~uint64_t(0));
  EXPECT_EQ(f32ToInteger(HUGE_VALF, Rounding::RZ, 64, true), ~uint64_t(0) >> 1);
  EXPECT_EQ(f32ToInteger(300.0f, Rounding::RZ, 8, false), 255u);
  EXPECT_EQ(f32ToInteger(-300.0f, Rounding::RZ, 8, true), 0x80u);
  EXPECT_EQ(f32ToInteger(NAN, Rounding::RZ, 32, true), 0u);
  EXPECT_EQ(f32ToInteger(NAN, Rounding::RZ, 64, true), uint64_t(1) << 63);
  EXPECT_EQ(f64ToInteger(NAN, Rounding::RZ, 32, true), 0x80000000u);
  EXPECT_EQ(f64ToInteger(4294967295.0, Rounding::RZ, 32, false), 0xFFFFFFFFu);
}

TEST(Convert, integersToFloats) {
  uint64_t samples[] = {0,
                        1,
                        0xFFFFFF,
                        0x1000001,
                        0x1000003,
                        0x7FFFFFFFFFFFFFFF,
                        0x8000008000000001,
                        0xFFFFFFFFFFFFFFFF,
                        0x20000000000001,
                        0x8000000000000400};
  for (uint64_t a : samples) {
    EXPECT_EQ(integerToF32(a, 64, false), float(a));
    EXPECT_EQ(integerToF32(a, 64, true), float(int64_t(a)));
    EXPECT_EQ(integerToF64(a, 64, false), double(a));
    EXPECT_EQ(integerToF64(a, 64, true), double(int64_t(a)));
    EXPECT_EQ(integerToF32(a, 32, true), float(int32_t(a)));
  }
  EXPECT_EQ(integerToF32(0x1000001, 32, false, Rounding::RP), 16777218.0f);
  EXPECT_EQ(integerToF32(0x1000001, 32, false, Rounding::RZ), 16777216.0f);
  EXPECT_EQ(integerToF64(0x20000000000001, 64, false, Rounding::RP),
            9007199254740994.0);
  EXPECT_EQ(integerToFormat(70000, 32, false, kF16), 0x7C00u);
  EXPECT_EQ(integerToFormat(0xFF, 8, true, kBF16), 0xBF80u);
}

} // namespace
