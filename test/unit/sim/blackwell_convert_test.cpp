// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt to and from pairs of floats of 4, 6 and 8 bits, against tables of their
// values.

#include "lanes_kernel.h"

#include "units/bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attn::sim;

namespace {

/// A format by the values of its codes without sign.
struct Table {
  const char *name;
  unsigned exponentBits;
  unsigned fractionBits;
  /// Codes that are finite; the last is MAX_NORM.
  unsigned finite;
  /// Bits that an element occupies in a pair.
  unsigned place;
  bool hasNaN;

  uint32_t sign() const { return 1u << (exponentBits + fractionBits); }
  double value(uint32_t code) const {
    unsigned exponent = code >> fractionBits;
    int bias = (1 << (exponentBits - 1)) - 1;
    double fraction =
        std::ldexp(code & ((1u << fractionBits) - 1), -int(fractionBits));
    return exponent == 0 ? std::ldexp(fraction, 1 - bias)
                         : std::ldexp(1 + fraction, int(exponent) - bias);
  }

  /// The nearest code, ties to even.
  uint32_t nearest(float value, bool relu) const {
    if (std::isnan(value)) {
      return hasNaN ? 2 * sign() - 1 - sign() : finite - 1;
    }
    if (relu && std::signbit(value)) {
      return 0;
    }
    // Values beyond MAX_NORM are far only from it.
    double most = this->value(finite - 1);
    double magnitude = std::min(std::fabs(double(value)), most);
    uint32_t best = 0;
    for (uint32_t code = 0; code < finite; ++code) {
      double now = std::fabs(this->value(code) - magnitude);
      double then = std::fabs(this->value(best) - magnitude);
      best = now < then || (now == then && code % 2 == 0) ? code : best;
    }
    return best | (std::signbit(value) ? sign() : 0);
  }
};

// e4m3's last code is its NaN; e5m2 has infinities and NaNs above 0x7b.
const Table kTables[] = {{"e4m3", 4, 3, 0x7f, 8, true},
                         {"e5m2", 5, 2, 0x7c, 8, true},
                         {"e2m3", 2, 3, 0x20, 8, false},
                         {"e3m2", 3, 2, 0x20, 8, false},
                         {"e2m1", 2, 1, 0x08, 4, false}};

float fromHalf(uint32_t bits, bool isBF16) {
  if (isBF16) {
    return f32FromBits(bits << 16);
  }
  Table half = {"f16", 5, 10, 0x7c00, 16, true};
  uint32_t code = bits & 0x7fff;
  float value = code > 0x7c00    ? NAN
                : code == 0x7c00 ? HUGE_VALF
                                 : float(half.value(code));
  return bits & 0x8000 ? -value : value;
}

/// Values around all boundaries of the format, and any bits.
float pick(LaneRandom &random, const Table &table) {
  uint32_t bits = random.next();
  switch (random.next() >> 30) {
  case 0:
    return f32FromBits(bits);
  case 1: { // halfway between two codes, or close to it
    uint32_t code = bits % table.finite;
    double middle = (table.value(code) + table.value(code + 1)) / 2;
    float value = float(middle);
    int beside = int(bits >> 8 & 3) - 1;
    value = beside == 0 ? value
                        : std::nextafter(value, beside > 0 ? HUGE_VALF : 0.0f);
    return bits >> 31 ? -value : value;
  }
  case 2: {
    float value = float(table.value(bits % table.finite));
    return bits >> 31 ? -value : value;
  }
  default:
    return std::ldexp(float(int32_t(random.next())), int(bits % 24) - 40);
  }
}

std::vector<LaneRow> pickRows(const Table &table) {
  LaneRandom random;
  std::vector<LaneRow> rows(1024);
  for (LaneRow &row : rows) {
    row[0] = toBits(pick(random, table));
    row[1] = toBits(pick(random, table));
  }
  return rows;
}

/// Moves a pair in %rs1, or %b1 if it has 8 bits, to %rd13.
std::string keepPair(const Table &table) {
  return table.place == 4 ? "cvt.u64.u8 %rd13, %b1;\n}"
                          : "cvt.u64.u16 %rd13, %rs1;\n}";
}
std::string pairOf(const Table &table) {
  return table.place == 4 ? "%b1" : "%rs1";
}

void checkFromFloats(const Table &table, const std::string &modifiers,
                     bool relu) {
  std::vector<LaneRow> rows = pickRows(table);
  runLanes(rows, "{\n.reg .b8 %b1;\ncvt.rn" + modifiers + "." + table.name +
                     "x2.f32 " + pairOf(table) + ", %r10, %r11;\n" +
                     keepPair(table));
  for (const LaneRow &row : rows) {
    uint32_t high = table.nearest(f32FromBits(uint32_t(row[0])), relu);
    uint32_t low = table.nearest(f32FromBits(uint32_t(row[1])), relu);
    ASSERT_EQ(row[3], high << table.place | low)
        << table.name << modifiers << " of " << std::hex << row[0] << " "
        << row[1];
  }
}

void checkFromHalves(const Table &table, const std::string &modifiers,
                     bool relu, bool isBF16) {
  std::vector<LaneRow> rows(1024);
  LaneRandom random;
  for (LaneRow &row : rows) {
    row[0] = random.next();
  }
  runLanes(rows,
           "{\n.reg .b8 %b1;\ncvt.rn" + modifiers + "." + table.name + "x2." +
               (isBF16 ? "bf16x2 " : "f16x2 ") + pairOf(table) + ", %r10;\n" +
               keepPair(table),
           "9.1");
  for (const LaneRow &row : rows) {
    uint32_t high =
        table.nearest(fromHalf(row[0] >> 16 & 0xffff, isBF16), relu);
    uint32_t low = table.nearest(fromHalf(row[0] & 0xffff, isBF16), relu);
    ASSERT_EQ(row[3], high << table.place | low)
        << table.name << modifiers << " of " << std::hex << row[0];
  }
}

TEST(NarrowFloats, areTheNearest) {
  for (const Table &table : kTables) {
    checkFromFloats(table, ".satfinite", false);
    checkFromFloats(table, ".satfinite.relu", true);
    checkFromFloats(table, ".relu.satfinite", true);
    for (bool isBF16 : {false, true}) {
      checkFromHalves(table, ".satfinite", false, isBF16);
      checkFromHalves(table, ".satfinite.relu", true, isBF16);
    }
  }
}

/// All pairs of codes, also with bits set above them.
TEST(NarrowFloats, widenExactly) {
  for (const Table &table : kTables) {
    for (bool relu : {false, true}) {
      std::vector<LaneRow> rows(1024);
      LaneRandom random;
      for (size_t i = 0; i < rows.size(); ++i) {
        rows[i][0] = table.place == 4 ? i % 256 : random.next() & 0xffff;
      }
      runLanes(rows, "{\n.reg .b8 %b1;\ncvt.u16.u32 %rs1, %r10;\n"
                     "cvt.u8.u32 %b1, %r10;\ncvt.rn" +
                         std::string(relu ? ".relu" : "") + ".f16x2." +
                         table.name + "x2 %r13, " + pairOf(table) +
                         ";\ncvt.u64.u32 %rd13, %r13;\n}");
      for (const LaneRow &row : rows) {
        for (unsigned i = 0; i < 2; ++i) {
          uint32_t bits = uint32_t(row[0] >> (i * table.place));
          uint32_t code = bits & (table.sign() - 1);
          bool negative = bits & table.sign();
          float got = fromHalf(row[3] >> (16 * i) & 0xffff, false);
          bool isInfinite = table.finite == 0x7c && code == 0x7c;
          if (code >= table.finite && !isInfinite) {
            ASSERT_EQ(row[3] >> (16 * i) & 0xffff, 0x7fffu);
            continue;
          }
          float value = isInfinite ? HUGE_VALF : float(table.value(code));
          value = negative ? (relu ? 0.0f : -value) : value;
          ASSERT_EQ(toBits(got), toBits(value))
              << table.name << " " << std::hex << row[0];
        }
      }
    }
  }
}

/// The power of two of a scale; 0: NaN.
uint32_t scaleOf(float value, bool up, bool satfinite) {
  if (std::isnan(value)) {
    return 0xff;
  }
  for (int exponent = -127; exponent <= 127; ++exponent) {
    double power = std::ldexp(1.0, exponent);
    double next = 2 * power;
    double magnitude = std::fabs(double(value));
    if (up ? magnitude <= power : magnitude < next) {
      return uint32_t(exponent + 127);
    }
  }
  return satfinite ? 0xfe : 0xff;
}

TEST(Scales, arePowersOfTwo) {
  const Table wide = {"", 8, 7, 0x7f80, 16, true};
  for (bool up : {false, true}) {
    for (bool satfinite : {false, true}) {
      const std::string cvt = std::string("cvt") + (up ? ".rp" : ".rz") +
                              (satfinite ? ".satfinite" : "") + ".ue8m0x2";
      std::vector<LaneRow> rows = pickRows(wide);
      rows[0] = {toBits(std::ldexp(1.0f, -127)), 0, 0, 0};
      rows[1] = {toBits(std::ldexp(1.0f, -127)) + 1, 1, 0, 0};
      rows[2] = {0x7f7fffff, 0x7f800000, 0, 0};
      rows[3] = {0x7f000000, 0x7f000001, 0, 0};
      std::vector<LaneRow> packed = rows;
      runLanes(rows, cvt + ".f32 %rs1, %r10, %r11;\ncvt.u64.u16 %rd13, %rs1;");
      for (const LaneRow &row : rows) {
        uint32_t high = scaleOf(f32FromBits(uint32_t(row[0])), up, satfinite);
        uint32_t low = scaleOf(f32FromBits(uint32_t(row[1])), up, satfinite);
        ASSERT_EQ(row[3], high << 8 | low)
            << cvt << " of " << std::hex << row[0] << " " << row[1];
      }
      runLanes(packed, cvt + ".bf16x2 %rs1, %r10;\ncvt.u64.u16 %rd13, %rs1;");
      for (const LaneRow &row : packed) {
        uint32_t high = scaleOf(fromHalf(row[0] >> 16, true), up, satfinite);
        uint32_t low = scaleOf(fromHalf(row[0] & 0xffff, true), up, satfinite);
        ASSERT_EQ(row[3], high << 8 | low)
            << cvt << " of " << std::hex << row[0];
      }
    }
  }
}

TEST(Scales, widenExactly) {
  std::vector<LaneRow> rows(256);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i][0] = i << 8 | (255 - i);
  }
  runLanes(rows, "cvt.u16.u32 %rs1, %r10;\ncvt.rn.bf16x2.ue8m0x2 %r13, %rs1;\n"
                 "cvt.u64.u32 %rd13, %r13;");
  for (const LaneRow &row : rows) {
    for (unsigned i = 0; i < 2; ++i) {
      uint32_t code = uint32_t(row[0] >> (8 * i)) & 0xff;
      uint32_t got = uint32_t(row[3] >> (16 * i)) & 0xffff;
      if (code == 0xff) {
        EXPECT_EQ(got, 0x7fffu);
      } else {
        EXPECT_EQ(fromHalf(got, true), std::ldexp(1.0f, int(code) - 127));
      }
    }
  }
}

/// The code below |value|, or the next: where `bits` random ones and as many of
/// the distance to the next, in units of its step, have a carry.
uint32_t randomly(const Table &table, float value, uint32_t random,
                  unsigned bits, bool satfinite, bool relu) {
  if (std::isnan(value)) {
    return table.nearest(value, relu);
  }
  if (relu && std::signbit(value)) {
    return 0;
  }
  double magnitude = std::fabs(double(value));
  uint32_t code = 0;
  for (uint32_t step = 1u << 15; step > 0; step /= 2) {
    uint32_t next = code + step;
    code = next <= table.finite && table.value(next) <= magnitude ? next : code;
  }
  if (code < table.finite) {
    double step = table.value(code + 1) - table.value(code);
    double above = (magnitude - table.value(code)) / step;
    code += (uint32_t(std::ldexp(above, int(bits))) + random) >> bits;
  }
  // The first code that is not finite is an infinity, if the format has one.
  code = code == table.finite && satfinite ? code - 1 : code;
  return code | (std::signbit(value) ? table.sign() : 0);
}

TEST(RandomRounding, carriesIntoHalves) {
  const Table halves[] = {{"f16", 5, 10, 0x7c00, 16, true},
                          {"bf16", 8, 7, 0x7f80, 16, true}};
  for (const Table &table : halves) {
    for (const char *range :
         {"", ".relu", ".satfinite", ".relu.satfinite", ".satfinite.relu"}) {
      bool relu = std::strstr(range, "relu");
      bool satfinite = std::strstr(range, "satfinite");
      LaneRandom random;
      std::vector<LaneRow> rows = pickRows(table);
      for (LaneRow &row : rows) {
        row[2] = random.next();
      }
      rows[0] = {toBits(65519.96f), toBits(-65519.96f), 0x1fff1fff, 0};
      rows[1] = {toBits(65519.96f), toBits(65520.0f), 0x0fff0fff, 0};
      rows[2] = {0x7f7fffff, 0xff7fffff, 0x00010000, 0};
      runLanes(rows, std::string("cvt.rs") + range + "." + table.name +
                         "x2.f32 %r13, %r10, %r11, %r12;\n"
                         "cvt.u64.u32 %rd13, %r13;");
      unsigned bits = 23 - table.fractionBits;
      uint32_t mask = (1u << bits) - 1;
      for (const LaneRow &row : rows) {
        uint32_t high = randomly(table, f32FromBits(uint32_t(row[0])),
                                 row[2] >> 16 & mask, bits, satfinite, relu);
        uint32_t low = randomly(table, f32FromBits(uint32_t(row[1])),
                                row[2] & mask, bits, satfinite, relu);
        ASSERT_EQ(row[3], high << 16 | low)
            << table.name << range << " of " << std::hex << row[0] << " "
            << row[1] << " by " << row[2];
      }
    }
  }
}

/// The elements of a vector of four, of which two are constants.
TEST(RandomRounding, carriesIntoFour) {
  for (const Table &table : kTables) {
    for (const char *range :
         {".satfinite", ".relu.satfinite", ".satfinite.relu"}) {
      bool relu = std::strstr(range, "relu");
      LaneRandom random;
      std::vector<LaneRow> rows = pickRows(table);
      for (LaneRow &row : rows) {
        row[2] = random.next();
      }
      std::string to = table.place == 4 ? "%rs1" : "%r13";
      runLanes(rows, std::string("cvt.rs") + range + "." + table.name +
                         "x4.f32 " + to +
                         ", {%r10, 0f3FA66666, %r11, 0fBFA66666}, %r12;\n"
                         "cvt.u64.u" +
                         (table.place == 4 ? "16" : "32") + " %rd13, " + to +
                         ";");
      for (const LaneRow &row : rows) {
        float values[] = {-1.3f, f32FromBits(uint32_t(row[1])), 1.3f,
                          f32FromBits(uint32_t(row[0]))};
        uint32_t want = 0;
        for (unsigned i = 0; i < 4; ++i) {
          want |= randomly(table, values[i], row[2] >> (8 * i) & 0xff, 8,
                           /*satfinite=*/true, relu)
                  << (i * table.place);
        }
        ASSERT_EQ(row[3], want) << table.name << range << " of " << std::hex
                                << row[0] << " " << row[1] << " by " << row[2];
      }
    }
  }
}

TEST(RandomRounding, refusesWhatIsNoForm) {
  EXPECT_EQ(refusal("cvt.rs.satfinite.e4m3x4.f32 %r1, {%r2, %r3}, %r6;"),
            "expected a vector of 4 registers");
  EXPECT_EQ(refusal("cvt.rs.e4m3x4.f32 %r1, {%r2, %r3, %r4, %r5}, %r6;"),
            "unsupported form 'cvt.rs.e4m3x4.f32'");
  EXPECT_EQ(
      refusal("cvt.rs.satfinite.e2m1x4.f32 %r1, {%r2, %r3, %r4, %r5}, %r6;"),
      "expected a register of another width than '%r1'");
  for (const char *target : {"sm_90a", "sm_100f", "sm_103"}) {
    EXPECT_EQ(refusal("cvt.rs.f16x2.f32 %r1, %r2, %r3, %r4;", target),
              "expected '.target' sm_100a, sm_103a for 'cvt.rs.f16x2.f32', "
              "got " +
                  std::string(target));
  }
}

TEST(NarrowFloats, refuseWhatIsNoForm) {
  EXPECT_EQ(refusal("cvt.rn.satfinite.s2f6x2.f32 %rs1, %r2, %r3;"),
            "unsupported form 'cvt.rn.satfinite.s2f6x2.f32'");
  EXPECT_EQ(refusal("cvt.rn.e2m1x2.f32 %rs1, %r1, %r2;"),
            "unsupported form 'cvt.rn.e2m1x2.f32'");
  EXPECT_EQ(refusal("cvt.rn.satfinite.e2m1x2.f32 %rs1, %r1, %r2;"),
            "expected a register of another width than '%rs1'");
  EXPECT_EQ(refusal("cvt.rn.ue8m0x2.f32 %rs1, %r1, %r2;"),
            "unsupported form 'cvt.rn.ue8m0x2.f32'");
  EXPECT_EQ(refusal("cvt.rna.relu.tf32.f32 %r1, %r2;"),
            "unsupported form 'cvt.rna.relu.tf32.f32'");
  for (const char *target : {"sm_90a", "sm_100", "sm_103"}) {
    EXPECT_EQ(refusal("cvt.rn.satfinite.e2m3x2.f32 %rs1, %r1, %r2;", target),
              "expected '.target' sm_100f, sm_100a, sm_103f, sm_103a for "
              "'cvt.rn.satfinite.e2m3x2.f32', got " +
                  std::string(target));
  }
  EXPECT_NE(refusal("cvt.rn.satfinite.tf32.f32 %r1, %r2;", "sm_90a"), "");
  EXPECT_EQ(refusal("cvt.rn.satfinite.tf32.f32 %r1, %r2;", "sm_100"), "");
}

/// Registers of 8 bits: in and out of memory, and packed.
TEST(Bytes, arePackedAndStored) {
  std::vector<LaneRow> rows(64);
  LaneRandom random;
  for (LaneRow &row : rows) {
    row[0] = random.next();
  }
  runLanes(rows, R"({
.reg .b8 %b<4>;
.reg .b8 %s, %l;
mov.b32 {%b0, %b1, %b2, %b3}, %r10;
mov.b32 %r13, {%b3, %b2, %b1, %b0};
mov.b16 %rs1, {%b0, %b3};
mov.b16 {%s, _}, %rs1;
st.global.b8 [%rd2+16], %s;
st.global.v2.b8 [%rd2+18], {%b2, %b1};
ld.global.s8 %l, [%rd2+18];
cvt.s32.s8 %r14, %l;
mov.b64 %rd13, {%r13, %r14};
})");
  for (const LaneRow &row : rows) {
    auto word = uint32_t(row[0]);
    EXPECT_EQ(uint32_t(row[3]), __builtin_bswap32(word));
    EXPECT_EQ(int32_t(row[3] >> 32), int8_t(word >> 16));
    EXPECT_EQ(row[2], (word & 0xff) | uint64_t(word >> 16 & 0xff) << 16 |
                          uint64_t(word >> 8 & 0xff) << 24);
  }
}

} // namespace
