// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 arithmetic, single and in pairs.

#include "ops/lanes.h"
#include "units/approx.h"

using namespace attn::sim;

namespace {

/// A HalfMode in a template argument.
constexpr unsigned kFtz = 1;
constexpr unsigned kSat = 2;
constexpr unsigned kRelu = 4;

constexpr HalfMode halfMode(unsigned bits) {
  HalfMode mode;
  mode.ftz = bits & kFtz;
  mode.sat = bits & kSat;
  mode.relu = bits & kRelu;
  return mode;
}

template <auto function, HalfType type, unsigned mode, typename T>
T half2(T a, T b) {
  return function(type, a, b, halfMode(mode));
}
template <auto function, HalfType type, unsigned mode, typename T>
T half3(T a, T b, T c) {
  return function(type, a, b, c, halfMode(mode));
}
template <auto function, HalfType type, unsigned bits, typename T>
T halfMinMax(T a, T b) {
  MinMaxMode mode;
  mode.ftz = bits & 1;
  mode.propagateNaN = bits & 2;
  return function(type, a, b, mode);
}
template <auto function, HalfType type, bool ftz, typename T> T half1(T a) {
  return function(type, a, ftz);
}

/// The rows of one type, single (T is 16 bits wide) or packed.
template <typename T, HalfType type, auto addFn, auto subFn, auto mulFn,
          auto fmaFn, auto minFn, auto maxFn, auto absFn, auto negFn>
void addType(Rows &rows, const char *name) {
  const char *width = sizeof(T) == 2 ? "2" : "4";
  auto row = [&](const char *pattern, const char *operands, Handler handler) {
    rows.push_back({fill(pattern, name), fill(operands, width), handler});
  };
  row("add[.rn].%", "d% % %", lanewise<&half2<addFn, type, 0, T>>);
  row("sub[.rn].%", "d% % %", lanewise<&half2<subFn, type, 0, T>>);
  row("mul[.rn].%", "d% % %", lanewise<&half2<mulFn, type, 0, T>>);
  row("fma.rn.%", "d% % % %", lanewise<&half3<fmaFn, type, 0, T>>);
  row("fma.rn.relu.%", "d% % % %", lanewise<&half3<fmaFn, type, kRelu, T>>);
  row("min.%", "d% % %", lanewise<&halfMinMax<minFn, type, 0, T>>);
  row("max.%", "d% % %", lanewise<&halfMinMax<maxFn, type, 0, T>>);
  row("min.NaN.%", "d% % %", lanewise<&halfMinMax<minFn, type, 2, T>>);
  row("max.NaN.%", "d% % %", lanewise<&halfMinMax<maxFn, type, 2, T>>);
  row("abs.%", "d% %", lanewise<&half1<absFn, type, false, T>>);
  row("neg.%", "d% %", lanewise<&half1<negFn, type, false, T>>);
  if constexpr (type == HalfType::F16) {
    row("add[.rn].ftz.%", "d% % %", lanewise<&half2<addFn, type, kFtz, T>>);
    row("sub[.rn].ftz.%", "d% % %", lanewise<&half2<subFn, type, kFtz, T>>);
    row("mul[.rn].ftz.%", "d% % %", lanewise<&half2<mulFn, type, kFtz, T>>);
    row("fma.rn.ftz.%", "d% % % %", lanewise<&half3<fmaFn, type, kFtz, T>>);
    row("add[.rn].sat.%", "d% % %", lanewise<&half2<addFn, type, kSat, T>>);
    row("mul[.rn].sat.%", "d% % %", lanewise<&half2<mulFn, type, kSat, T>>);
    row("fma.rn.sat.%", "d% % % %", lanewise<&half3<fmaFn, type, kSat, T>>);
    row("min.ftz.%", "d% % %", lanewise<&halfMinMax<minFn, type, 1, T>>);
    row("max.ftz.%", "d% % %", lanewise<&halfMinMax<maxFn, type, 1, T>>);
    row("abs.ftz.%", "d% %", lanewise<&half1<absFn, type, true, T>>);
    row("neg.ftz.%", "d% %", lanewise<&half1<negFn, type, true, T>>);
  }
}

template <auto function, HalfType type, typename T> T unary(T a) {
  return function(type, a);
}

void addApproxRows(Rows &rows) {
  constexpr HalfType f16 = HalfType::F16;
  constexpr HalfType bf16 = HalfType::BF16;
  using Half = uint16_t;
  using Pair = uint32_t;
  rows.insert(rows.end(), {{"ex2.approx.f16", "d2 2",
                            lanewise<&half1<ex2ApproxHalf, f16, false, Half>>},
                           {"ex2.approx.ftz.bf16", "d2 2",
                            lanewise<&half1<ex2ApproxHalf, bf16, true, Half>>},
                           {"ex2.approx.f16x2", "d4 4",
                            lanewise<&half1<ex2ApproxHalf2, f16, false, Pair>>},
                           {"ex2.approx.ftz.bf16x2", "d4 4",
                            lanewise<&half1<ex2ApproxHalf2, bf16, true, Pair>>},
                           {"tanh.approx.f16", "d2 2",
                            lanewise<&unary<tanhApproxHalf, f16, Half>>},
                           {"tanh.approx.bf16", "d2 2",
                            lanewise<&unary<tanhApproxHalf, bf16, Half>>},
                           {"tanh.approx.f16x2", "d4 4",
                            lanewise<&unary<tanhApproxHalf2, f16, Pair>>},
                           {"tanh.approx.bf16x2", "d4 4",
                            lanewise<&unary<tanhApproxHalf2, bf16, Pair>>}});
}

} // namespace

void attn::sim::addHalfRows(Rows &rows) {
  addType<uint16_t, HalfType::F16, addHalf, subHalf, mulHalf, fmaHalf, minHalf,
          maxHalf, absHalf, negHalf>(rows, "f16");
  addType<uint16_t, HalfType::BF16, addHalf, subHalf, mulHalf, fmaHalf, minHalf,
          maxHalf, absHalf, negHalf>(rows, "bf16");
  addType<uint32_t, HalfType::F16, addHalf2, subHalf2, mulHalf2, fmaHalf2,
          minHalf2, maxHalf2, absHalf2, negHalf2>(rows, "f16x2");
  addType<uint32_t, HalfType::BF16, addHalf2, subHalf2, mulHalf2, fmaHalf2,
          minHalf2, maxHalf2, absHalf2, negHalf2>(rows, "bf16x2");
  addApproxRows(rows);
}
