// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/approx.h"
#include "units/simd.h"

#include <cmath>

using namespace attn::sim;

namespace {

/// 2^x for |x| <= 200 in double, relative error below 1e-11: x = n + f with
/// |f| <= 1/2, and the Taylor polynomial of exp(f ln 2).
ATTN_SIM_INLINE double exp2Double(double x) {
  constexpr double kRounder = 6755399441055744.0; // 1.5 * 2^52
  double shifted = x + kRounder;
  double f = (x - (shifted - kRounder)) * 0.69314718055994530942;
  double p = 1.0 / 362880;
  p = p * f + 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  // The low bits of `shifted` hold n.
  uint64_t scale = (toBits(shifted) + 1023) << 52;
  return p * f64FromBits(scale);
}

ATTN_SIM_INLINE float ex2One(float x, bool ftz) {
  double wide = x;
  wide = wide < -200.0 ? -200.0 : wide;
  wide = wide > 200.0 ? 200.0 : wide;
  auto result = float(exp2Double(wide));
  // A subnormal input gives 1 with or without .ftz.
  float smallest = ftz ? 0x1p-126f : 0.0f;
  result = result < smallest ? 0.0f : result;
  return x != x ? f32FromBits(kCanonicalNaN) : result;
}

ATTN_SIM_INLINE void ex2Warp(const float *x, float *out, bool ftz) {
  for (int i = 0; i < kWarpSize; ++i) {
    out[i] = ex2One(x[i], ftz);
  }
}

#if ATTN_SIM_X86
ATTN_SIM_AVX2 void ex2WarpAvx2(const float *x, float *out, bool ftz) {
  ex2Warp(x, out, ftz);
}
ATTN_SIM_AVX512 void ex2WarpAvx512(const float *x, float *out, bool ftz) {
  ex2Warp(x, out, ftz);
}
#endif
void ex2WarpBaseline(const float *x, float *out, bool ftz) {
  ex2Warp(x, out, ftz);
}

using Ex2Warp = void (*)(const float *, float *, bool);

Ex2Warp chooseEx2Warp() {
#if ATTN_SIM_X86
  switch (detectHostVectors()) {
  case HostVectors::Avx512:
    return ex2WarpAvx512;
  case HostVectors::Avx2:
    return ex2WarpAvx2;
  case HostVectors::Baseline:
    break;
  }
#endif
  return ex2WarpBaseline;
}

float finish(double value, bool ftz) {
  float result = canonicalF32(float(value));
  return ftz ? flushF32(result) : result;
}

double top32(double value) {
  return f64FromBits(toBits(value) & 0xFFFFFFFF00000000);
}

/// The top 32 bits count, subnormals are zeros.
double flushTop32(double value) {
  uint64_t bits = toBits(value);
  bool subnormal = !(bits & 0x7FF0000000000000);
  return subnormal ? f64FromBits(bits & 0x8000000000000000) : top32(value);
}

} // namespace

float attn::sim::ex2Approx(float x, bool ftz) { return ex2One(x, ftz); }

void attn::sim::ex2ApproxWarp(const float x[kWarpSize], float out[kWarpSize],
                              bool ftz) {
  static const Ex2Warp chosen = chooseEx2Warp();
  chosen(x, out, ftz);
}

float attn::sim::lg2Approx(float x, bool ftz) {
  return finish(std::log2(double(ftz ? flushF32(x) : x)), ftz);
}

float attn::sim::rcpApprox(float x, bool ftz) {
  return rcpF32(x, {Rounding::RN, ftz, false});
}

float attn::sim::rsqrtApprox(float x, bool ftz) {
  return finish(1.0 / std::sqrt(double(ftz ? flushF32(x) : x)), ftz);
}

float attn::sim::sqrtApprox(float x, bool ftz) {
  return sqrtF32(x, {Rounding::RN, ftz, false});
}

float attn::sim::sinApprox(float x, bool ftz) {
  return finish(std::sin(double(ftz ? flushF32(x) : x)), ftz);
}

float attn::sim::cosApprox(float x, bool ftz) {
  return finish(std::cos(double(ftz ? flushF32(x) : x)), ftz);
}

float attn::sim::tanhApprox(float x) {
  return finish(std::tanh(double(x)), false);
}

float attn::sim::divApprox(float a, float b, bool ftz) {
  float magnitude = absF32(b);
  if (magnitude > 0x1p126f && magnitude <= 0x1.fffffep127f) {
    if (a != a || std::isinf(a)) {
      return f32FromBits(kCanonicalNaN);
    }
    return f32FromBits((toBits(a) ^ toBits(b)) & 0x80000000);
  }
  return divF32(a, b, {Rounding::RN, ftz, false});
}

float attn::sim::divFull(float a, float b, bool ftz) {
  return divF32(a, b, {Rounding::RN, ftz, false});
}

double attn::sim::rcpApproxF64(double x) {
  return flushTop32(1.0 / flushTop32(x));
}

double attn::sim::rsqrtApproxF64(double x) {
  return flushTop32(1.0 / std::sqrt(flushTop32(x)));
}

uint16_t attn::sim::ex2ApproxHalf(HalfType type, uint16_t x, bool ftz) {
  if (type == HalfType::BF16) {
    return toBF16(ex2Approx(flushF32(fromBF16(x)), true));
  }
  uint16_t result = toF16(ex2Approx(fromF16(x), false));
  return ftz && !(result & 0x7C00) ? uint16_t(0) : result;
}

uint16_t attn::sim::tanhApproxHalf(HalfType type, uint16_t x) {
  return toHalf(type, tanhApprox(fromHalf(type, x)));
}

uint32_t attn::sim::ex2ApproxHalf2(HalfType type, uint32_t x, bool ftz) {
  return uint32_t(ex2ApproxHalf(type, uint16_t(x >> 16), ftz)) << 16 |
         ex2ApproxHalf(type, uint16_t(x), ftz);
}

uint32_t attn::sim::tanhApproxHalf2(HalfType type, uint32_t x) {
  return uint32_t(tanhApproxHalf(type, uint16_t(x >> 16))) << 16 |
         tanhApproxHalf(type, uint16_t(x));
}
