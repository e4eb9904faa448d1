// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/wgmma.h"
#include "units/f32_math.h"
#include "units/wgmma_tile.h"

#include <cmath>

using namespace attn::sim;

namespace {

constexpr int kRowBytes = 32;
constexpr int kFractionBits = 25;
constexpr int kFp8FractionBits = 13;
/// The exponent that MMA-Sim gives to a zero term. Here it is the least
/// exponent that terms are aligned to, whether or not a term is zero. That
/// differs from MMA-Sim only if all 17 terms are nonzero and smaller; the
/// result is then below f32's smallest subnormal.
constexpr int kLeastExponent = -126;

bool isFp8(MatrixType type) {
  return type == MatrixType::E4M3 || type == MatrixType::E5M2;
}
bool isInteger(MatrixType type) {
  return type == MatrixType::S8 || type == MatrixType::U8;
}

const FloatFormat &formatOf(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
    return kF16;
  case MatrixType::TF32:
    return kTF32;
  case MatrixType::E4M3:
    return kE4M3;
  case MatrixType::E5M2:
    return kE5M2;
  case MatrixType::E2M3:
    return kE2M3;
  case MatrixType::E3M2:
    return kE3M2;
  case MatrixType::E2M1:
    return kE2M1;
  default:
    return kBF16;
  }
}

/// Element `i` of a row, as the bits of formatOf.
uint32_t elementBits(MatrixType type, const uint8_t *row, uint32_t i) {
  switch (matrixTypeBytes(type)) {
  case 1:
    return row[i];
  case 2: {
    uint16_t bits;
    std::memcpy(&bits, row + 2 * i, 2);
    return bits;
  }
  default: {
    // Hardware ignores the low 13 bits of a tf32.
    uint32_t bits;
    std::memcpy(&bits, row + 4 * i, 4);
    return bits >> 13;
  }
  }
}

using Element = MatrixElementValue;

Element decodeElement(MatrixType type, uint32_t bits) {
  const FloatFormat &format = formatOf(type);
  uint32_t magnitude = bits & (format.signBit() - 1);
  int field = int(magnitude >> format.fractionBits);
  Element element;
  element.value = float(fromFormat(bits, format));
  element.exponent = magnitude > format.maxFinite ? kNonFiniteExponent
                     : magnitude == 0 ? kZeroExponent
                                      : (field ? field : 1) - format.bias();
  return element;
}

/// The elements of a type of a byte by their bits.
struct ByteTable {
  explicit ByteTable(MatrixType type) {
    uint32_t count = 2 * formatOf(type).signBit();
    for (uint32_t bits = 0; bits < 256; ++bits) {
      elements[bits] = decodeElement(type, bits % count);
    }
  }
  Element elements[256];
};

const ByteTable &byteTable(MatrixType type) {
  static const ByteTable e4m3(MatrixType::E4M3);
  static const ByteTable e5m2(MatrixType::E5M2);
  static const ByteTable e2m3(MatrixType::E2M3);
  static const ByteTable e3m2(MatrixType::E3M2);
  static const ByteTable e2m1(MatrixType::E2M1);
  switch (type) {
  case MatrixType::E4M3:
    return e4m3;
  case MatrixType::E2M3:
    return e2m3;
  case MatrixType::E3M2:
    return e3m2;
  case MatrixType::E2M1:
    return e2m1;
  default:
    return e5m2;
  }
}

/// A row of operand elements.
struct Row {
  alignas(64) float value[kMaxWgmmaK];
  alignas(64) int32_t exponent[kMaxWgmmaK];
};

/// f32 bits whose exponent field is that of the format (bf16 and tf32).
void decodeWide(const uint32_t *bits, int k, Row &out) {
  for (int i = 0; i < k; ++i) {
    int32_t field = int32_t(bits[i] >> 23 & 255);
    int32_t exponent = (field ? field : 1) - 127;
    exponent = field == 255 ? kNonFiniteExponent : exponent;
    out.exponent[i] = bits[i] << 1 ? exponent : kZeroExponent;
    out.value[i] = f32FromBits(bits[i]);
  }
}

void decodeBF16(const uint8_t *row, Row &out) {
  uint16_t halves[16];
  uint32_t bits[16];
  std::memcpy(halves, row, sizeof(halves));
  for (int i = 0; i < 16; ++i) {
    bits[i] = uint32_t(halves[i]) << 16;
  }
  decodeWide(bits, 16, out);
}

void decodeTF32(const uint8_t *row, Row &out) {
  uint32_t bits[8];
  std::memcpy(bits, row, sizeof(bits));
  for (uint32_t &each : bits) {
    each &= ~0x1FFFu;
  }
  decodeWide(bits, 8, out);
}

void decodeF16(const uint8_t *row, Row &out) {
  uint16_t halves[16];
  std::memcpy(halves, row, sizeof(halves));
  for (int i = 0; i < 16; ++i) {
    uint32_t magnitude = halves[i] & 0x7FFF;
    uint32_t sign = uint32_t(halves[i] & 0x8000) << 16;
    auto field = int32_t(magnitude >> 10);
    // At f32's place, then off by the difference of the biases.
    float scaled = f32FromBits(magnitude << 13) * 0x1p112f;
    uint32_t bits = field == 31 ? magnitude << 13 | 0x7F800000 : toBits(scaled);
    int32_t exponent = (field ? field : 1) - 15;
    exponent = field == 31 ? kNonFiniteExponent : exponent;
    out.exponent[i] = magnitude ? exponent : kZeroExponent;
    out.value[i] = f32FromBits(sign | bits);
  }
}

void decodeFp8(MatrixType type, const uint8_t *row, Row &out) {
  const ByteTable &table = byteTable(type);
  for (int i = 0; i < 32; ++i) {
    out.value[i] = table.elements[row[i]].value;
    out.exponent[i] = table.elements[row[i]].exponent;
  }
}

/// Converts operands to vectors. In Hardware mode the kernel computes with
/// finite values only: it leaves lanes with infinities and NaNs, which it knows
/// by their exponents, to hardwareDot.
struct Decoder {
  MatrixType type;
  bool finiteOnly;
  bool negate;

  void operator()(const uint8_t *bytes, Row &out) const {
    switch (type) {
    case MatrixType::BF16:
      decodeBF16(bytes, out);
      break;
    case MatrixType::F16:
      decodeF16(bytes, out);
      break;
    case MatrixType::TF32:
      decodeTF32(bytes, out);
      break;
    default:
      decodeFp8(type, bytes, out);
      break;
    }
    auto k = int(wgmmaK(type));
    for (int i = 0; finiteOnly && i < k; ++i) {
      bool drop = out.exponent[i] == kNonFiniteExponent;
      out.value[i] = drop ? 0.0f : out.value[i];
    }
    for (int i = 0; negate && i < k; ++i) {
      out.value[i] = -out.value[i];
    }
  }
};

/// The eight columns from `rows` (of the transposed B).
void decodeColumns(const Decoder &decode, const uint8_t *rows, uint32_t k,
                   ColumnsOfB &out) {
  Row columns[8];
  for (int column = 0; column < 8; ++column) {
    decode(rows + column * kRowBytes, columns[column]);
  }
  for (int j = 0; j < 2; ++j) {
    for (uint32_t i = 0; i < k; ++i) {
      for (int q = 0; q < 4; ++q) {
        out.value[j][i][q] = columns[2 * q + j].value[i];
        out.exponent[j][i][q] = columns[2 * q + j].exponent[i];
      }
    }
  }
}

/// The sixteen rows of a warp.
void decodeRows(const Decoder &decode, const uint8_t *rows, uint32_t k,
                RowsOfA &out) {
  for (int row = 0; row < 16; ++row) {
    Row one;
    decode(rows + row * kRowBytes, one);
    int first = 4 * (row & 7);
    for (uint32_t i = 0; i < k; ++i) {
      for (int lane = first; lane < first + 4; ++lane) {
        out.value[row >> 3][i][lane] = one.value[i];
        out.exponent[row >> 3][i][lane] = one.exponent[i];
      }
    }
  }
}

/// The registers of one warp that hold 16 rows by 8 columns.
class TileRegisters {
public:
  TileRegisters(AccumulatorType type, uint32_t *const *regs, uint32_t tile)
      : half(type == AccumulatorType::F16), regs(regs + tile * (half ? 2 : 4)) {
  }

  void load(TileOfD &d) const {
    for (int r = 0; r < 4; ++r) {
      for (int lane = 0; half && lane < kWarpSize; ++lane) {
        d.value[r][lane] =
            fromF16(uint16_t(regs[r >> 1][lane] >> (16 * (r & 1))));
      }
      if (!half) {
        std::memcpy(d.value[r], regs[r], sizeof(d.value[r]));
      }
    }
  }
  void store(const TileOfD &d) const {
    for (int r = 0; r < 4; ++r) {
      if (!half) {
        std::memcpy(regs[r], d.value[r], sizeof(d.value[r]));
      }
    }
  }
  void storeHalf(int r, int lane, uint32_t bits) const {
    uint32_t shift = 16 * (r & 1);
    uint32_t &word = regs[r >> 1][lane];
    word = (word & ~(0xFFFFu << shift)) | bits << shift;
  }

  const bool half;

private:
  uint32_t *const *regs;
};

/// One instruction on floating-point types.
class FloatWgmma {
public:
  FloatWgmma(const WgmmaSpec &spec, const uint8_t *a, const uint8_t *b)
      : spec(spec), a(a), b(b), k(wgmmaK(spec.a)),
        fractionBits(isFp8(spec.a) ? kFp8FractionBits : kFractionBits) {}

  void run(FragmentRegs d);

private:
  void runTile(uint32_t warp, uint32_t tile, const TileRegisters &registers);
  void runHardware(uint32_t warp, uint32_t tile,
                   const TileRegisters &registers);
  void redo(uint32_t warp, uint32_t tile, int r, const float *c, TileOfD &out,
            const TileRegisters &registers);
  void roundTile(const TileRegisters &registers);

  const WgmmaSpec &spec;
  const uint8_t *a;
  const uint8_t *b;
  uint32_t k;
  int fractionBits;
  RowsOfA rows;
  ColumnsOfB columns[kMaxWgmmaN / 8];
  TileOfD d;
};

} // namespace

void FloatWgmma::run(FragmentRegs regs) {
  bool finiteOnly = spec.arithmetic == WgmmaArithmetic::Hardware;
  Decoder decodeB = {spec.b, finiteOnly, false};
  Decoder decodeA = {spec.a, finiteOnly, spec.negateA != spec.negateB};
  uint32_t tiles = spec.n / 8;
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    decodeColumns(decodeB, b + tile * 8 * kRowBytes, k, columns[tile]);
  }
  for (uint32_t warp = 0; warp < kWarpsPerGroup; ++warp) {
    decodeRows(decodeA, a + warp * 16 * kRowBytes, k, rows);
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      runTile(warp, tile, TileRegisters(spec.d, regs[warp], tile));
    }
  }
}

void FloatWgmma::runTile(uint32_t warp, uint32_t tile,
                         const TileRegisters &registers) {
  if (spec.accumulate) {
    registers.load(d);
  } else {
    std::memset(d.value, 0, sizeof(d.value));
  }
  switch (spec.arithmetic) {
  case WgmmaArithmetic::Hardware:
    runHardware(warp, tile, registers);
    return;
  case WgmmaArithmetic::Fast:
    tileKernels().fast(rows, columns[tile], int(k), d);
    break;
  case WgmmaArithmetic::Exact:
    for (int r = 0; r < 4; ++r) {
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        double sum = d.value[r][lane];
        for (uint32_t i = 0; i < k; ++i) {
          sum += double(rows.value[r >> 1][i][lane]) *
                 double(columns[tile].value[r & 1][i][lane % 4]);
        }
        d.sum[r][lane] = sum;
        d.value[r][lane] = float(sum);
      }
    }
    break;
  }
  roundTile(registers);
}

/// Canonical NaNs; to f16 with one rounding.
void FloatWgmma::roundTile(const TileRegisters &registers) {
  bool exact = spec.arithmetic == WgmmaArithmetic::Exact;
  for (int r = 0; r < 4; ++r) {
    for (int lane = 0; registers.half && lane < kWarpSize; ++lane) {
      double source = exact ? d.sum[r][lane] : double(d.value[r][lane]);
      registers.storeHalf(r, lane, roundToFormat(source, kF16));
    }
    for (int lane = 0; lane < kWarpSize; ++lane) {
      d.value[r][lane] = canonicalF32(d.value[r][lane]);
    }
  }
  registers.store(d);
}

void FloatWgmma::runHardware(uint32_t warp, uint32_t tile,
                             const TileRegisters &registers) {
  float c[4][kWarpSize];
  std::memcpy(c, d.value, sizeof(c));
  tileKernels().hardware(rows, columns[tile], int(k), fractionBits, d);
  uint32_t kept = fractionBits == kFp8FractionBits ? ~0x3FFu : ~0u;
  for (int r = 0; r < 4; ++r) {
    for (int lane = 0; registers.half && lane < kWarpSize; ++lane) {
      registers.storeHalf(r, lane, roundToFormat(d.sum[r][lane], kF16));
    }
    for (int lane = 0; lane < kWarpSize; ++lane) {
      d.value[r][lane] = f32FromBits(toBits(d.value[r][lane]) & kept);
    }
    if (d.redo[r]) {
      redo(warp, tile, r, c[r], d, registers);
    }
  }
  registers.store(d);
}

void FloatWgmma::redo(uint32_t warp, uint32_t tile, int r, const float *c,
                      TileOfD &out, const TileRegisters &registers) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if (!((out.redo[r] >> lane) & 1)) {
      continue;
    }
    uint32_t row = accumulatorRow(warp, lane, uint32_t(r));
    uint32_t column = 8 * tile + accumulatorColumn(lane, uint32_t(r));
    uint32_t bits =
        hardwareDot(spec.a, spec.b, a + row * kRowBytes, b + column * kRowBytes,
                    k, c[lane], spec.negateA != spec.negateB, registers.half);
    if (registers.half) {
      registers.storeHalf(r, int(lane), bits);
    } else {
      out.value[r][lane] = f32FromBits(bits);
    }
  }
}

const MatrixElementValue *attn::sim::byteElements(MatrixType type) {
  return byteTable(type).elements;
}

uint32_t attn::sim::hardwareDot(MatrixType aType, MatrixType bType,
                                const uint8_t *a, const uint8_t *b, uint32_t k,
                                float c, bool negate, bool toF16) {
  return hardwareDot(aType, bType, a, b, k, c, negate, toF16,
                     isFp8(aType) ? kFp8FractionBits : kFractionBits);
}

uint32_t attn::sim::hardwareDot(MatrixType aType, MatrixType bType,
                                const uint8_t *a, const uint8_t *b, uint32_t k,
                                float c, bool negate, bool toF16,
                                int fractionBits) {
  double terms[kMaxWgmmaK + 1];
  int largest = kLeastExponent;
  double specials = 0;
  auto add = [&](uint32_t i, double term, int exponent) {
    terms[i] = term;
    if (!std::isfinite(term)) {
      specials += term;
    } else if (term != 0 && exponent > largest) {
      largest = exponent;
    }
  };
  for (uint32_t i = 0; i < k; ++i) {
    Element left = decodeElement(aType, elementBits(aType, a, i));
    Element right = decodeElement(bType, elementBits(bType, b, i));
    double product = double(left.value) * right.value;
    add(i, negate ? -product : product, left.exponent + right.exponent);
  }
  int cField = int(toBits(c) >> 23 & 255);
  add(k, c, (cField ? cField : 1) - 127);
  if (specials != 0) {
    return toF16 ? roundToFormat(specials, kF16)
                 : toBits(canonicalF32(float(specials)));
  }
  int unit = largest - fractionBits;
  double sum = 0;
  for (uint32_t i = 0; i <= k; ++i) {
    sum += std::trunc(std::ldexp(terms[i], -unit));
  }
  // No negative zero.
  sum = std::ldexp(sum, unit) + 0.0;
  if (toF16) {
    return roundToFormat(sum, kF16);
  }
  if (std::fabs(sum) >= 0x1p128) {
    return sum > 0 ? 0x7F800000 : 0xFF800000;
  }
  uint32_t bits = roundToFormat(sum, kF32, Rounding::RZ);
  return fractionBits == kFp8FractionBits ? bits & ~0x3FFu : bits;
}

uint32_t attn::sim::exactDot(MatrixType aType, MatrixType bType,
                             const uint8_t *a, const uint8_t *b, uint32_t k,
                             float c, bool toF16) {
  double sum = c;
  for (uint32_t i = 0; i < k; ++i) {
    Element left = decodeElement(aType, elementBits(aType, a, i));
    Element right = decodeElement(bType, elementBits(bType, b, i));
    sum += double(left.value) * double(right.value);
  }
  return toF16 ? roundToFormat(sum, kF16) : toBits(roundToF32(sum));
}

/// s8 and u8: exact; the sum wraps or, with .satfinite, is clamped.
static void integerWgmma(const WgmmaSpec &spec, const uint8_t *a,
                         const uint8_t *b, FragmentRegs d) {
  auto item = [](MatrixType type, uint8_t byte) {
    return type == MatrixType::S8 ? int32_t(int8_t(byte)) : int32_t(byte);
  };
  for (uint32_t warp = 0; warp < kWarpsPerGroup; ++warp) {
    for (uint32_t i = 0; i < spec.n / 2; ++i) {
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const uint8_t *row = a + accumulatorRow(warp, lane, i) * kRowBytes;
        const uint8_t *column = b + accumulatorColumn(lane, i) * kRowBytes;
        int32_t dot = 0;
        for (int at = 0; at < kRowBytes; ++at) {
          dot += item(spec.a, row[at]) * item(spec.b, column[at]);
        }
        int64_t sum = dot;
        sum += spec.accumulate ? int32_t(d[warp][i][lane]) : 0;
        if (spec.saturate) {
          sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
        }
        d[warp][i][lane] = uint32_t(sum);
      }
    }
  }
}

const char *attn::sim::checkWgmma(const WgmmaSpec &spec) {
  bool integer = isInteger(spec.a);
  bool mayMix =
      (isFp8(spec.a) && isFp8(spec.b)) || (integer && isInteger(spec.b));
  if (spec.a != spec.b && !mayMix) {
    return "wgmma: the types of A and B do not go together";
  }
  if (integer != (spec.d == AccumulatorType::S32)) {
    return "wgmma: s32 accumulators are for s8 and u8, and only they";
  }
  if (spec.d == AccumulatorType::F16 &&
      !(spec.a == MatrixType::F16 || isFp8(spec.a))) {
    return "wgmma: f16 accumulators are for f16, e4m3 and e5m2";
  }
  if (spec.n < 8 || spec.n > kMaxWgmmaN || spec.n % 8 != 0) {
    return "wgmma: N is not a multiple of 8 from 8 to 256";
  }
  if (integer && spec.n > 32 && spec.n % 16 != 0) {
    return "wgmma: N above 32 is a multiple of 16 for integers";
  }
  if (integer && (spec.negateA || spec.negateB)) {
    return "wgmma: integers cannot be negated";
  }
  if (!integer && spec.saturate) {
    return "wgmma: .satfinite is for integers";
  }
  return nullptr;
}

void attn::sim::wgmma(const WgmmaSpec &spec, const uint8_t *a, const uint8_t *b,
                      FragmentRegs d) {
  if (isInteger(spec.a)) {
    integerWgmma(spec, a, b, d);
    return;
  }
  // Uninitialized scratch on the stack, about 90 KB.
  FloatWgmma operation(spec, a, b);
  operation.run(d);
}
