// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32/f64 and the narrow floating-point formats, with PTX's
// rounding modes (PTX ISA, "cvt"). NaN results are PTX's canonical ones.

#ifndef ATTN_SIM_UNITS_FLOAT_FORMAT_H
#define ATTN_SIM_UNITS_FLOAT_FORMAT_H

#include "units/bits.h"

namespace attn::sim {

/// PTX's rounding modifiers: to nearest even, toward zero, toward -inf, toward
/// +inf, to nearest with ties away from zero.
enum class Rounding : uint8_t { RN, RZ, RM, RP, RNA };

/// A binary floating-point format with one sign bit.
struct FloatFormat {
  int exponentBits;
  int fractionBits;
  /// The bits of the largest finite value (without sign).
  uint32_t maxFinite;
  /// The bits of the canonical NaN; 0 if the format has none (NaN converts to
  /// maxFinite then).
  uint32_t nan;
  /// The bits of +infinity; 0 if the format has none (overflow saturates).
  uint32_t infinity;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint32_t signBit() const {
    return 1u << (exponentBits + fractionBits);
  }
  /// The exponent that subnormal values use: 1 - bias.
  constexpr int minExponent() const { return 1 - bias(); }
};

constexpr FloatFormat kF16 = {5, 10, 0x7BFF, 0x7FFF, 0x7C00};
constexpr FloatFormat kBF16 = {8, 7, 0x7F7F, 0x7FFF, 0x7F80};
/// tf32 as its 19 bits; see toTF32 for the 32-bit container.
constexpr FloatFormat kTF32 = {8, 10, 0x3FBFF, 0x3FFFF, 0x3FC00};
constexpr FloatFormat kF32 = {8, 23, 0x7F7FFFFF, 0x7FFFFFFF, 0x7F800000};
constexpr FloatFormat kE4M3 = {4, 3, 0x7E, 0x7F, 0};
constexpr FloatFormat kE5M2 = {5, 2, 0x7B, 0x7F, 0x7C};
constexpr FloatFormat kE2M1 = {2, 1, 0x7, 0, 0};
constexpr FloatFormat kE2M3 = {2, 3, 0x1F, 0, 0};
constexpr FloatFormat kE3M2 = {3, 2, 0x1F, 0, 0};

/// Rounds the exact value of a double to `format`. `satfinite`: infinities and
/// overflow become +-maxFinite. `relu`: negative results become +0.
uint32_t roundToFormat(double value, const FloatFormat &format,
                       Rounding rounding = Rounding::RN, bool satfinite = false,
                       bool relu = false);

/// Rounds as cvt.rs does: adds `random`, a number of `count` bits, to the
/// `count` highest of the bits that `format` drops. If that carries, the
/// magnitude is rounded up. Overflow is as with Rounding::RN.
uint32_t roundRandomly(float value, const FloatFormat &format, uint32_t random,
                       int count, bool satfinite, bool relu);

/// The value of `bits` in `format`, exactly. NaNs become double's quiet NaN.
double fromFormat(uint32_t bits, const FloatFormat &format);

/// f64 -> f32, one rounding. A NaN becomes 0x7fffffff.
float roundToF32(double value, Rounding rounding = Rounding::RN);

/// f32 -> f16/bf16 bits.
uint16_t toF16(float value, Rounding rounding = Rounding::RN,
               bool satfinite = false, bool relu = false);
uint16_t toBF16(float value, Rounding rounding = Rounding::RN,
                bool satfinite = false, bool relu = false);
/// cvt.{rn,rna,rz}.tf32.f32: f32 bits whose low 13 bits are zero; a NaN becomes
/// 0x7fffe000 (its canonical NaN without those bits), but .rna cuts its bits
/// off as H200s do, even if an infinity is left.
uint32_t toTF32(float value, Rounding rounding = Rounding::RNA,
                bool satfinite = false, bool relu = false);
/// Exact widening. A NaN becomes f32's canonical NaN.
float fromF16(uint16_t bits);
float fromBF16(uint16_t bits);
float fromE4M3(uint8_t bits);
float fromE5M2(uint8_t bits);

/// cvt.*x2: `high` is PTX's first source operand (the upper half).
uint32_t toF16x2(float high, float low, Rounding rounding = Rounding::RN,
                 bool satfinite = false, bool relu = false);
uint32_t toBF16x2(float high, float low, Rounding rounding = Rounding::RN,
                  bool satfinite = false, bool relu = false);

/// cvt.{rz,rp}.ue8m0x2: the exponent of |value| with f32's bias, by .rp that
/// of the next power of two. 0xff is NaN, and what overflows without
/// `satfinite`. (The ISA leaves signs and small values open: as in CUDA's
/// headers.)
uint8_t toUE8M0(float value, Rounding rounding, bool satfinite);
uint16_t ue8m0ToBF16(uint8_t bits);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_FLOAT_FORMAT_H
