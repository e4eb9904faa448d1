// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .approx instructions, modelled as: evaluate in double, round once to
// nearest. That lies inside every error bound that PTX documents (ex2 and
// div.approx 2 ulp, rcp 1 ulp, lg2 2^-22, rsqrt 2^-22.9, sqrt 2^-23, sin/cos
// 2^-20.5 in [-2pi, 2pi], tanh 2^-11 relative), and gives the same bits on
// every host whose libm is faithful to double.

#ifndef ATTN_SIM_UNITS_APPROX_H
#define ATTN_SIM_UNITS_APPROX_H

#include "units/packed_half.h"

namespace attn::sim {

/// ex2.approx{.ftz}.f32. .ftz: subnormal in -> 1, subnormal result -> +0.
float ex2Approx(float x, bool ftz = false);
/// Same for a warp: out[i] = ex2Approx(x[i]); bit-identical and vectorizable.
void ex2ApproxWarp(const float x[kWarpSize], float out[kWarpSize], bool ftz);

float lg2Approx(float x, bool ftz = false);
float rcpApprox(float x, bool ftz = false);
float rsqrtApprox(float x, bool ftz = false);
float sqrtApprox(float x, bool ftz = false);
float sinApprox(float x, bool ftz = false);
float cosApprox(float x, bool ftz = false);
float tanhApprox(float x);
/// div.approx: 0 for 2^126 < |b| < 2^128 (NaN if a is infinite).
float divApprox(float a, float b, bool ftz = false);
/// div.full: 2 ulp over the whole range.
float divFull(float a, float b, bool ftz = false);
/// {rcp,rsqrt}.approx.ftz.f64: only the top 32 bits of input and output count.
double rcpApproxF64(double x);
double rsqrtApproxF64(double x);

/// ex2.approx.{ftz.}{f16,bf16} and tanh.approx.{f16,bf16}; one element.
/// bf16's ex2 always flushes.
uint16_t ex2ApproxHalf(HalfType type, uint16_t x, bool ftz = false);
uint16_t tanhApproxHalf(HalfType type, uint16_t x);
uint32_t ex2ApproxHalf2(HalfType type, uint32_t x, bool ftz = false);
uint32_t tanhApproxHalf2(HalfType type, uint32_t x);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_APPROX_H
