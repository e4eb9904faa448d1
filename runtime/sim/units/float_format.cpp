// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/float_format.h"

#include <algorithm>
#include <cmath>

using namespace attn::sim;

namespace {

/// Whether a value between q and q+1 goes to q+1. `half` is -1, 0 or 1 as the
/// rest is below, at or above one half.
bool roundsUp(Rounding rounding, bool negative, bool odd, int half,
              bool exact) {
  switch (rounding) {
  case Rounding::RN:
    return half > 0 || (half == 0 && odd);
  case Rounding::RNA:
    return half >= 0;
  case Rounding::RZ:
    return false;
  case Rounding::RM:
    return negative && !exact;
  case Rounding::RP:
    return !negative && !exact;
  }
  return false;
}

/// Whether overflow gives infinity rather than the largest finite value.
bool overflowsToInfinity(Rounding rounding, bool negative) {
  switch (rounding) {
  case Rounding::RZ:
    return false;
  case Rounding::RM:
    return negative;
  case Rounding::RP:
    return !negative;
  case Rounding::RN:
  case Rounding::RNA:
    break;
  }
  return true;
}

uint64_t shiftRightRounded(uint64_t value, int shift, Rounding rounding,
                           bool negative) {
  if (shift <= 0) {
    return value << -shift;
  }
  if (shift > 60) {
    // `value` has at most 53 bits: less than half of the last place.
    bool exact = value == 0;
    return roundsUp(rounding, negative, false, -1, exact) ? 1 : 0;
  }
  uint64_t quotient = value >> shift;
  uint64_t rest = value & ((uint64_t(1) << shift) - 1);
  uint64_t middle = uint64_t(1) << (shift - 1);
  int half = rest > middle ? 1 : rest == middle ? 0 : -1;
  return quotient + roundsUp(rounding, negative, quotient & 1, half, rest == 0);
}

} // namespace

uint32_t attn::sim::roundToFormat(double value, const FloatFormat &format,
                                  Rounding rounding, bool satfinite,
                                  bool relu) {
  if (value != value) {
    return format.nan ? format.nan : format.maxFinite;
  }
  bool negative = std::signbit(value);
  if (negative && relu) {
    return 0;
  }
  uint32_t sign = negative ? format.signBit() : 0;
  bool canOverflow = format.infinity && !satfinite;
  uint64_t bits = toBits(value) & ~(uint64_t(1) << 63);
  int field = int(bits >> 52);
  if (field == 0x7FF) {
    return sign | (canOverflow ? format.infinity : format.maxFinite);
  }
  uint64_t significand = bits & ((uint64_t(1) << 52) - 1);
  significand |= field ? uint64_t(1) << 52 : 0;
  int exponent = (field ? field : 1) - 1023;
  int unit = exponent < format.minExponent() ? format.minExponent() : exponent;
  int shift = 52 - format.fractionBits + (unit - exponent);
  uint64_t rounded =
      shiftRightRounded(significand, shift, rounding, negative) +
      (uint64_t(unit + format.bias() - 1) << format.fractionBits);
  if (rounded <= format.maxFinite) {
    return sign | uint32_t(rounded);
  }
  bool infinite = canOverflow && overflowsToInfinity(rounding, negative);
  return sign | (infinite ? format.infinity : format.maxFinite);
}

uint32_t attn::sim::roundRandomly(float value, const FloatFormat &format,
                                  uint32_t random, int count, bool satfinite,
                                  bool relu) {
  if (!std::isfinite(value)) {
    return roundToFormat(value, format, Rounding::RN, satfinite, relu);
  }
  int exponent = std::max(std::ilogb(value), format.minExponent());
  double unit = std::ldexp(1.0, exponent - format.fractionBits);
  double magnitude = std::fabs(double(value)) / unit;
  double kept = std::floor(magnitude);
  double dropped = std::floor(std::ldexp(magnitude - kept, count));
  kept += dropped + random >= std::ldexp(1.0, count) ? 1 : 0;
  return roundToFormat(std::copysign(kept * unit, double(value)), format,
                       Rounding::RN, satfinite, relu);
}

double attn::sim::fromFormat(uint32_t bits, const FloatFormat &format) {
  uint32_t magnitude = bits & (format.signBit() - 1);
  double sign = bits & format.signBit() ? -1.0 : 1.0;
  if (format.infinity && magnitude == format.infinity) {
    return sign * HUGE_VAL;
  }
  if (format.nan && magnitude > format.maxFinite) {
    return f64FromBits(0x7FF8000000000000);
  }
  int field = int(magnitude >> format.fractionBits);
  uint32_t fraction = magnitude & ((1u << format.fractionBits) - 1);
  fraction |= field ? 1u << format.fractionBits : 0;
  int exponent = (field ? field : 1) - format.bias();
  return sign * std::ldexp(double(fraction), exponent - format.fractionBits);
}

float attn::sim::roundToF32(double value, Rounding rounding) {
  if (value != value) {
    return f32FromBits(kF32.nan);
  }
  if (rounding == Rounding::RN) {
    return float(value);
  }
  return f32FromBits(roundToFormat(value, kF32, rounding));
}

uint16_t attn::sim::toF16(float value, Rounding rounding, bool satfinite,
                          bool relu) {
  uint32_t bits = toBits(value);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  // The f16 normal range, rounding to nearest: the common case.
  bool plain = rounding == Rounding::RN && !satfinite && !relu;
  if (plain && magnitude >= 0x38800000 && magnitude < 0x477FE000) {
    uint32_t odd = (magnitude >> 13) & 1;
    uint32_t rounded = (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
    return uint16_t((bits >> 16 & 0x8000) | rounded);
  }
  return uint16_t(roundToFormat(value, kF16, rounding, satfinite, relu));
}

uint16_t attn::sim::toBF16(float value, Rounding rounding, bool satfinite,
                           bool relu) {
  if (rounding == Rounding::RN && !satfinite && !relu && value == value) {
    uint32_t bits = toBits(value);
    return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
  }
  return uint16_t(roundToFormat(value, kBF16, rounding, satfinite, relu));
}

uint32_t attn::sim::toTF32(float value, Rounding rounding, bool satfinite,
                           bool relu) {
  if (value != value && rounding == Rounding::RNA) {
    return (toBits(value) & 0xFFFFE000) - (satfinite ? 0x2000 : 0);
  }
  return roundToFormat(value, kTF32, rounding, satfinite, relu) << 13;
}

float attn::sim::fromF16(uint16_t bits) {
  uint32_t magnitude = bits & 0x7FFF;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  if (magnitude > 0x7C00) {
    return f32FromBits(kF32.nan);
  }
  if (magnitude == 0x7C00) {
    return f32FromBits(sign | 0x7F800000);
  }
  // Moves the bits to where f32 has them. The exponent is then off by the
  // difference of the biases. A multiplication repairs that, for subnormals
  // too.
  float scaled =
      f32FromBits(magnitude << 13) * f32FromBits(uint32_t(254 - 15) << 23);
  return f32FromBits(sign | toBits(scaled));
}

float attn::sim::fromBF16(uint16_t bits) {
  return (bits & 0x7FFF) > 0x7F80 ? f32FromBits(kF32.nan)
                                  : f32FromBits(uint32_t(bits) << 16);
}

float attn::sim::fromE4M3(uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? f32FromBits(kF32.nan)
                               : float(fromFormat(bits, kE4M3));
}

float attn::sim::fromE5M2(uint8_t bits) { return fromF16(uint16_t(bits << 8)); }

uint32_t attn::sim::toF16x2(float high, float low, Rounding rounding,
                            bool satfinite, bool relu) {
  return uint32_t(toF16(high, rounding, satfinite, relu)) << 16 |
         toF16(low, rounding, satfinite, relu);
}

uint32_t attn::sim::toBF16x2(float high, float low, Rounding rounding,
                             bool satfinite, bool relu) {
  return uint32_t(toBF16(high, rounding, satfinite, relu)) << 16 |
         toBF16(low, rounding, satfinite, relu);
}

uint8_t attn::sim::toUE8M0(float value, Rounding rounding, bool satfinite) {
  constexpr uint32_t nan = 0xFF;
  constexpr uint32_t least = 0x00400000; // 2^-127, which is 0 as ue8m0
  uint32_t magnitude = toBits(value) & 0x7FFFFFFF;
  if (value != value) {
    return nan;
  }
  bool isPower = (magnitude & 0x007FFFFF) == 0;
  bool up = rounding == Rounding::RP && !isPower && magnitude > least;
  uint32_t exponent = (magnitude >> 23) + up;
  return uint8_t(satfinite && exponent == nan ? nan - 1 : exponent);
}

uint16_t attn::sim::ue8m0ToBF16(uint8_t bits) {
  return bits == 0xFF ? 0x7FFF : bits == 0 ? 0x0040 : uint16_t(bits << 7);
}
