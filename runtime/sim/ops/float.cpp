// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 and f64 arithmetic and the approximations.

#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/approx.h"

#include <cmath>

using namespace attn::sim;

namespace {

/// A mode in Inst::aux.
constexpr uint64_t kFtzBit = 16;
constexpr uint64_t kSatBit = 32;

F32Mode modeOf(const Inst &inst) {
  F32Mode mode;
  mode.rounding = Rounding(inst.aux & 7);
  mode.ftz = inst.aux & kFtzBit;
  mode.sat = inst.aux & kSatBit;
  return mode;
}

uint64_t encodeMode(const Match &match) {
  Rounding rounding = match.has(".rz")   ? Rounding::RZ
                      : match.has(".rm") ? Rounding::RM
                      : match.has(".rp") ? Rounding::RP
                                         : Rounding::RN;
  return uint64_t(rounding) | (match.has(".ftz") ? kFtzBit : 0) |
         (match.has(".sat") ? kSatBit : 0);
}

// To nearest without .sat, which is what kernels use: made to be inlined.
// Products are left to the general form where .ftz may depend on what was
// rounded.
template <bool ftz> float in(float a) { return ftz ? flushF32(a) : a; }
template <bool ftz> float out(float a) {
  return canonicalF32(ftz ? flushF32(a) : a);
}
template <bool ftz> float add(float a, float b) {
  return out<ftz>(in<ftz>(a) + in<ftz>(b));
}
template <bool ftz> float sub(float a, float b) {
  return out<ftz>(in<ftz>(a) - in<ftz>(b));
}
float mul(float a, float b) { return canonicalF32(a * b); }
float fma(float a, float b, float c) {
  return canonicalF32(__builtin_fmaf(a, b, c));
}

// Any mode.
template <float (*function)(float, float, const F32Mode &)>
Step general2(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[kLanes];
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = function(a[lane], b[lane], mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <float (*function)(float, const F32Mode &)>
Step general1(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = function(warp.at<float>(inst.slots[1])[lane], mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

Step generalFma(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = fmaF32(warp.at<float>(inst.slots[1])[lane],
                           warp.at<float>(inst.slots[2])[lane],
                           warp.at<float>(inst.slots[3])[lane], mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// Whether a result is the smallest normal number, which .ftz flushes if it was
/// rounded up to that.
bool isBoundary(float result) {
  return (toBits(result) & 0x7fffffff) == 0x00800000;
}

Step mulFlushing(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  float results[kLanes];
  bool boundary = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = out<true>(in<true>(a[lane]) * in<true>(b[lane]));
    boundary |= isBoundary(results[lane]);
  }
  if (boundary) {
    return general2<mulF32>(warp, inst);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

Step fmaFlushing(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  const float *c = warp.at<float>(inst.slots[3]);
  float results[kLanes];
  bool boundary = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = out<true>(__builtin_fmaf(
        in<true>(a[lane]), in<true>(b[lane]), in<true>(c[lane])));
    boundary |= isBoundary(results[lane]);
  }
  if (boundary) {
    return generalFma(warp, inst);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// Picks the inlined form where there is one: the row's handler is the general
/// one.
template <Handler plain, Handler flushing>
bool finishMode(OperandDecoder &, const ptx::Instruction &, const Match &match,
                Inst &inst) {
  inst.aux = encodeMode(match);
  if (inst.aux == 0 && plain != nullptr) {
    inst.run = plain;
  } else if (inst.aux == kFtzBit && flushing != nullptr) {
    inst.run = flushing;
  }
  return true;
}

template <bool ftz, bool isMax> float minMax(float a, float b) {
  a = in<ftz>(a);
  b = in<ftz>(b);
  uint32_t equal = isMax ? toBits(a) & toBits(b) : toBits(a) | toBits(b);
  float ordered = (isMax ? a > b : a < b) ? a : b;
  float both = a == b ? f32FromBits(equal) : ordered;
  return canonicalF32(a != a ? b : b != b ? a : both);
}

template <bool isMax> Step generalMinMax(Warp &warp, const Inst &inst) {
  MinMaxMode mode;
  mode.ftz = inst.aux & 1;
  mode.propagateNaN = inst.aux & 2;
  mode.xorsignAbs = inst.aux & 4;
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    float a = warp.at<float>(inst.slots[1])[lane];
    float b = warp.at<float>(inst.slots[2])[lane];
    results[lane] = isMax ? maxF32(a, b, mode) : minF32(a, b, mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <bool isMax>
bool finishMinMax(OperandDecoder &, const ptx::Instruction &,
                  const Match &match, Inst &inst) {
  inst.aux = (match.has(".ftz") ? 1 : 0) | (match.has(".NaN") ? 2 : 0) |
             (match.has(".abs") ? 4 : 0);
  inst.run = inst.aux == 0   ? lanewise<&minMax<false, isMax>>
             : inst.aux == 1 ? lanewise<&minMax<true, isMax>>
                             : inst.run;
  return true;
}

template <bool ftz> float absolute(float a) { return absF32(a, ftz); }
template <bool ftz> float negate(float a) { return negF32(a, ftz); }

template <bool ftz> Step ex2(Warp &warp, const Inst &inst) {
  float results[kLanes];
  ex2ApproxWarp(warp.at<float>(inst.slots[1]), results, ftz);
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// An approximation with a flag for .ftz.
template <float (*function)(float, bool), bool ftz> float approx(float a) {
  return function(a, ftz);
}
template <float (*function)(float, float, bool), bool ftz>
float approx2(float a, float b) {
  return function(a, b, ftz);
}

template <float (*function)(float, bool)>
void addApprox(Rows &rows, const char *name) {
  rows.push_back({fill("%.approx.f32", name), "d4 f4",
                  lanewise<&approx<function, false>>});
  rows.push_back({fill("%.approx.ftz.f32", name), "d4 f4",
                  lanewise<&approx<function, true>>});
}

template <double (*function)(double, double, Rounding)>
Step double2(Warp &warp, const Inst &inst) {
  double results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] =
        function(warp.at<double>(inst.slots[1])[lane],
                 warp.at<double>(inst.slots[2])[lane], Rounding(inst.aux & 7));
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

Step doubleFma(Warp &warp, const Inst &inst) {
  double results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] =
        fmaF64(warp.at<double>(inst.slots[1])[lane],
               warp.at<double>(inst.slots[2])[lane],
               warp.at<double>(inst.slots[3])[lane], Rounding(inst.aux & 7));
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

double sqrtOf(double a, double, Rounding rounding) {
  return sqrtF64(a, rounding);
}
double rcpOf(double a, double, Rounding rounding) {
  return divF64(1.0, a, rounding);
}
double rsqrtF64(double a) { return divF64(1.0, sqrtF64(a)); }
double copysignF64(double a, double b) { return std::copysign(b, a); }

/// One-source rows run handlers of two: the second slot is the first again.
bool finishUnary64(OperandDecoder &, const ptx::Instruction &,
                   const Match &match, Inst &inst) {
  inst.aux = encodeMode(match);
  inst.slots[2] = inst.slots[1];
  return true;
}

void addSingleRows(Rows &rows) {
  rows.insert(
      rows.end(),
      {{"add[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "d4 f4 f4", general2<addF32>,
        finishMode<lanewise<&add<false>>, lanewise<&add<true>>>},
       {"sub[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "d4 f4 f4", general2<subF32>,
        finishMode<lanewise<&sub<false>>, lanewise<&sub<true>>>},
       {"mul[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "d4 f4 f4", general2<mulF32>,
        finishMode<lanewise<&mul>, mulFlushing>},
       {"fma{.rn|.rz|.rm|.rp}[.ftz][.sat].f32", "d4 f4 f4 f4", generalFma,
        finishMode<lanewise<&fma>, fmaFlushing>},
       {"mad{.rn|.rz|.rm|.rp}[.ftz][.sat].f32", "d4 f4 f4 f4", generalFma,
        finishMode<lanewise<&fma>, fmaFlushing>},
       {"div{.rn|.rz|.rm|.rp}[.ftz].f32", "d4 f4 f4", general2<divF32>,
        finishMode<nullptr, nullptr>},
       {"rcp{.rn|.rz|.rm|.rp}[.ftz].f32", "d4 f4", general1<rcpF32>,
        finishMode<nullptr, nullptr>},
       {"sqrt{.rn|.rz|.rm|.rp}[.ftz].f32", "d4 f4", general1<sqrtF32>,
        finishMode<nullptr, nullptr>},
       {"min[.ftz][.NaN][.xorsign][.abs].f32", "d4 f4 f4", generalMinMax<false>,
        finishMinMax<false>},
       {"max[.ftz][.NaN][.xorsign][.abs].f32", "d4 f4 f4", generalMinMax<true>,
        finishMinMax<true>},
       {"abs.f32", "d4 f4", lanewise<&absolute<false>>},
       {"abs.ftz.f32", "d4 f4", lanewise<&absolute<true>>},
       {"neg.f32", "d4 f4", lanewise<&negate<false>>},
       {"neg.ftz.f32", "d4 f4", lanewise<&negate<true>>},
       {"copysign.f32", "d4 f4 f4", lanewise<&copysignF32>},
       {"ex2.approx.f32", "d4 f4", ex2<false>},
       {"ex2.approx.ftz.f32", "d4 f4", ex2<true>},
       {"tanh.approx.f32", "d4 f4", lanewise<&tanhApprox>},
       {"div.approx.f32", "d4 f4 f4", lanewise<&approx2<divApprox, false>>},
       {"div.approx.ftz.f32", "d4 f4 f4", lanewise<&approx2<divApprox, true>>},
       {"div.full.f32", "d4 f4 f4", lanewise<&approx2<divFull, false>>},
       {"div.full.ftz.f32", "d4 f4 f4", lanewise<&approx2<divFull, true>>}});
  addApprox<lg2Approx>(rows, "lg2");
  addApprox<rcpApprox>(rows, "rcp");
  addApprox<rsqrtApprox>(rows, "rsqrt");
  addApprox<sqrtApprox>(rows, "sqrt");
  addApprox<sinApprox>(rows, "sin");
  addApprox<cosApprox>(rows, "cos");
}

void addDoubleRows(Rows &rows) {
  Finish mode = finishMode<nullptr, nullptr>;
  rows.insert(
      rows.end(),
      {{"add[.rn|.rz|.rm|.rp].f64", "d8 f8 f8", double2<addF64>, mode},
       {"sub[.rn|.rz|.rm|.rp].f64", "d8 f8 f8", double2<subF64>, mode},
       {"mul[.rn|.rz|.rm|.rp].f64", "d8 f8 f8", double2<mulF64>, mode},
       {"fma{.rn|.rz|.rm|.rp}.f64", "d8 f8 f8 f8", doubleFma, mode},
       {"mad{.rn|.rz|.rm|.rp}.f64", "d8 f8 f8 f8", doubleFma, mode},
       {"div{.rn|.rz|.rm|.rp}.f64", "d8 f8 f8", double2<divF64>, mode},
       {"rcp{.rn|.rz|.rm|.rp}.f64", "d8 f8", double2<rcpOf>, finishUnary64},
       {"sqrt{.rn|.rz|.rm|.rp}.f64", "d8 f8", double2<sqrtOf>, finishUnary64},
       {"min.f64", "d8 f8 f8", lanewise<&minF64>},
       {"max.f64", "d8 f8 f8", lanewise<&maxF64>},
       {"abs.f64", "d8 f8", lanewise<&absF64>},
       {"neg.f64", "d8 f8", lanewise<&negF64>},
       {"copysign.f64", "d8 f8 f8", lanewise<&copysignF64>},
       {"rcp.approx.ftz.f64", "d8 f8", lanewise<&rcpApproxF64>},
       {"rsqrt.approx.f64", "d8 f8", lanewise<&rsqrtF64>},
       {"rsqrt.approx.ftz.f64", "d8 f8", lanewise<&rsqrtApproxF64>}});
}

} // namespace

void attn::sim::addFloatRows(Rows &rows) {
  addSingleRows(rows);
  addDoubleRows(rows);
}
