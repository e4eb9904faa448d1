// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 arithmetic introduced with sm_100, against the host's own, in its
// rounding modes.

#include "lanes_kernel.h"

#include "units/bits.h"

#include <cfenv>
#include <cmath>

using namespace attn::sim;

namespace {

constexpr uint32_t kNaN = 0x7fffffff;

struct Mode {
  const char *name;
  int rounding;
};
constexpr Mode kModes[] = {{".rn", FE_TONEAREST},
                           {".rz", FE_TOWARDZERO},
                           {".rm", FE_DOWNWARD},
                           {".rp", FE_UPWARD}};

float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}

/// Whether a * b + c, which rounded to the smallest normal number, would be
/// smaller with an unbounded exponent range. `sign` is that of the result.
bool wasTiny(float a, float b, float c, int rounding, double sign) {
  double least = std::ldexp(1.0, -126);
  double place = std::ldexp(1.0, -150);
  bool away = rounding == (sign > 0 ? FE_UPWARD : FE_DOWNWARD);
  double limit = rounding == FE_TONEAREST ? least - place / 2
                 : away                   ? least - place
                                          : least;
  // Products of two f32 are exact in double, and so is the other summand here:
  // one rounding does not change the sign.
  double above = sign * (double(a) * b) + (sign * double(c) - limit);
  return away ? above <= 0 : above < 0;
}

/// a * b + c in a rounding mode of the host. .ftz flushes results that are
/// subnormal after rounding to 24 bits.
uint32_t hostFma(float a, float b, float c, int rounding, bool ftz) {
  if (ftz) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  volatile float x = a;
  volatile float y = b;
  volatile float z = c;
  std::fesetround(rounding);
  volatile float result = std::fma(x, y, z);
  std::fesetround(FE_TONEAREST);
  if (std::isnan(result)) {
    return kNaN;
  }
  double sign = std::signbit(result) ? -1 : 1;
  bool isLeast = (toBits(float(result)) & 0x7fffffff) == 0x00800000;
  bool flushes = isLeast && wasTiny(a, b, c, rounding, sign);
  return toBits(!ftz      ? float(result)
                : flushes ? std::copysign(0.0f, float(result))
                          : flush(result));
}

/// The same for a * b and for a + b, whose zeros have other signs.
uint32_t hostMul(float a, float b, int rounding, bool ftz) {
  float fa = ftz ? flush(a) : a;
  float fb = ftz ? flush(b) : b;
  bool negative = std::signbit(fa) != std::signbit(fb);
  return hostFma(a, b, negative ? -0.0f : 0.0f, rounding, ftz);
}
uint32_t hostAdd(float a, float b, int rounding, bool ftz) {
  return hostFma(a, 1.0f, b, rounding, ftz);
}

/// Floats of all kinds, many of which lie near each other or near the smallest
/// normal number.
float pick(LaneRandom &random) {
  static const uint32_t kinds[] = {
      0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffa00000,
      1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
      0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x00800001};
  uint32_t bits = random.next();
  switch (random.next() >> 29) {
  case 0:
    return f32FromBits(bits);
  case 1:
    return f32FromBits(kinds[bits % (sizeof(kinds) / 4)]);
  case 2:
    return f32FromBits((bits & 0x81ffffff) | 0x1f000000);
  case 3:
    return f32FromBits(bits & 0x80ffffff);
  default:
    return f32FromBits((bits & 0x80ffffff) | 0x3f000000);
  }
}

std::vector<LaneRow> pickRows(unsigned seed) {
  LaneRandom random;
  for (unsigned i = 0; i < seed; ++i) {
    random.next();
  }
  std::vector<LaneRow> rows(1024);
  for (LaneRow &row : rows) {
    for (unsigned i = 0; i < 3; ++i) {
      row[i] = uint64_t(toBits(pick(random))) << 32 | toBits(pick(random));
    }
  }
  return rows;
}

float half(uint64_t pair, unsigned index) {
  return f32FromBits(uint32_t(pair >> (32 * index)));
}

/// The expected value of both halves of rows[..][3].
template <typename Model>
void expectPairs(const std::vector<LaneRow> &rows, const std::string &what,
                 Model model) {
  for (const LaneRow &row : rows) {
    for (unsigned i = 0; i < 2; ++i) {
      ASSERT_EQ(toBits(half(row[3], i)),
                model(half(row[0], i), half(row[1], i), half(row[2], i)))
          << what << " of " << std::hex << toBits(half(row[0], i)) << " "
          << toBits(half(row[1], i)) << " " << toBits(half(row[2], i));
    }
  }
}

TEST(PackedFloats, areTwoFloatsInEveryMode) {
  for (const Mode &mode : kModes) {
    for (bool ftz : {false, true}) {
      const std::string end =
          std::string(mode.name) + (ftz ? ".ftz" : "") + ".f32x2 %rd13, ";
      auto check = [&](const char *op, const char *operands, auto model) {
        for (unsigned seed = 0; seed < 4; ++seed) {
          std::vector<LaneRow> rows = pickRows(seed);
          runLanes(rows, op + end + operands);
          expectPairs(rows, op + end, model);
        }
      };
      check("add", "%rd10, %rd11;", [&](float a, float b, float) {
        return hostAdd(a, b, mode.rounding, ftz);
      });
      check("sub", "%rd10, %rd11;", [&](float a, float b, float) {
        return hostAdd(a, -b, mode.rounding, ftz);
      });
      check("mul", "%rd10, %rd11;", [&](float a, float b, float) {
        return hostMul(a, b, mode.rounding, ftz);
      });
      check("fma", "%rd10, %rd11, %rd12;", [&](float a, float b, float c) {
        return hostFma(a, b, c, mode.rounding, ftz);
      });
    }
  }
}

TEST(PackedFloats, roundToNearestWhereNothingIsSaid) {
  std::vector<LaneRow> rows = pickRows(9);
  runLanes(rows, "mul.f32x2 %rd13, %rd10, %rd11;");
  expectPairs(rows, "mul.f32x2", [](float a, float b, float) {
    return hostMul(a, b, FE_TONEAREST, false);
  });
}

TEST(PackedFloats, keepLanesThatDoNotExecute) {
  std::vector<LaneRow> rows = pickRows(3);
  runLanes(rows, "mov.b64 %rd13, 5;\nsetp.lt.u32 %p1, %r0, 7;\n"
                 "@%p1 add.f32x2 %rd13, %rd10, %rd11;");
  for (size_t i = 7; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][3], 5u);
  }
}

TEST(PackedFloats, refuseWhatIsNoForm) {
  EXPECT_EQ(refusal("add.sat.f32x2 %rd1, %rd2, %rd3;"),
            "unsupported form 'add.sat.f32x2'");
  EXPECT_EQ(refusal("fma.f32x2 %rd1, %rd2, %rd3, %rd4;"),
            "unsupported form 'fma.f32x2'");
  EXPECT_EQ(refusal("max.f32x2 %rd1, %rd2, %rd3;"),
            "unsupported form 'max.f32x2'");
  EXPECT_EQ(refusal("add.f32x2 %r1, %rd2, %rd3;"),
            "expected a register of another width than '%r1'");
  EXPECT_EQ(refusal("add.rn.f32x2 %rd1, %rd2, %rd3;", "sm_90a", "8.0"),
            "expected '.target' sm_100, sm_100f, sm_100a, sm_103, sm_103f, "
            "sm_103a for 'add.rn.f32x2', got sm_90a");
}

/// The ISA's rule for one more operand of max (of min, negated).
float fold(float d, float x, bool max, bool nan) {
  bool both = std::isnan(d) && std::isnan(x);
  if (both || (nan && (std::isnan(d) || std::isnan(x)))) {
    return f32FromBits(kNaN);
  }
  if (std::isnan(d) || std::isnan(x)) {
    return std::isnan(d) ? x : d;
  }
  if (d == 0 && x == 0) {
    return std::signbit(d) == max ? x : d;
  }
  return (d > x) == max ? d : x;
}

TEST(MinMax, takesThreeOperands) {
  for (bool max : {false, true}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const bool ftz = bits & 1;
      const bool nan = bits & 2;
      const bool abs = bits & 4;
      const std::string op = std::string(max ? "max" : "min") +
                             (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                             (abs ? ".abs" : "") + ".f32 ";
      std::vector<LaneRow> rows = pickRows(bits);
      runLanes(rows, op + "%r13, %r10, %r11, %r12;\ncvt.u64.u32 %rd13, %r13;");
      for (const LaneRow &row : rows) {
        float values[3];
        for (unsigned i = 0; i < 3; ++i) {
          float value = half(row[i], 0);
          value = abs ? std::fabs(value) : value;
          values[i] = ftz ? flush(value) : value;
        }
        float expected = fold(values[0], values[1], max, nan);
        expected = fold(expected, values[2], max, nan);
        ASSERT_EQ(row[3], std::isnan(expected) ? kNaN : toBits(expected))
            << op << std::hex << row[0] << " " << row[1] << " " << row[2];
      }
    }
  }
}

TEST(MinMax, takesImmediates) {
  std::vector<LaneRow> rows(1);
  rows[0][0] = 0x40000000;
  runLanes(rows, "max.f32 %r13, %r10, 0f3f800000, 0f40400000;\n"
                 "cvt.u64.u32 %rd13, %r13;");
  EXPECT_EQ(rows[0][3], 0x40400000u);
}

TEST(MinMax, refusesWhatIsNoForm) {
  EXPECT_EQ(refusal("max.xorsign.abs.f32 %r1, %r2, %r3, %r4;"),
            "expected two operands with .xorsign");
  EXPECT_EQ(refusal("max.abs.f32 %r1, %r2, %r3;"),
            "expected .xorsign and .abs together of two operands");
  EXPECT_EQ(refusal("max.xorsign.f32 %r1, %r2, %r3;"),
            "expected .xorsign and .abs together of two operands");
  EXPECT_EQ(refusal("max.f16x2 %r1, %r2, %r3, %r4;"),
            "expected 3 operands, got 4");
  EXPECT_EQ(refusal("min.f32 %r1, %r2, %r3, %r4;", "sm_90a", "8.0"),
            "expected '.target' sm_100, sm_100f, sm_100a, sm_103, sm_103f, "
            "sm_103a for 'min.f32', got sm_90a");
}

/// The f32 of an f16 or bf16.
float widened(uint32_t bits, bool isBF16) {
  if (isBF16) {
    return f32FromBits(bits << 16);
  }
  int exponent = int(bits >> 10 & 31);
  float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return bits & 0x3ff ? f32FromBits(kNaN) : sign * HUGE_VALF;
  }
  float significand = float((bits & 0x3ff) | (exponent ? 0x400 : 0));
  return sign * std::ldexp(significand, (exponent ? exponent : 1) - 25);
}

uint32_t saturated(uint32_t bits) {
  float value = f32FromBits(bits);
  return toBits(value > 0 ? std::fmin(value, 1.0f) : 0.0f);
}

TEST(MixedFloats, widenTheirFirstOperands) {
  for (const Mode &mode : kModes) {
    for (bool isBF16 : {false, true}) {
      for (bool sat : {false, true}) {
        const std::string end = std::string(mode.name) + (sat ? ".sat" : "") +
                                ".f32" + (isBF16 ? ".bf16" : ".f16") + " %r13";
        const std::string start = "cvt.u16.u32 %rs1, %r10;\n"
                                  "cvt.u16.u32 %rs2, %r11;\n";
        auto check = [&](const std::string &op, auto model) {
          std::vector<LaneRow> rows = pickRows(11);
          runLanes(rows, start + op + "\ncvt.u64.u32 %rd13, %r13;");
          for (const LaneRow &row : rows) {
            uint32_t expected =
                model(widened(row[0] & 0xffff, isBF16),
                      widened(row[1] & 0xffff, isBF16), half(row[2], 0));
            ASSERT_EQ(row[3], sat ? saturated(expected) : expected)
                << op << std::hex << row[0] << " " << row[1] << " " << row[2];
          }
        };
        check("add" + end + ", %rs1, %r12;", [&](float a, float, float c) {
          return hostAdd(a, c, mode.rounding, false);
        });
        check("sub" + end + ", %rs1, %r12;", [&](float a, float, float c) {
          return hostAdd(a, -c, mode.rounding, false);
        });
        check("fma" + end + ", %rs1, %rs2, %r12;",
              [&](float a, float b, float c) {
                return hostFma(a, b, c, mode.rounding, false);
              });
      }
    }
  }
}

TEST(MixedFloats, refuseWhatIsNoForm) {
  EXPECT_EQ(refusal("mul.f32.f16 %r1, %rs1, %r2;"),
            "unsupported form 'mul.f32.f16'");
  EXPECT_EQ(refusal("add.ftz.f32.f16 %r1, %rs1, %r2;"),
            "unsupported form 'add.ftz.f32.f16'");
}

TEST(Redux, reducesFloats) {
  for (bool max : {false, true}) {
    for (unsigned bits = 0; bits < 4; ++bits) {
      const bool abs = bits & 1;
      const bool nan = bits & 2;
      const std::string op = std::string("redux.sync.") +
                             (max ? "max" : "min") + (abs ? ".abs" : "") +
                             (nan ? ".NaN" : "") + ".f32 %r13, %r10, -1;";
      std::vector<LaneRow> rows = pickRows(bits);
      for (size_t i = 0; i < rows.size(); ++i) {
        // NaNs in every other warp, and nothing else in the first.
        bool isNaN = std::isnan(half(rows[i][0], 0));
        rows[i][0] = i < 32                ? 0xffc00000
                     : isNaN && i / 32 % 2 ? 0x3f800000
                                           : rows[i][0];
      }
      runLanes(rows, op + "\ncvt.u64.u32 %rd13, %r13;");
      for (size_t i = 0; i < rows.size(); i += 32) {
        float expected = half(rows[i][0], 0);
        expected = abs ? std::fabs(expected) : expected;
        for (size_t j = i; j < i + 32; ++j) {
          float value = half(rows[j][0], 0);
          expected = fold(expected, abs ? std::fabs(value) : value, max, nan);
        }
        for (size_t j = i; j < i + 32; ++j) {
          ASSERT_EQ(rows[j][3], std::isnan(expected) ? kNaN : toBits(expected))
              << op << " of warp " << i / 32;
        }
      }
    }
  }
}

TEST(Redux, refusesFloatsElsewhere) {
  EXPECT_EQ(refusal("redux.sync.add.f32 %r1, %r2, -1;"),
            "unsupported form 'redux.sync.add.f32'");
  for (const char *target : {"sm_100", "sm_103"}) {
    EXPECT_EQ(refusal("redux.sync.max.f32 %r1, %r2, -1;", target),
              "expected '.target' sm_100f, sm_100a, sm_103f, sm_103a for "
              "'redux.sync.max.f32', got " +
                  std::string(target));
  }
}

} // namespace
