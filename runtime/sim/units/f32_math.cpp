// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/f32_math.h"

#include <cfenv>
#include <cmath>

using namespace attn::sim;

namespace {

int hostRounding(Rounding rounding) {
  switch (rounding) {
  case Rounding::RZ:
    return FE_TOWARDZERO;
  case Rounding::RM:
    return FE_DOWNWARD;
  case Rounding::RP:
    return FE_UPWARD;
  case Rounding::RN:
  case Rounding::RNA:
    break;
  }
  return FE_TONEAREST;
}

/// Computes `operation(a, b, c)` in the host's rounding mode `rounding`. The
/// volatile copies keep the operation between the changes of mode.
template <typename T, typename Operation>
T inRounding(Rounding rounding, T a, T b, T c, Operation operation) {
  if (rounding == Rounding::RN) {
    return operation(a, b, c);
  }
  int before = std::fegetround();
  std::fesetround(hostRounding(rounding));
  volatile T va = a, vb = b, vc = c;
  T x = va, y = vb, z = vc;
  volatile T result = operation(x, y, z);
  std::fesetround(before);
  return result;
}

constexpr uint32_t kSmallestNormal = 0x00800000;

/// Whether a result that rounded to the smallest normal number would be smaller
/// with an unlimited exponent range: .ftz flushes it then. `exact` is the value
/// before rounding, or that value rounded to odd in double.
bool isTiny(float result, double exact, Rounding rounding) {
  return (toBits(result) & 0x7FFFFFFF) == kSmallestNormal &&
         std::fabs(roundToF32(exact * 0x1p64, rounding)) < 0x1p-62f;
}

template <typename Operation, typename Exact>
float applyF32(float a, float b, float c, const F32Mode &mode,
               Operation operation, Exact exact) {
  if (mode.ftz) {
    a = flushF32(a);
    b = flushF32(b);
    c = flushF32(c);
  }
  float result = inRounding(mode.rounding, a, b, c, operation);
  if (mode.ftz) {
    bool tiny = isTiny(result, exact(a, b, c), mode.rounding);
    result = tiny ? f32FromBits(toBits(result) & 0x80000000) : flushF32(result);
  }
  return canonicalF32(mode.sat ? saturateF32(result) : result);
}

/// A sum that is subnormal is exact.
double exactSum(float, float, float) { return 1.0; }

} // namespace

float attn::sim::addF32(float a, float b, const F32Mode &mode) {
  return applyF32(
      a, b, 0.0f, mode, [](float x, float y, float) { return x + y; },
      exactSum);
}

float attn::sim::subF32(float a, float b, const F32Mode &mode) {
  return applyF32(
      a, b, 0.0f, mode, [](float x, float y, float) { return x - y; },
      exactSum);
}

float attn::sim::mulF32(float a, float b, const F32Mode &mode) {
  return applyF32(
      a, b, 0.0f, mode, [](float x, float y, float) { return x * y; },
      [](float x, float y, float) { return double(x) * y; });
}

float attn::sim::fmaF32(float a, float b, float c, const F32Mode &mode) {
  return applyF32(
      a, b, c, mode,
      [](float x, float y, float z) { return std::fma(x, y, z); },
      [](float x, float y, float z) { return addToOdd(double(x) * y, z); });
}

float attn::sim::divF32(float a, float b, const F32Mode &mode) {
  // No exact quotient is so close to a rounding boundary that double would not
  // show on which side it is.
  return applyF32(
      a, b, 0.0f, mode, [](float x, float y, float) { return x / y; },
      [](float x, float y, float) { return double(x) / y; });
}

float attn::sim::rcpF32(float a, const F32Mode &mode) {
  return divF32(1.0f, a, mode);
}

float attn::sim::sqrtF32(float a, const F32Mode &mode) {
  return applyF32(
      a, 0.0f, 0.0f, mode, [](float x, float, float) { return std::sqrt(x); },
      [](float, float, float) { return 1.0; });
}

float attn::sim::absF32(float a, bool ftz) {
  float result = canonicalF32(f32FromBits(toBits(a) & 0x7FFFFFFF));
  return ftz ? flushF32(result) : result;
}

float attn::sim::negF32(float a, bool ftz) {
  float result = canonicalF32(f32FromBits(toBits(a) ^ 0x80000000));
  return ftz ? flushF32(result) : result;
}

float attn::sim::copysignF32(float a, float b) {
  return f32FromBits((toBits(a) & 0x80000000) | (toBits(b) & 0x7FFFFFFF));
}

/// min or max of two values that are no NaN, -0 < +0.
template <typename T> static T orderedMinMax(bool max, T a, T b) {
  bool aLess = a < b || (a == b && std::signbit(a));
  return aLess == max ? b : a;
}

static float minMaxF32(bool max, float a, float b, const MinMaxMode &mode) {
  if (mode.ftz) {
    a = flushF32(a);
    b = flushF32(b);
  }
  uint32_t sign = (toBits(a) ^ toBits(b)) & 0x80000000;
  if (mode.xorsignAbs) {
    a = absF32(a);
    b = absF32(b);
  }
  bool aNaN = a != a;
  bool bNaN = b != b;
  if ((aNaN && bNaN) || (mode.propagateNaN && (aNaN || bNaN))) {
    return f32FromBits(kCanonicalNaN);
  }
  float result = aNaN ? b : bNaN ? a : orderedMinMax(max, a, b);
  return mode.xorsignAbs ? f32FromBits(toBits(result) | sign) : result;
}

float attn::sim::minF32(float a, float b, const MinMaxMode &mode) {
  return minMaxF32(false, a, b, mode);
}

float attn::sim::maxF32(float a, float b, const MinMaxMode &mode) {
  return minMaxF32(true, a, b, mode);
}

static double quiet(double nan) {
  return f64FromBits(toBits(nan) | uint64_t(1) << 51);
}

/// The result of an operation whose operands have NaNs is one of them, quiet;
/// H200s prefer the second, then the third.
static double finishF64(double result, double a, double b, double c = 0) {
  return result == result ? result
         : b != b         ? quiet(b)
         : c != c         ? quiet(c)
         : a != a         ? quiet(a)
                          : f64FromBits(0xFFF8000000000000);
}

double attn::sim::addF64(double a, double b, Rounding rounding) {
  double sum = inRounding(rounding, a, b, 0.0,
                          [](double x, double y, double) { return x + y; });
  return finishF64(sum, a, b);
}

double attn::sim::subF64(double a, double b, Rounding rounding) {
  double difference = inRounding(
      rounding, a, b, 0.0, [](double x, double y, double) { return x - y; });
  return finishF64(difference, a, b);
}

double attn::sim::mulF64(double a, double b, Rounding rounding) {
  double product = inRounding(rounding, a, b, 0.0,
                              [](double x, double y, double) { return x * y; });
  return finishF64(product, a, b);
}

double attn::sim::fmaF64(double a, double b, double c, Rounding rounding) {
  double result =
      inRounding(rounding, a, b, c, [](double x, double y, double z) {
        return std::fma(x, y, z);
      });
  return finishF64(result, a, b, c);
}

/// Division prefers the first operand's NaN.
double attn::sim::divF64(double a, double b, Rounding rounding) {
  double quotient = inRounding(
      rounding, a, b, 0.0, [](double x, double y, double) { return x / y; });
  return finishF64(quotient, b, a);
}

double attn::sim::sqrtF64(double a, Rounding rounding) {
  double root = inRounding(rounding, a, 0.0, 0.0, [](double x, double, double) {
    return std::sqrt(x);
  });
  return finishF64(root, a, a);
}

double attn::sim::minF64(double a, double b) {
  return a != a && b != b ? quiet(b)
         : a != a         ? b
         : b != b         ? a
                          : orderedMinMax(false, a, b);
}

double attn::sim::maxF64(double a, double b) {
  return a != a && b != b ? quiet(b)
         : a != a         ? b
         : b != b         ? a
                          : orderedMinMax(true, a, b);
}

double attn::sim::absF64(double a) { return a != a ? quiet(a) : std::fabs(a); }

double attn::sim::negF64(double a) { return a != a ? quiet(a) : -a; }

/// To an integral value; ties of RN to even, of RNA away from zero.
template <typename T> static T toIntegral(T a, Rounding rounding) {
  switch (rounding) {
  case Rounding::RZ:
    return std::trunc(a);
  case Rounding::RM:
    return std::floor(a);
  case Rounding::RP:
    return std::ceil(a);
  case Rounding::RNA:
    return std::round(a);
  case Rounding::RN:
    break;
  }
  return std::nearbyint(a);
}

float attn::sim::roundToIntegralF32(float a, Rounding rounding, bool ftz) {
  return canonicalF32(toIntegral(ftz ? flushF32(a) : a, rounding));
}

double attn::sim::roundToIntegralF64(double a, Rounding rounding) {
  return toIntegral(a, rounding);
}

double attn::sim::addToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum)) {
    return sum;
  }
  // The sum's exact error (Knuth).
  double bPart = sum - a;
  double error = (a - (sum - bPart)) + (b - bPart);
  uint64_t bits = toBits(sum);
  if (error == 0 || (bits & 1)) {
    return sum;
  }
  bool outward = (error > 0) == (sum > 0);
  return f64FromBits(outward ? bits + 1 : bits - 1);
}
