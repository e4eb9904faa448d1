// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/int_math.h"

#include <gtest/gtest.h>

using namespace attn::sim;

namespace {

uint64_t random64() {
  static uint64_t state = 11;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state ^ (state >> 29);
}

bool bit(uint64_t a, uint32_t i) { return (a >> i) & 1; }

TEST(IntMath, shiftsClamp) {
  EXPECT_EQ(shiftLeft(1, 31, 32), 0x80000000u);
  EXPECT_EQ(shiftLeft(1, 32, 32), 0u);
  EXPECT_EQ(shiftLeft(1, 4000000000u, 64), 0u);
  EXPECT_EQ(shiftLeft(0xFFFF, 4, 16), 0xFFF0u);
  EXPECT_EQ(shiftRight(0x80000000, 40, 32, true), 0xFFFFFFFFu);
  EXPECT_EQ(shiftRight(0x80000000, 40, 32, false), 0u);
  EXPECT_EQ(shiftRight(0x8000, 3, 16, true), 0xF000u);
  EXPECT_EQ(shiftRight(0x8000000000000000, 64, 64, true), ~uint64_t(0));
  EXPECT_EQ(funnelLeft(0x80000000, 1, 1, true), 3u);
  EXPECT_EQ(funnelLeft(0x12345678, 0x9ABCDEF0, 32, true), 0x12345678u);
  EXPECT_EQ(funnelLeft(0x12345678, 0x9ABCDEF0, 32, false), 0x9ABCDEF0u);
  EXPECT_EQ(funnelRight(0x12345678, 0x9ABCDEF0, 8, true), 0xF0123456u);
  EXPECT_EQ(funnelRight(0x12345678, 0x9ABCDEF0, 99, true), 0x9ABCDEF0u);
  EXPECT_EQ(funnelRight(0x12345678, 0x9ABCDEF0, 33, false), 0x091A2B3Cu);
}

TEST(IntMath, products) {
  EXPECT_EQ(mulHigh(0xFFFFFFFF, 0xFFFFFFFF, 32, false), 0xFFFFFFFEu);
  EXPECT_EQ(mulHigh(0xFFFFFFFF, 0xFFFFFFFF, 32, true), 0u);
  EXPECT_EQ(mulHigh(0x8000, 2, 16, true), 0xFFFFu);
  EXPECT_EQ(mulWide(0xFFFFFFFF, 2, 32, true), 0xFFFFFFFFFFFFFFFEu);
  EXPECT_EQ(mulWide(0xFFFF, 2, 16, true), 0xFFFFFFFEu);
  EXPECT_EQ(mulWide(0xFFFFFFFF, 2, 32, false), 0x1FFFFFFFEu);
  EXPECT_EQ(mulHigh64(~uint64_t(0), ~uint64_t(0), false), ~uint64_t(0) - 1);
  EXPECT_EQ(mulHigh64(~uint64_t(0), 5, true), ~uint64_t(0));
  EXPECT_EQ(mul24(0xFFFFFF, 0xFFFFFF, true, false), 1u);
  EXPECT_EQ(mul24(0xFFFFFF, 0xFFFFFF, false, true), 0xFFFFFE00u);
  EXPECT_EQ(addSatS32(INT32_MAX, 1), INT32_MAX);
  EXPECT_EQ(subSatS32(INT32_MIN, 1), INT32_MIN);
  EXPECT_EQ(madHighSatS32(INT32_MAX, INT32_MAX, INT32_MAX), INT32_MAX);
}

TEST(IntMath, carries) {
  bool carry = false;
  EXPECT_EQ(addCarry(0xFFFFFFFF, 1, 32, carry), 0u);
  EXPECT_TRUE(carry);
  EXPECT_EQ(addCarry(1, 2, 32, carry), 4u);
  EXPECT_FALSE(carry);
  EXPECT_EQ(subBorrow(0, 1, 64, carry), ~uint64_t(0));
  EXPECT_TRUE(carry);
  EXPECT_EQ(subBorrow(5, 3, 32, carry), 1u);
  EXPECT_FALSE(carry);
}

TEST(IntMath, division) {
  EXPECT_EQ(divide(0xFFFFFFF9, 2, 32, true), 0xFFFFFFFDu);
  EXPECT_EQ(remainder(0xFFFFFFF9, 2, 32, true), 0xFFFFFFFFu);
  EXPECT_EQ(divide(0x80000000, 0xFFFFFFFF, 32, true), 0x80000000u);
  EXPECT_EQ(remainder(0x80000000, 0xFFFFFFFF, 32, true), 0u);
  EXPECT_EQ(divide(0xFFFFFFF9, 2, 32, false), 0x7FFFFFFCu);
  EXPECT_EQ(divide(7, 0, 16, false), 0xFFFFu);
  EXPECT_EQ(remainder(7, 0, 64, true), 7u);
  EXPECT_EQ(sumAbsDiff(3, 5, 10, 32, false), 12u);
  EXPECT_EQ(sumAbsDiff(0xFFFFFFFF, 1, 0, 32, true), 2u);
}

/// The loops in the ISA's text.
uint64_t bfeByText(uint64_t a, uint32_t position, uint32_t length, int width,
                   bool isSigned) {
  uint32_t msb = uint32_t(width) - 1;
  uint32_t pos = position & 0xFF, len = length & 0xFF;
  bool sign =
      isSigned && len != 0 && bit(a, pos + len - 1 < msb ? pos + len - 1 : msb);
  uint64_t d = 0;
  for (uint32_t i = 0; i <= msb; ++i) {
    bool value = i < len && pos + i <= msb ? bit(a, pos + i) : sign;
    d |= uint64_t(value) << i;
  }
  return d;
}

uint64_t bfiByText(uint64_t a, uint64_t b, uint32_t position, uint32_t length,
                   int width) {
  uint32_t msb = uint32_t(width) - 1;
  uint32_t pos = position & 0xFF, len = length & 0xFF;
  uint64_t f = width == 64 ? b : b & 0xFFFFFFFF;
  for (uint32_t i = 0; i < len && pos + i <= msb; ++i) {
    f = (f & ~(uint64_t(1) << (pos + i))) | uint64_t(bit(a, i)) << (pos + i);
  }
  return f;
}

TEST(IntMath, bitFieldsAsInTheText) {
  for (int width : {32, 64}) {
    for (uint32_t position = 0; position < 70; ++position) {
      for (uint32_t length = 0; length < 70; ++length) {
        uint64_t a = random64(), b = random64();
        uint64_t narrow = width == 64 ? a : a & 0xFFFFFFFF;
        for (bool isSigned : {false, true}) {
          ASSERT_EQ(bitFieldExtract(narrow, position, length, width, isSigned),
                    bfeByText(narrow, position, length, width, isSigned))
              << position << " " << length;
        }
        ASSERT_EQ(bitFieldInsert(a, b, position, length, width),
                  bfiByText(a, b, position, length, width))
            << position << " " << length;
      }
    }
  }
  EXPECT_EQ(bitFieldExtract(0xF0, 4 + 256, 4, 32, false), 0xFu);
}

TEST(IntMath, masksAndExtensions) {
  EXPECT_EQ(bitMask(4, 8, true), 0xFF0u);
  EXPECT_EQ(bitMask(28, 8, true), 0xF0000000u);
  EXPECT_EQ(bitMask(32, 8, true), 0u);
  EXPECT_EQ(bitMask(32, 8, false), 0xFFu);
  EXPECT_EQ(bitMask(0, 32, true), 0xFFFFFFFFu);
  EXPECT_EQ(bitMask(0, 32, false), 0u);
  EXPECT_EQ(signZeroExtend(0x1FF, 8, true, true), 0xFFFFFFFFu);
  EXPECT_EQ(signZeroExtend(0x1FF, 8, false, true), 0xFFu);
  EXPECT_EQ(signZeroExtend(0x1FF, 32, true, true), 0x1FFu);
  EXPECT_EQ(signZeroExtend(0x1FF, 32, true, false), 0u);
  EXPECT_EQ(signZeroExtend(0x1FF, 0, true, true), 0u);
}

TEST(IntMath, counts) {
  EXPECT_EQ(popCount(0xF0F0), 8u);
  EXPECT_EQ(countLeadingZeros(0, 32), 32u);
  EXPECT_EQ(countLeadingZeros(1, 64), 63u);
  EXPECT_EQ(countLeadingZeros(0xFF00000001, 32), 31u);
  EXPECT_EQ(bitFind(0, 32, false, false), ~0u);
  EXPECT_EQ(bitFind(0x80, 32, false, false), 7u);
  EXPECT_EQ(bitFind(0xFFFFFF7F, 32, true, false), 7u);
  EXPECT_EQ(bitFind(0xFFFFFFFF, 32, true, false), ~0u);
  EXPECT_EQ(bitFind(0x80, 32, false, true), 24u);
  EXPECT_EQ(bitReverse(1, 32), 0x80000000u);
  EXPECT_EQ(bitReverse(0x8000000000000000, 64), 1u);
  EXPECT_EQ(findNthSet(0b101100, 0, 1), 2u);
  EXPECT_EQ(findNthSet(0b101100, 0, 3), 5u);
  EXPECT_EQ(findNthSet(0b101100, 5, -2), 3u);
  EXPECT_EQ(findNthSet(0b101100, 3, 0), 3u);
  EXPECT_EQ(findNthSet(0b101100, 4, 0), ~0u);
  EXPECT_EQ(findNthSet(0b101100, 0, 4), ~0u);
}

TEST(IntMath, lop3IsTheTable) {
  constexpr uint32_t a = 0xF0, b = 0xCC, c = 0xAA;
  for (uint32_t table = 0; table < 256; ++table) {
    EXPECT_EQ(lop3(a, b, c, table) & 0xFF, table);
  }
  EXPECT_EQ(lop3(1, 2, 4, (a | b | c) & 0xFF), 7u);
}

TEST(IntMath, prmt) {
  uint32_t a = 0x83828180, b = 0x07060504;
  EXPECT_EQ(permuteBytes(a, b, 0x7531), 0x07058381u);
  EXPECT_EQ(permuteBytes(a, b, 0x3210), a);
  EXPECT_EQ(permuteBytes(a, b, 0xC8B4), 0x00FFFF04u);
  EXPECT_EQ(permuteBytes(a, b, 1, PrmtMode::F4E), 0x04838281u);
  EXPECT_EQ(permuteBytes(a, b, 1, PrmtMode::B4E), 0x06078081u);
  EXPECT_EQ(permuteBytes(a, b, 2, PrmtMode::RC8), 0x82828282u);
  EXPECT_EQ(permuteBytes(a, b, 1, PrmtMode::ECL), 0x83828181u);
  EXPECT_EQ(permuteBytes(a, b, 1, PrmtMode::ECR), 0x81818180u);
  EXPECT_EQ(permuteBytes(a, b, 1, PrmtMode::RC16), 0x83828382u);
}

TEST(IntMath, dotProducts) {
  EXPECT_EQ(dp4a(0xFF010203, 0x02030405, 100, true, true),
            100u - 2 + 3 + 8 + 15);
  EXPECT_EQ(dp4a(0xFF000000, 0x02000000, 0, false, false), 510u);
  EXPECT_EQ(dp2a(0xFFFF0002, 0x01020304, 0, true, true, false), 2u * 4 - 3);
  EXPECT_EQ(dp2a(0xFFFF0002, 0x01020304, 0, true, true, true), 2u * 2 - 1);
}

TEST(IntMath, conversions) {
  EXPECT_EQ(convertInteger(0xFF, 8, true, 32, true, false), 0xFFFFFFFFu);
  EXPECT_EQ(convertInteger(0xFF, 8, false, 32, true, false), 0xFFu);
  EXPECT_EQ(convertInteger(0x12345, 32, false, 16, false, false), 0x2345u);
  EXPECT_EQ(convertInteger(0x12345, 32, false, 16, false, true), 0xFFFFu);
  EXPECT_EQ(convertInteger(0xFFFFFF00, 32, true, 8, true, true), 0x80u);
  EXPECT_EQ(convertInteger(0xFFFFFF00, 32, true, 8, false, true), 0u);
  EXPECT_EQ(convertInteger(~uint64_t(0), 64, false, 64, true, true),
            ~uint64_t(0) >> 1);
  EXPECT_EQ(convertInteger(~uint64_t(0), 64, true, 32, true, true),
            0xFFFFFFFFu);
}

} // namespace
