// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 and f64 arithmetic and the approximations.

#include "ops/float_lanes.h"
#include "ops/rows.h"
#include "units/approx.h"

#include <cmath>

using namespace attn::sim;

namespace {

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
        finishMode<plain2<add<false>>, plain2<add<true>>>},
       {"sub[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "d4 f4 f4", general2<subF32>,
        finishMode<plain2<sub<false>>, plain2<sub<true>>>},
       {"mul[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "d4 f4 f4", general2<mulF32>,
        finishMode<plain2<mul>, mulFlushing<>>},
       {"fma{.rn|.rz|.rm|.rp}[.ftz][.sat].f32", "d4 f4 f4 f4", generalFma<>,
        finishMode<plainFma<>, fmaFlushing<>>},
       {"mad{.rn|.rz|.rm|.rp}[.ftz][.sat].f32", "d4 f4 f4 f4", generalFma<>,
        finishMode<plainFma<>, fmaFlushing<>>},
       {"div{.rn|.rz|.rm|.rp}[.ftz].f32", "d4 f4 f4", general2<divF32>,
        finishMode<nullptr, nullptr>},
       {"rcp{.rn|.rz|.rm|.rp}[.ftz].f32", "d4 f4", general1<rcpF32>,
        finishMode<nullptr, nullptr>},
       {"sqrt{.rn|.rz|.rm|.rp}[.ftz].f32", "d4 f4", general1<sqrtF32>,
        finishMode<nullptr, nullptr>},
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
