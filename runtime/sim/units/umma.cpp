// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/umma.h"

#include "units/f32_math.h"
#include "units/wgmma_tile.h"

#include <cmath>

using namespace attn::sim;

namespace {

constexpr uint32_t kRowBytes = 32;
constexpr uint32_t kBytesK = 32;
constexpr int kFractionBits = 25;
/// If the largest exponent is between these, all terms that matter are f32
/// normals.
constexpr int32_t kLowestExponent = -100;
constexpr int32_t kHighestExponent = 100;
/// Below this, every term is zero.
constexpr int32_t kNoTerm = -2000;

bool isInteger(MatrixType type) {
  return type == MatrixType::S8 || type == MatrixType::U8;
}

/// The accumulators as the registers of a warpgroup that wgmma takes.
class Fragments {
public:
  Fragments(const UmmaSpec &spec, const UmmaAccumulator &d)
      : spec(spec), d(d), half(spec.d == AccumulatorType::F16),
        count(accumulatorRegisters(spec.d, spec.n)) {}

  void load() {
    forCells([&](uint32_t &cell, uint32_t &word, uint32_t shift) {
      uint32_t bits = scaled(cell);
      word =
          half ? (word & ~(0xFFFFu << shift)) | (bits & 0xFFFF) << shift : bits;
    });
  }
  void store() {
    forCells([&](uint32_t &cell, const uint32_t &word, uint32_t shift) {
      cell = half ? word >> shift & 0xFFFF : word;
    });
  }
  FragmentRegs registers() {
    for (uint32_t warp = 0; warp < kWarpsPerGroup; ++warp) {
      for (uint32_t i = 0; i < count; ++i) {
        pointers[warp * count + i] = values + (warp * count + i) * kWarpSize;
      }
      warps[warp] = pointers + warp * count;
    }
    return warps;
  }

private:
  uint32_t scaled(uint32_t cell) const {
    if (spec.scale == 0 || spec.d == AccumulatorType::S32) {
      return cell;
    }
    float value = half ? fromF16(uint16_t(cell)) : f32FromBits(cell);
    value = std::ldexp(value, -int(spec.scale));
    return half ? toF16(value) : toBits(value);
  }

  /// Calls `visit(cell, word, shift)` for each cell that D may write: its value
  /// is in register `word`, from bit `shift` on.
  template <typename Visit> void forCells(Visit visit) {
    for (uint32_t warp = 0; warp < kWarpsPerGroup; ++warp) {
      uint32_t *registers = values + warp * count * kWarpSize;
      for (uint32_t column = 0; column < spec.n; ++column) {
        uint32_t *cells = d.blocks[warp] + column * d.stride;
        uint32_t tile = column / 8;
        uint32_t lane = column % 8 / 2;
        for (uint32_t row = 0; row < kUmmaBlockRows; ++row) {
          if (d.disabled[warp] >> row & 1) {
            continue;
          }
          uint32_t upper = row / 8;
          uint32_t index =
              half ? 2 * tile + upper : 4 * tile + 2 * upper + (column & 1);
          visit(cells[row], registers[index * kWarpSize + 4 * (row % 8) + lane],
                16 * (column & 1));
        }
      }
    }
  }

  const UmmaSpec &spec;
  const UmmaAccumulator &d;
  const bool half;
  const uint32_t count;
  uint32_t values[kWarpsPerGroup * kMaxWgmmaN / 2 * kWarpSize] = {};
  uint32_t *pointers[kWarpsPerGroup * kMaxWgmmaN / 2];
  uint32_t *const *warps[kWarpsPerGroup];
};

/// Computes an operation that wgmma has too, with the same bits.
void throughWgmma(const UmmaSpec &spec, const uint8_t *a, const uint8_t *b,
                  const UmmaAccumulator &d) {
  WgmmaSpec same;
  same.a = spec.a;
  same.b = spec.b;
  same.d = spec.d;
  same.n = spec.n;
  same.negateA = spec.negateA;
  same.negateB = spec.negateB;
  same.accumulate = spec.accumulate;
  same.saturate = spec.saturate;
  same.arithmetic = spec.arithmetic == WgmmaArithmetic::Exact
                        ? WgmmaArithmetic::Exact
                        : WgmmaArithmetic::Hardware;
  Fragments fragments(spec, d);
  if (spec.accumulate) {
    fragments.load();
  }
  wgmma(same, a, b, fragments.registers());
  fragments.store();
}

/// Floats of at most 8 bits: a row of A or a column of B.
struct ByteRow {
  float value[kBytesK];
  int32_t exponent[kBytesK];
};

void decodeRow(MatrixType type, const uint8_t *bytes, bool negate,
               ByteRow &row) {
  const MatrixElementValue *elements = byteElements(type);
  for (uint32_t i = 0; i < kBytesK; ++i) {
    const MatrixElementValue &element = elements[bytes[i]];
    row.value[i] = negate ? -element.value : element.value;
    row.exponent[i] = element.exponent;
  }
}

/// The exact sum of the terms, cut as the Hardware mode does; false if some
/// exponent is out of range.
bool sumBytes(const ByteRow &a, const ByteRow &b, float c, double &sum) {
  int32_t cField = int32_t(toBits(c) >> 23 & 255);
  int32_t top = c == 0          ? kZeroExponent
                : cField == 255 ? kNonFiniteExponent
                                : (cField ? cField : 1) - 127;
  for (uint32_t i = 0; i < kBytesK; ++i) {
    top = std::max(top, a.exponent[i] + b.exponent[i]);
  }
  if (top < kNoTerm) {
    sum = 0;
    return true;
  }
  if (top < kLowestExponent || top > kHighestExponent) {
    return false;
  }
  float scale = f32FromBits(uint32_t(kFractionBits - top + 127) << 23);
  // At most eight terms below 2^27 each, and one more.
  int32_t parts[4] = {int32_t(c * scale), 0, 0, 0};
  for (uint32_t i = 0; i < kBytesK; ++i) {
    parts[i % 4] += int32_t(a.value[i] * b.value[i] * scale);
  }
  sum = std::ldexp(double(parts[0]) + double(parts[1]) + double(parts[2]) +
                       double(parts[3]),
                   top - kFractionBits);
  return true;
}

uint32_t roundSum(double sum, bool half) {
  sum += 0.0; // no negative zero
  if (half) {
    return roundToFormat(sum, kF16);
  }
  return roundToFormat(sum, kF32, Rounding::RZ);
}

/// The sum in double, with one rounding.
uint32_t sumExactly(const ByteRow &a, const ByteRow &b, float c, bool half) {
  double sum = c;
  for (uint32_t i = 0; i < kBytesK; ++i) {
    sum += double(a.value[i]) * double(b.value[i]);
  }
  return half ? roundToFormat(sum, kF16) : toBits(roundToF32(sum));
}

void ofBytes(const UmmaSpec &spec, const uint8_t *a, const uint8_t *b,
             const UmmaAccumulator &d) {
  bool half = spec.d == AccumulatorType::F16;
  bool negate = spec.negateA != spec.negateB;
  ByteRow rows[kUmmaRows];
  for (uint32_t row = 0; row < kUmmaRows; ++row) {
    decodeRow(spec.a, a + row * kRowBytes, negate, rows[row]);
  }
  for (uint32_t column = 0; column < spec.n; ++column) {
    const uint8_t *bytes = b + column * kRowBytes;
    ByteRow columnOfB;
    decodeRow(spec.b, bytes, false, columnOfB);
    for (uint32_t row = 0; row < kUmmaRows; ++row) {
      uint32_t block = row / kUmmaBlockRows;
      uint32_t &cell =
          d.blocks[block][column * d.stride + row % kUmmaBlockRows];
      if (d.disabled[block] >> row % kUmmaBlockRows & 1) {
        continue;
      }
      float c = !spec.accumulate ? 0
                : half           ? fromF16(uint16_t(cell))
                                 : f32FromBits(cell);
      if (spec.arithmetic == WgmmaArithmetic::Exact) {
        cell = sumExactly(rows[row], columnOfB, c, half);
        continue;
      }
      double sum = 0;
      cell = sumBytes(rows[row], columnOfB, c, sum)
                 ? roundSum(sum, half)
                 : hardwareDot(spec.a, spec.b, a + row * kRowBytes, bytes,
                               kBytesK, c, negate, half, kFractionBits);
    }
  }
}

} // namespace

void attn::sim::umma(const UmmaSpec &spec, const uint8_t *a, const uint8_t *b,
                     const UmmaAccumulator &d) {
  bool isByteFloat = matrixTypeBytes(spec.a) == 1 && !isInteger(spec.a);
  isByteFloat ? ofBytes(spec, a, b, d) : throughWgmma(spec, a, b, d);
}
