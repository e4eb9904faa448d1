// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 and f64 arithmetic as PTX defines it: add, mul, fma, div, sqrt, min, max.
// Build everything that includes this with -ffp-contract=off.
//
// Rules (PTX ISA, "Floating Point Instructions"): .ftz flushes subnormal inputs
// and results to zeros of the same sign; .sat clamps to [0, 1] with NaN -> +0;
// f32 NaN results are 0x7fffffff; f64 ones keep the host's payload.

#ifndef ATTN_SIM_UNITS_F32_MATH_H
#define ATTN_SIM_UNITS_F32_MATH_H

#include "units/float_format.h"

namespace attn::sim {

constexpr uint32_t kCanonicalNaN = 0x7FFFFFFF;

/// Modifiers of an f32 instruction.
struct F32Mode {
  Rounding rounding = Rounding::RN;
  bool ftz = false;
  bool sat = false;
};

inline float flushF32(float value) {
  uint32_t bits = toBits(value);
  return (bits & 0x7F800000) ? value : f32FromBits(bits & 0x80000000);
}
inline float canonicalF32(float value) {
  return value != value ? f32FromBits(kCanonicalNaN) : value;
}
/// .sat: [0, 1], NaN -> +0.
inline float saturateF32(float value) {
  return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
}

/// Any rounding mode and modifier.
float addF32(float a, float b, const F32Mode &mode = {});
float subF32(float a, float b, const F32Mode &mode = {});
float mulF32(float a, float b, const F32Mode &mode = {});
float fmaF32(float a, float b, float c, const F32Mode &mode = {});
/// div.{rn,rz,rm,rp}; for div.approx and div.full see approx.h.
float divF32(float a, float b, const F32Mode &mode = {});
float rcpF32(float a, const F32Mode &mode = {});
float sqrtF32(float a, const F32Mode &mode = {});

/// abs and neg, flushed by .ftz. PTX leaves a NaN's bits open; here as on an
/// H200 it becomes canonical.
float absF32(float a, bool ftz = false);
float negF32(float a, bool ftz = false);
/// copysign: the sign of `a`, the magnitude of `b`.
float copysignF32(float a, float b);

/// Modifiers of min/max.
struct MinMaxMode {
  bool ftz = false;
  /// .NaN: any NaN gives the canonical NaN. Otherwise the number wins.
  bool propagateNaN = false;
  /// .xorsign.abs: of magnitudes, with the xor of the signs.
  bool xorsignAbs = false;
};
/// -0 < +0.
float minF32(float a, float b, const MinMaxMode &mode = {});
float maxF32(float a, float b, const MinMaxMode &mode = {});

/// f64: all four rounding modes. PTX leaves a NaN's bits open; they are as on
/// an H200.
double addF64(double a, double b, Rounding rounding = Rounding::RN);
double subF64(double a, double b, Rounding rounding = Rounding::RN);
double mulF64(double a, double b, Rounding rounding = Rounding::RN);
double fmaF64(double a, double b, double c, Rounding rounding = Rounding::RN);
double divF64(double a, double b, Rounding rounding = Rounding::RN);
double sqrtF64(double a, Rounding rounding = Rounding::RN);
double minF64(double a, double b);
double maxF64(double a, double b);
double absF64(double a);
double negF64(double a);

/// cvt.{rni,rzi,rmi,rpi}.f32.f32 and .f64.f64: round to an integral value.
float roundToIntegralF32(float a, Rounding rounding, bool ftz = false);
double roundToIntegralF64(double a, Rounding rounding);

/// a + b rounded to odd in double: rounding the result once more to any format
/// of at most 51 significand bits equals one rounding of the exact sum.
double addToOdd(double a, double b);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_F32_MATH_H
