// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma with scaled blocks. As MMA-Sim has it, terms are aligned to the
// largest exponent, cut and added. With elements of a byte each, a term is a
// scaled product, cut to 25 fraction bits. With pairs of e2m1, a term is the
// exact sum of 16 products, scaled and cut to 35 bits.

#include "units/umma.h"

#include "units/f32_math.h"
#include "units/float_format.h"
#include "units/wgmma_tile.h"

#include <cmath>

using namespace attn::sim;

namespace {

constexpr uint32_t kRowBytes = 32;
constexpr uint32_t kMaxTerms = 32;
/// Products of pairs of e2m1 that are summed exactly.
constexpr uint32_t kGroup = 16;
constexpr uint32_t kGroups = 2 * kRowBytes / kGroup;
constexpr int kFractionBits = 25;
constexpr int kNarrowFractionBits = 35;
constexpr int kLeastExponent = -126;
/// The bytes of a row's scales.
constexpr uint32_t kScaleBytes = 4;

struct Scale {
  double value;
  int32_t exponent;
};

Scale decodeScale(uint8_t byte, bool isPower) {
  if (isPower) {
    int32_t exponent = int32_t(byte) - 127;
    return {byte == 0xff ? NAN : std::ldexp(1.0, exponent), exponent};
  }
  int32_t field = byte >> 3 & 15;
  return {fromFormat(byte & 0x7f, kE4M3), (field ? field : 1) - kE4M3.bias()};
}

/// A row of A or a column of B, with its scales.
struct ScaledRow {
  /// Of elements in a byte each.
  double value[kMaxTerms];
  int32_t exponent[kMaxTerms];
  /// Of pairs of e2m1: twice the elements' values.
  int8_t doubled[2 * kRowBytes];
  Scale scales[kGroups];
};

void decodeRow(MatrixType type, const uint8_t *bytes, ScaledRow &row) {
  if (type == MatrixType::E2M1x2) {
    const MatrixElementValue *elements = byteElements(MatrixType::E2M1);
    for (uint32_t i = 0; i < 2 * kRowBytes; ++i) {
      uint32_t element = bytes[i / 2] >> i % 2 * 4 & 15;
      row.doubled[i] = int8_t(2 * elements[element].value);
    }
    return;
  }
  const MatrixElementValue *elements = byteElements(type);
  for (uint32_t i = 0; i < kMaxTerms; ++i) {
    row.value[i] = double(elements[bytes[i]].value);
    row.exponent[i] = elements[bytes[i]].exponent;
  }
}

void decodeScales(const UmmaScaling &scaling, const uint8_t *bytes,
                  ScaledRow &row) {
  for (uint32_t i = 0; i < kGroups; ++i) {
    uint32_t at = i * scaling.count / kGroups;
    row.scales[i] = decodeScale(bytes[at], scaling.isPower);
  }
}

/// The terms of a sum: their values, and the exponents for their alignment.
struct Terms {
  double value[kMaxTerms + 1];
  int32_t exponent[kMaxTerms + 1];
  uint32_t count = 0;

  void add(double term, int32_t at) {
    value[count] = term;
    exponent[count++] = term == 0 ? kZeroExponent : at;
  }
};

void addProducts(const ScaledRow &a, const ScaledRow &b, Terms &terms) {
  double scale = a.scales[0].value * b.scales[0].value;
  int32_t exponent = a.scales[0].exponent + b.scales[0].exponent;
  for (uint32_t i = 0; i < kMaxTerms; ++i) {
    terms.add(a.value[i] * b.value[i] * scale,
              a.exponent[i] + b.exponent[i] + exponent);
  }
}

void addGroups(const ScaledRow &a, const ScaledRow &b, Terms &terms) {
  for (uint32_t group = 0; group < kGroups; ++group) {
    int32_t sum = 0; // of four times the products
    for (uint32_t i = group * kGroup; i < (group + 1) * kGroup; ++i) {
      sum += a.doubled[i] * b.doubled[i];
    }
    const Scale &left = a.scales[group];
    const Scale &right = b.scales[group];
    terms.add(0.25 * sum * (left.value * right.value),
              left.exponent + right.exponent);
  }
}

double sumExactly(const Terms &terms) {
  double sum = 0;
  for (uint32_t i = 0; i < terms.count; ++i) {
    sum += terms.value[i];
  }
  return sum;
}

/// Each term cut at the largest exponent, then added exactly.
double sumAligned(const Terms &terms, int fractionBits) {
  int32_t largest = kLeastExponent;
  for (uint32_t i = 0; i < terms.count; ++i) {
    largest = std::max(largest, terms.exponent[i]);
  }
  double up = std::ldexp(1.0, fractionBits - largest);
  int64_t sum = 0;
  for (uint32_t i = 0; i < terms.count; ++i) {
    sum += int64_t(terms.value[i] * up);
  }
  return std::ldexp(double(sum), largest - fractionBits);
}

uint32_t roundTerms(const Terms &terms, bool isExact, int fractionBits) {
  double sum = sumExactly(terms);
  if (isExact || !std::isfinite(sum)) {
    return toBits(roundToF32(sum));
  }
  sum = sumAligned(terms, fractionBits) + 0.0; // no negative zero
  if (std::fabs(sum) >= 0x1p128) {
    return sum > 0 ? 0x7F800000 : 0xFF800000;
  }
  return roundToFormat(sum, kF32, Rounding::RZ);
}

} // namespace

void attn::sim::scaledUmma(const UmmaSpec &spec, const uint8_t *a,
                           const uint8_t *b, const uint8_t *scalesOfA,
                           const uint8_t *scalesOfB, uint32_t *cells,
                           uint32_t stride) {
  bool isNarrow = spec.a == MatrixType::E2M1x2;
  bool isExact = spec.arithmetic == WgmmaArithmetic::Exact;
  bool negate = spec.negateA != spec.negateB;
  int fractionBits = isNarrow ? kNarrowFractionBits : kFractionBits;
  ScaledRow rows[kUmmaBlockRows];
  for (uint32_t row = 0; row < kUmmaBlockRows; ++row) {
    decodeRow(spec.a, a + row * kRowBytes, rows[row]);
    decodeScales(spec.scaling, scalesOfA + row * kScaleBytes, rows[row]);
    for (uint32_t i = 0; negate && i < kGroups; ++i) {
      rows[row].scales[i].value = -rows[row].scales[i].value;
    }
  }
  for (uint32_t column = 0; column < spec.n; ++column) {
    ScaledRow columnOfB;
    decodeRow(spec.b, b + column * kRowBytes, columnOfB);
    decodeScales(spec.scaling, scalesOfB + column * kScaleBytes, columnOfB);
    for (uint32_t row = 0; row < kUmmaBlockRows; ++row) {
      uint32_t &cell = cells[column * stride + row];
      Terms terms;
      isNarrow ? addGroups(rows[row], columnOfB, terms)
               : addProducts(rows[row], columnOfB, terms);
      float c = spec.accumulate ? f32FromBits(cell) : 0;
      auto field = int32_t(toBits(c) >> 23 & 255);
      terms.add(double(c), (field ? field : 1) - 127);
      cell = roundTerms(terms, isExact, fractionBits);
    }
  }
}
