// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/f32_math.h"
#include "units/wgmma.h"
#include "units/wgmma_tile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace attn::sim;

namespace {

uint32_t random32() {
  static uint64_t state = 5;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return uint32_t(state >> 32);
}

const FloatFormat &formatOf(MatrixType type) {
  static const FloatFormat kFormats[] = {kF16, kBF16, kTF32, kE4M3, kE5M2};
  return kFormats[int(type)];
}

/// The value of element i of a row, by the generic decoder.
double valueAt(MatrixType type, const uint8_t *row, uint32_t i) {
  uint32_t size = matrixTypeBytes(type);
  uint32_t bits = 0;
  std::memcpy(&bits, row + i * size, size);
  if (type == MatrixType::S8) {
    return double(int8_t(bits));
  }
  if (type == MatrixType::U8) {
    return bits;
  }
  return fromFormat(type == MatrixType::TF32 ? bits >> 13 : bits,
                    formatOf(type));
}

void setElement(MatrixType type, uint8_t *row, uint32_t i, double value) {
  uint32_t size = matrixTypeBytes(type);
  uint32_t bits = type == MatrixType::S8 || type == MatrixType::U8
                      ? uint32_t(int32_t(value))
                      : roundToFormat(value, formatOf(type));
  bits = type == MatrixType::TF32 ? bits << 13 : bits;
  std::memcpy(row + i * size, &bits, size);
}

/// One instruction's operands and registers.
class Problem {
public:
  explicit Problem(const WgmmaSpec &spec)
      : spec(spec), a(64 * 32), b(spec.n * 32), d(64 * spec.n) {}

  template <typename Make> void fill(Make make) {
    for (uint32_t k = 0; k < wgmmaK(spec.a); ++k) {
      for (uint32_t row = 0; row < 64; ++row) {
        setElement(spec.a, &a[row * 32], k, make());
      }
      for (uint32_t column = 0; column < spec.n; ++column) {
        setElement(spec.b, &b[column * 32], k, make());
      }
    }
  }

  /// Runs on `d`, row-major 64 x n accumulator bits.
  void run() {
    uint32_t count = accumulatorRegisters(spec.d, spec.n);
    std::vector<uint32_t> storage(4 * count * kWarpSize);
    std::vector<uint32_t *> pointers(4 * count);
    uint32_t *const *regs[4];
    for (uint32_t i = 0; i < 4 * count; ++i) {
      pointers[i] = &storage[i * kWarpSize];
    }
    for (uint32_t warp = 0; warp < 4; ++warp) {
      regs[warp] = &pointers[warp * count];
    }
    bool half = spec.d == AccumulatorType::F16;
    eachRegister(count, [&](uint32_t warp, uint32_t i, uint32_t lane,
                            uint32_t part, uint32_t &cell) {
      uint32_t shift = half ? 16 * part : 0;
      regs[warp][i][lane] |= cell << shift;
    });
    wgmma(spec, a.data(), b.data(), regs);
    eachRegister(count, [&](uint32_t warp, uint32_t i, uint32_t lane,
                            uint32_t part, uint32_t &cell) {
      uint32_t word = regs[warp][i][lane];
      cell = half ? (word >> (16 * part)) & 0xFFFF : word;
    });
  }

  double exact(uint32_t row, uint32_t column) const {
    double sum = 0;
    for (uint32_t k = 0; k < wgmmaK(spec.a); ++k) {
      sum += valueAt(spec.a, &a[row * 32], k) *
             valueAt(spec.b, &b[column * 32], k);
    }
    return spec.negateA != spec.negateB ? -sum : sum;
  }

  WgmmaSpec spec;
  std::vector<uint8_t> a, b;
  std::vector<uint32_t> d;

private:
  /// Visits (warp, register, lane, half) with the cell of D that it holds, by
  /// the figures of the ISA: row groups of 8, columns in pairs.
  template <typename Visit> void eachRegister(uint32_t count, Visit visit) {
    bool half = spec.d == AccumulatorType::F16;
    for (uint32_t warp = 0; warp < 4; ++warp) {
      for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
          for (uint32_t part = 0; part < (half ? 2u : 1u); ++part) {
            uint32_t item = half ? 2 * i + part : i;
            uint32_t row = warp * 16 + lane / 4 + (item % 4 >= 2 ? 8 : 0);
            uint32_t column = item / 4 * 8 + lane % 4 * 2 + item % 2;
            visit(warp, i, lane, part, d[row * spec.n + column]);
          }
        }
      }
    }
  }
};

constexpr MatrixType kFloatTypes[] = {MatrixType::F16, MatrixType::BF16,
                                      MatrixType::TF32, MatrixType::E4M3,
                                      MatrixType::E5M2};
constexpr WgmmaArithmetic kArithmetics[] = {
    WgmmaArithmetic::Fast, WgmmaArithmetic::Hardware, WgmmaArithmetic::Exact};

uint32_t accumulatorBits(AccumulatorType type, double value) {
  return type == AccumulatorType::F32   ? toBits(float(value))
         : type == AccumulatorType::F16 ? roundToFormat(value, kF16)
                                        : uint32_t(int32_t(value));
}

double smallInteger() { return double(random32() % 9) - 4; }

TEST(Wgmma, smallIntegersAreExactInEveryTypeSizeAndMode) {
  for (MatrixType type : kFloatTypes) {
    for (uint32_t n = 8; n <= 256; n += 8) {
      for (WgmmaArithmetic arithmetic : kArithmetics) {
        WgmmaSpec spec;
        spec.a = spec.b = type;
        spec.n = n;
        spec.arithmetic = arithmetic;
        spec.accumulate = n % 16 == 0;
        spec.negateA = n % 24 == 0;
        spec.negateB = n % 40 == 0;
        bool mayBeHalf = type != MatrixType::BF16 && type != MatrixType::TF32;
        spec.d = mayBeHalf && n % 32 == 8 ? AccumulatorType::F16
                                          : AccumulatorType::F32;
        ASSERT_EQ(checkWgmma(spec), nullptr);
        Problem problem(spec);
        problem.fill(smallInteger);
        for (uint32_t &cell : problem.d) {
          cell = accumulatorBits(spec.d, 7);
        }
        problem.run();
        for (uint32_t row = 0; row < 64; ++row) {
          for (uint32_t column = 0; column < n; ++column) {
            double want =
                problem.exact(row, column) + (spec.accumulate ? 7 : 0);
            ASSERT_EQ(problem.d[row * n + column],
                      accumulatorBits(spec.d, want + 0.0))
                << int(type) << " n " << n << " mode " << int(arithmetic);
          }
        }
      }
    }
  }
}

TEST(Wgmma, integers) {
  for (MatrixType left : {MatrixType::S8, MatrixType::U8}) {
    for (MatrixType right : {MatrixType::S8, MatrixType::U8}) {
      WgmmaSpec spec;
      spec.a = left;
      spec.b = right;
      spec.d = AccumulatorType::S32;
      spec.n = 24;
      Problem problem(spec);
      for (uint8_t &byte : problem.a) {
        byte = uint8_t(random32());
      }
      for (uint8_t &byte : problem.b) {
        byte = uint8_t(random32());
      }
      for (uint32_t &cell : problem.d) {
        cell = 0x7FFFFFFF;
      }
      Problem clamped = problem;
      clamped.spec.saturate = true;
      problem.run();
      clamped.run();
      for (uint32_t i = 0; i < 64 * spec.n; ++i) {
        auto sum = int64_t(problem.exact(i / spec.n, i % spec.n)) + INT32_MAX;
        ASSERT_EQ(problem.d[i], uint32_t(sum));
        ASSERT_EQ(clamped.d[i], uint32_t(std::min<int64_t>(sum, INT32_MAX)));
      }
    }
  }
}

/// A value as significand * 2^(exponent - fraction bits), not normalized.
struct Parts {
  int64_t significand;
  int exponent;
};
Parts partsOf(uint32_t bits, const FloatFormat &format) {
  uint32_t magnitude = bits & (format.signBit() - 1);
  int field = int(magnitude >> format.fractionBits);
  auto significand = int64_t(magnitude & ((1u << format.fractionBits) - 1));
  significand += field ? int64_t(1) << format.fractionBits : 0;
  return {bits & format.signBit() ? -significand : significand,
          (field ? field : 1) - format.bias()};
}

/// Integer shift toward zero, by any distance.
int64_t shifted(int64_t value, int left) {
  int64_t magnitude = value < 0 ? -value : value;
  magnitude = left >= 0    ? magnitude << left
              : left > -63 ? magnitude >> -left
                           : 0;
  return value < 0 ? -magnitude : magnitude;
}

/// The documented model of one element, in integers: finite operands, F
/// fraction bits, f32 result with `kept` significant bits after the first.
uint32_t modelDot(MatrixType type, const uint8_t *a, const uint8_t *b,
                  uint32_t c, int fraction, int kept) {
  const FloatFormat &format = formatOf(type);
  uint32_t size = matrixTypeBytes(type);
  std::vector<Parts> terms;
  for (uint32_t i = 0; i < wgmmaK(type); ++i) {
    uint32_t x = 0, y = 0;
    std::memcpy(&x, a + i * size, size);
    std::memcpy(&y, b + i * size, size);
    int drop = type == MatrixType::TF32 ? 13 : 0;
    Parts left = partsOf(x >> drop, format), right = partsOf(y >> drop, format);
    terms.push_back(
        {left.significand * right.significand, left.exponent + right.exponent});
  }
  int largest = -126;
  Parts last = partsOf(c, kF32);
  for (const Parts &term : terms) {
    largest = term.significand ? std::max(largest, term.exponent) : largest;
  }
  largest = last.significand ? std::max(largest, last.exponent) : largest;
  int64_t sum =
      shifted(last.significand, fraction - 23 + last.exponent - largest);
  for (const Parts &term : terms) {
    sum += shifted(term.significand, fraction - 2 * format.fractionBits +
                                         term.exponent - largest);
  }
  // Truncated to the significant bits, no finer than 2^(-126-kept).
  auto magnitude = uint64_t(sum < 0 ? -sum : sum);
  int unit = largest - fraction;
  while (magnitude >> (kept + 1) || (magnitude && unit < -126 - kept)) {
    magnitude >>= 1;
    ++unit;
  }
  double result = std::ldexp(double(magnitude), unit);
  return toBits(float(sum < 0 && magnitude ? -result : result));
}

/// Values over many magnitudes; `spread` in powers of two, some zeros.
double spreadValue(int spread) {
  uint32_t bits = random32();
  if (bits % 11 == 0) {
    return 0;
  }
  double fraction = 1 + double(bits >> 8) / 16777216.0;
  int exponent = int(bits % uint32_t(2 * spread + 1)) - spread;
  return std::ldexp(bits & 128 ? -fraction : fraction, exponent);
}

void checkHardware(MatrixType type, int spread, int shift, double cScale) {
  WgmmaSpec spec;
  spec.a = spec.b = type;
  spec.n = 64;
  Problem problem(spec);
  problem.fill([&] { return std::ldexp(spreadValue(spread), shift); });
  std::vector<uint32_t> c(problem.d.size());
  for (uint32_t i = 0; i < c.size(); ++i) {
    c[i] = problem.d[i] = toBits(float(spreadValue(spread) * cScale));
  }
  problem.run();
  bool fp8 = matrixTypeBytes(type) == 1;
  for (uint32_t i = 0; i < c.size(); ++i) {
    const uint8_t *a = &problem.a[i / 64 * 32];
    const uint8_t *b = &problem.b[i % 64 * 32];
    uint32_t want = modelDot(type, a, b, c[i], fp8 ? 13 : 25, fp8 ? 13 : 23);
    ASSERT_EQ(want, hardwareDot(type, type, a, b, wgmmaK(type),
                                f32FromBits(c[i]), false, false))
        << int(type) << " spread " << spread << " shift " << shift;
    ASSERT_EQ(problem.d[i], want)
        << int(type) << " spread " << spread << " shift " << shift;
  }
}

TEST(Wgmma, hardwareModeMatchesTheIntegerModel) {
  for (MatrixType type : kFloatTypes) {
    // Short of the type's infinity.
    int widest = type == MatrixType::E4M3                               ? 7
                 : type == MatrixType::BF16 || type == MatrixType::TF32 ? 20
                                                                        : 14;
    for (int spread : {0, 2, 6, widest}) {
      for (double scale : {0.0, 1.0, 1024.0, 1e-6, 1e20}) {
        checkHardware(type, spread, 0, scale);
      }
    }
  }
}

TEST(Wgmma, hardwareModeAtTheEndsOfTheRange) {
  // Products near overflow, and down to the smallest subnormals.
  for (int shift : {-70, -63, -58, -50, 45, 50, 56}) {
    checkHardware(MatrixType::BF16, 4, shift, 0.0);
    checkHardware(MatrixType::BF16, 4, shift, std::ldexp(1.0, 2 * shift));
    checkHardware(MatrixType::TF32, 4, shift, 0x1p-140);
  }
  checkHardware(MatrixType::BF16, 60, 0, 1.0);
}

TEST(Wgmma, hardwareTruncatesBelowTheLargestTerm) {
  WgmmaSpec spec;
  Problem problem(spec);
  // 1 + 15 * 2^-26 loses every small term; one of 2^-25 is kept until f32.
  setElement(spec.a, &problem.a[0], 0, 1);
  setElement(spec.b, &problem.b[0], 0, 1);
  for (uint32_t k = 1; k < 16; ++k) {
    setElement(spec.a, &problem.a[0], k, 0x1p-13);
    setElement(spec.b, &problem.b[0], k, 0x1p-13);
    setElement(spec.b, &problem.b[32], k, 0x1p-12);
  }
  setElement(spec.b, &problem.b[32], 0, 1);
  problem.run();
  EXPECT_EQ(f32FromBits(problem.d[0]), 1.0f);
  // 15 * 2^-25 = 3.75 * 2^-23: cut to 3.
  EXPECT_EQ(f32FromBits(problem.d[1]), 1.0f + 3 * 0x1p-23f);
}

TEST(Wgmma, infinitiesAndNaNs) {
  for (WgmmaArithmetic arithmetic : kArithmetics) {
    for (MatrixType type : {MatrixType::F16, MatrixType::BF16}) {
      WgmmaSpec spec;
      spec.a = spec.b = type;
      spec.n = 16;
      spec.arithmetic = arithmetic;
      Problem problem(spec);
      problem.fill([] { return 1.0; });
      setElement(type, &problem.a[3 * 32], 5, INFINITY);
      setElement(type, &problem.a[4 * 32], 5, NAN);
      setElement(type, &problem.b[2 * 32], 5, 0);
      setElement(type, &problem.b[3 * 32], 6, -INFINITY);
      problem.d[9 * 16 + 1] = toBits(-INFINITY);
      problem.d[3 * 16 + 7] = toBits(-INFINITY);
      problem.run();
      auto at = [&](uint32_t row, uint32_t column) {
        return problem.d[row * 16 + column];
      };
      EXPECT_EQ(at(0, 0), toBits(16.0f));
      EXPECT_EQ(at(0, 2), toBits(15.0f));
      EXPECT_EQ(at(3, 0), 0x7F800000u);
      EXPECT_EQ(at(3, 2), kCanonicalNaN);
      EXPECT_EQ(at(3, 3), kCanonicalNaN);
      EXPECT_EQ(at(3, 7), kCanonicalNaN);
      EXPECT_EQ(at(4, 0), kCanonicalNaN);
      EXPECT_EQ(at(0, 3), 0xFF800000u);
      EXPECT_EQ(at(9, 1), 0xFF800000u);
    }
  }
}

TEST(Wgmma, halfAccumulatorsRoundOnce) {
  WgmmaSpec spec;
  spec.a = spec.b = MatrixType::F16;
  spec.d = AccumulatorType::F16;
  spec.n = 32;
  for (WgmmaArithmetic arithmetic :
       {WgmmaArithmetic::Hardware, WgmmaArithmetic::Exact}) {
    spec.arithmetic = arithmetic;
    Problem problem(spec);
    // Near 1, so that 25 bits hold all products.
    problem.fill([] { return spreadValue(0) / 4; });
    for (uint32_t &cell : problem.d) {
      cell = roundToFormat(spreadValue(1), kF16);
    }
    std::vector<uint32_t> c = problem.d;
    problem.run();
    for (uint32_t i = 0; i < c.size(); ++i) {
      double want = problem.exact(i / 32, i % 32) + fromFormat(c[i], kF16);
      ASSERT_EQ(problem.d[i], roundToFormat(want, kF16));
    }
  }
}

TEST(Wgmma, fastStaysNearExact) {
  for (MatrixType type : kFloatTypes) {
    WgmmaSpec spec;
    spec.a = spec.b = type;
    spec.n = 40;
    spec.arithmetic = WgmmaArithmetic::Fast;
    Problem problem(spec);
    problem.fill([] { return spreadValue(3); });
    problem.run();
    for (uint32_t i = 0; i < problem.d.size(); ++i) {
      double bound = 0;
      for (uint32_t k = 0; k < wgmmaK(type); ++k) {
        bound += std::fabs(valueAt(type, &problem.a[i / 40 * 32], k) *
                           valueAt(type, &problem.b[i % 40 * 32], k));
      }
      ASSERT_NEAR(f32FromBits(problem.d[i]), problem.exact(i / 40, i % 40),
                  bound * wgmmaK(type) * 0x1p-24);
    }
  }
}

TEST(Wgmma, everyHostVersionGivesTheSameBits) {
  RowsOfA a = {};
  ColumnsOfB b = {};
  auto value = [] {
    return f32FromBits(toBits(float(spreadValue(8))) & ~0xFFFFu);
  };
  auto exponent = [](float x) {
    return x == 0 ? kZeroExponent : int32_t(toBits(x) >> 23 & 255) - 127;
  };
  for (int h = 0; h < 2; ++h) {
    for (int k = 0; k < 16; ++k) {
      for (int lane = 0; lane < kWarpSize; ++lane) {
        a.value[h][k][lane] = value();
        a.exponent[h][k][lane] = exponent(a.value[h][k][lane]);
      }
      for (int lane = 0; lane < 4; ++lane) {
        b.value[h][k][lane] = value();
        b.exponent[h][k][lane] = exponent(b.value[h][k][lane]);
      }
    }
  }
  TileOfD best = {}, baseline = {};
  tileKernels().hardware(a, b, 16, 25, best);
  baselineTileKernels().hardware(a, b, 16, 25, baseline);
  EXPECT_EQ(std::memcmp(best.value, baseline.value, sizeof(best.value)), 0);
  tileKernels().fast(a, b, 16, best);
  baselineTileKernels().fast(a, b, 16, baseline);
  EXPECT_EQ(std::memcmp(best.value, baseline.value, sizeof(best.value)), 0);
}

TEST(Wgmma, checksTheInstruction) {
  auto bad = [](auto change) {
    WgmmaSpec spec;
    change(spec);
    return checkWgmma(spec) != nullptr;
  };
  EXPECT_FALSE(bad([](WgmmaSpec &) {}));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.n = 4; }));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.n = 264; }));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.n = 12; }));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.a = MatrixType::F16; }));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.d = AccumulatorType::F16; }));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.d = AccumulatorType::S32; }));
  EXPECT_TRUE(bad([](WgmmaSpec &s) { s.saturate = true; }));
  auto integers = [](WgmmaSpec &s, uint32_t n) {
    s.a = MatrixType::S8;
    s.b = MatrixType::U8;
    s.d = AccumulatorType::S32;
    s.n = n;
  };
  EXPECT_FALSE(bad([&](WgmmaSpec &s) { integers(s, 24); }));
  EXPECT_TRUE(bad([&](WgmmaSpec &s) { integers(s, 40); }));
  EXPECT_FALSE(bad([](WgmmaSpec &s) {
    s.a = MatrixType::E4M3;
    s.b = MatrixType::E5M2;
  }));
}

} // namespace
