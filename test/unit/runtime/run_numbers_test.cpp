// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "numbers.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn::run;

namespace {

TEST(RunNumbers, bf16RoundsToNearestEven) {
  EXPECT_EQ(floatToBf16(1.0f), 0x3f80);
  EXPECT_EQ(floatToBf16(1.00390625f), 0x3f80); // tie, down to even
  EXPECT_EQ(floatToBf16(1.01171875f), 0x3f82); // tie, up to even
  EXPECT_EQ(floatToBf16(1.004f), 0x3f81);
  EXPECT_EQ(floatToBf16(-1.00390625f), 0xbf80);
  EXPECT_EQ(floatToBf16(3.4e38f), 0x7f80); // overflows to infinity
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(NAN))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = bf16ToFloat(uint16_t(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(floatToBf16(value), bits);
    }
  }
}

TEST(RunNumbers, f16RoundsToNearestEven) {
  EXPECT_EQ(floatToF16(1.0f), 0x3c00);
  EXPECT_EQ(floatToF16(1.00048828125f), 0x3c00);
  EXPECT_EQ(floatToF16(1.00146484375f), 0x3c02);
  EXPECT_EQ(floatToF16(65519.0f), 0x7bff);
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToF16(0x1p-25f), 0);
  EXPECT_EQ(floatToF16(0x1.8p-24f), 2);
  EXPECT_EQ(floatToF16(-2.0f), 0xc000);
  EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(NAN))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = f16ToFloat(uint16_t(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(floatToF16(value), bits);
    }
  }
}

TEST(RunNumbers, normalNumbersAreNormal) {
  Random random(1, 0);
  double sum = 0, squares = 0;
  const int count = 100000;
  for (int i = 0; i < count; ++i) {
    double value = random.normal(uint64_t(i));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.02);
}

TEST(RunNumbers, streamsAndSeedsDiffer) {
  EXPECT_EQ(Random(1, 2).bits(3), Random(1, 2).bits(3));
  EXPECT_NE(Random(1, 2).bits(3), Random(1, 3).bits(3));
  EXPECT_NE(Random(1, 2).bits(3), Random(2, 2).bits(3));
  EXPECT_NE(Random(1, 2).bits(3), Random(1, 2).bits(4));
}

} // namespace
