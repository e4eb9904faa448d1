// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coefficients of `nvx.exp2_poly`: 2^f on [-1/2, 1/2], minimax in relative
// error (Remez), rounded to f32. Without dependencies: tests evaluate it on the
// host.
#ifndef ATTN_DIALECT_EXP2POLY_H
#define ATTN_DIALECT_EXP2POLY_H

namespace attn::exp2poly {

inline constexpr int kMinDegree = 3;
inline constexpr int kMaxDegree = 5;

/// Row d - kMinDegree: the coefficients of f^0, f^1, ... of degree d.
inline constexpr float kCoefficients[3][6] = {
    {9.999280572e-01f, 6.932609677e-01f, 2.426111251e-01f, 5.517166853e-02f},
    {9.999992847e-01f, 6.931217909e-01f, 2.402474433e-01f, 5.591785908e-02f,
     9.570102207e-03f},
    {1.000000119e+00f, 6.931469440e-01f, 2.402212024e-01f, 5.550713092e-02f,
     9.675540961e-03f, 1.327647245e-03f}};

/// The bound of |result / 2^x - 1| for kSmallest <= x <= kClampAbove, including
/// f32 rounding.
inline constexpr double kRelativeError[3] = {7.6e-5, 2.8e-6, 2.5e-7};

/// Below this the result is denormal, that is 0 if denormals are flushed.
inline constexpr float kSmallest = -125.5f;

/// The lower clamp of x: its n is -126, and its 2^f below 1, so that the
/// exponent field of the result becomes 0.
inline constexpr float kClampBelow = -126.5f;

/// The upper clamp: the largest n whose exponent field is that of a finite
/// number.
inline constexpr float kClampAbove = 127.0f;

/// 1.5 * 2^23: adding it rounds to an integer, which is then in the low bits.
inline constexpr float kRound = 12582912.0f;

inline constexpr int kMantissaBits = 23;

} // namespace attn::exp2poly

#endif // ATTN_DIALECT_EXP2POLY_H
