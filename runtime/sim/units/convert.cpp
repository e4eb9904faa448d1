// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/convert.h"
#include "units/int_math.h"

#include <cmath>

using namespace attn::sim;

namespace {

/// `integral` clamped to an integer of `width` bits.
uint64_t clampToInteger(double integral, int width, bool isSigned) {
  double limit = std::ldexp(1.0, isSigned ? width - 1 : width);
  uint64_t mask = ~uint64_t(0) >> (64 - width);
  if (integral >= limit) {
    return isSigned ? mask >> 1 : mask;
  }
  if (!isSigned) {
    return integral <= 0 ? 0 : uint64_t(integral);
  }
  return integral <= -limit ? (mask >> 1) + 1
                            : uint64_t(int64_t(integral)) & mask;
}

/// A double that rounds to any format of at most 51 bits as the integer does.
/// It is the integer, or, if that has more than 53 bits, the integer rounded to
/// odd: its last bit is set if any lower bit was.
double toOddDouble(uint64_t a, int width, bool isSigned) {
  bool negative = isSigned && signExtend(a, width) < 0;
  uint64_t value = isSigned ? uint64_t(signExtend(a, width))
                            : a & (~uint64_t(0) >> (64 - width));
  uint64_t magnitude = negative ? 0 - value : value;
  double result = double(magnitude);
  if (magnitude >> 53) {
    uint64_t kept = (magnitude >> 11) | ((magnitude & 0x7FF) != 0);
    result = double(kept) * 2048;
  }
  return negative ? -result : result;
}

} // namespace

uint64_t attn::sim::f32ToInteger(float a, Rounding rounding, int width,
                                 bool isSigned, bool ftz) {
  if (a != a) {
    return width == 64 ? uint64_t(1) << 63 : 0;
  }
  return clampToInteger(roundToIntegralF32(a, rounding, ftz), width, isSigned);
}

uint64_t attn::sim::f64ToInteger(double a, Rounding rounding, int width,
                                 bool isSigned) {
  if (a != a) {
    return uint64_t(1) << (width - 1);
  }
  return clampToInteger(roundToIntegralF64(a, rounding), width, isSigned);
}

uint32_t attn::sim::integerToFormat(uint64_t a, int width, bool isSigned,
                                    const FloatFormat &format,
                                    Rounding rounding) {
  return roundToFormat(toOddDouble(a, width, isSigned), format, rounding);
}

float attn::sim::integerToF32(uint64_t a, int width, bool isSigned,
                              Rounding rounding) {
  return f32FromBits(integerToFormat(a, width, isSigned, kF32, rounding));
}

double attn::sim::integerToF64(uint64_t a, int width, bool isSigned,
                               Rounding rounding) {
  bool negative = isSigned && signExtend(a, width) < 0;
  uint64_t value = isSigned ? uint64_t(signExtend(a, width))
                            : a & (~uint64_t(0) >> (64 - width));
  uint64_t magnitude = negative ? 0 - value : value;
  // Two exact halves and one rounding.
  double high = double(magnitude >> 32) * 4294967296.0;
  double low = double(magnitude & 0xFFFFFFFF);
  return negative ? addF64(-high, -low, rounding) : addF64(high, low, rounding);
}
