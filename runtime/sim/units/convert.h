// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt between floating point and integers (PTX ISA, "cvt").

#ifndef ATTN_SIM_UNITS_CONVERT_H
#define ATTN_SIM_UNITS_CONVERT_H

#include "units/f32_math.h"

namespace attn::sim {

/// cvt.{rni,rzi,rmi,rpi}.<integer of `width` bits>.{f16,bf16,f32}: clamps to
/// the destination's range. NaN gives 0, and for 64-bit destinations 1 << 63.
/// The result is zero above `width` bits.
uint64_t f32ToInteger(float a, Rounding rounding, int width, bool isSigned,
                      bool ftz = false);
/// Same from f64: NaN gives only the top bit.
uint64_t f64ToInteger(double a, Rounding rounding, int width, bool isSigned);

/// cvt.{rn,rz,rm,rp}.<float>.<integer of `width` bits>.
float integerToF32(uint64_t a, int width, bool isSigned,
                   Rounding rounding = Rounding::RN);
double integerToF64(uint64_t a, int width, bool isSigned,
                    Rounding rounding = Rounding::RN);
uint32_t integerToFormat(uint64_t a, int width, bool isSigned,
                         const FloatFormat &format,
                         Rounding rounding = Rounding::RN);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_CONVERT_H
