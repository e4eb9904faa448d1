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
/// The exponents between which all that matters are f32 normals.
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

  /// Calls `visit(cell, word, shift)` for each cell that D may write and the
  /// register, and part of it, that it is.
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

/// What wgmma has too, with the same bits.
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
      double sum = 0;
      cell = sumBytes(rows[row], columnOfB, c, sum)
                 ? roundSum(sum, half)
                 : hardwareDot(spec.a, spec.b, a + row * kRowBytes, bytes,
                               kBytesK, c, negate, half, kFractionBits);
    }
  }
}

struct TypeCode {
  UmmaKind kind;
  uint32_t code;
  MatrixType type;
};
constexpr TypeCode kTypes[] = {{UmmaKind::F16, 0, MatrixType::F16},
                               {UmmaKind::F16, 1, MatrixType::BF16},
                               {UmmaKind::TF32, 2, MatrixType::TF32},
                               {UmmaKind::F8F6F4, 0, MatrixType::E4M3},
                               {UmmaKind::F8F6F4, 1, MatrixType::E5M2},
                               {UmmaKind::F8F6F4, 3, MatrixType::E2M3},
                               {UmmaKind::F8F6F4, 4, MatrixType::E3M2},
                               {UmmaKind::F8F6F4, 5, MatrixType::E2M1},
                               {UmmaKind::I8, 0, MatrixType::U8},
                               {UmmaKind::I8, 1, MatrixType::S8}};

std::string decodeType(UmmaKind kind, uint32_t code, const char *name,
                       MatrixType &type) {
  for (const TypeCode &each : kTypes) {
    if (each.kind == kind && each.code == code) {
      type = each.type;
      return "";
    }
  }
  return "the kind has no type " + std::to_string(code) + " of " + name;
}

std::string decodeAccumulator(UmmaKind kind, uint32_t code, UmmaSpec &spec) {
  bool isInt = kind == UmmaKind::I8;
  if (isInt != (code == 2) || code > 2) {
    return "the kind has no type " + std::to_string(code) + " of D";
  }
  spec.d = code == 0   ? AccumulatorType::F16
           : code == 1 ? AccumulatorType::F32
                       : AccumulatorType::S32;
  bool mayBeHalf = kind == UmmaKind::F8F6F4 ||
                   (spec.a == MatrixType::F16 && spec.b == MatrixType::F16);
  return code == 0 && !mayBeHalf ? "D is f16, which is for A and B of f16 and "
                                   "for kind::f8f6f4"
                                 : "";
}

std::string checkShape(const UmmaSpec &spec, unsigned ctas) {
  if (spec.m != 64 * ctas && spec.m != 128 * ctas) {
    return "M is " + std::to_string(spec.m) + ", expected " +
           std::to_string(64 * ctas) + " or " + std::to_string(128 * ctas);
  }
  bool isInt = isInteger(spec.a);
  bool isTransposed = spec.transposeB && matrixTypeBytes(spec.b) == 1;
  uint32_t step = 8 * ctas;
  if (isTransposed || (isInt && (spec.n > 32 || ctas == 2))) {
    step = 16 * ctas;
  }
  if (spec.n < step || spec.n > 256 || spec.n % step != 0) {
    return "N is " + std::to_string(spec.n) + ", expected a multiple of " +
           std::to_string(step) + " up to 256";
  }
  return "";
}

std::string checkModes(UmmaKind kind, uint32_t bits, const UmmaSpec &spec) {
  if (kind == UmmaKind::I8 && (spec.negateA || spec.negateB)) {
    return "integers cannot be negated";
  }
  if (kind != UmmaKind::I8 && spec.saturate) {
    return "bit 3, saturation, is for kind::i8";
  }
  bool narrowA = spec.transposeA && matrixTypeBits(spec.a) < 8;
  bool narrowB = spec.transposeB && matrixTypeBits(spec.b) < 8;
  if (narrowA || narrowB) {
    return "types below 8 bits cannot be transposed";
  }
  return bits >> 30 ? "bits 30 and 31, a shift of B, are for mma.ws" : "";
}

} // namespace

std::string attn::sim::decodeUmmaInstruction(UmmaKind kind, uint32_t bits,
                                             unsigned ctas, UmmaSpec &spec) {
  constexpr uint32_t reserved = 1u << 6 | 1u << 23 | 1u << 29;
  if (bits & reserved) {
    return "reserved bits are set";
  }
  if (bits & 7) {
    return "bits 0 to 2 ask for a sparse A, which is not simulated";
  }
  spec.saturate = bits >> 3 & 1;
  spec.negateA = bits >> 13 & 1;
  spec.negateB = bits >> 14 & 1;
  spec.transposeA = bits >> 15 & 1;
  spec.transposeB = bits >> 16 & 1;
  spec.n = (bits >> 17 & 63) << 3;
  spec.m = (bits >> 24 & 31) << 4;
  std::string problem = decodeType(kind, bits >> 7 & 7, "A", spec.a);
  if (problem.empty()) {
    problem = decodeType(kind, bits >> 10 & 7, "B", spec.b);
  }
  if (problem.empty()) {
    problem = decodeAccumulator(kind, bits >> 4 & 3, spec);
  }
  if (problem.empty()) {
    problem = checkShape(spec, ctas);
  }
  return problem.empty() ? checkModes(kind, bits, spec) : problem;
}

const char *attn::sim::checkUmmaSwizzle(MatrixType type, bool isTransposed,
                                        Swizzle swizzle) {
  if (!isTransposed) {
    return "";
  }
  bool isWide = type == MatrixType::TF32;
  return isWide == (swizzle == Swizzle::B128Atom32) ? ""
         : isWide ? "a transposed tf32 needs the 128-byte swizzle of 32-byte "
                    "atoms"
                  : "the 128-byte swizzle of 32-byte atoms is for a transposed "
                    "tf32";
}

void attn::sim::umma(const UmmaSpec &spec, const uint8_t *a, const uint8_t *b,
                     const UmmaAccumulator &d) {
  bool isByteFloat = matrixTypeBytes(spec.a) == 1 && !isInteger(spec.a);
  isByteFloat ? ofBytes(spec, a, b, d) : throughWgmma(spec, a, b, d);
}
