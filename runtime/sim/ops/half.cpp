// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 arithmetic, single and in pairs.

#include "ops/lanes.h"
#include "ops/rows.h"
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
  mode.xorsignAbs = bits & 4;
  return function(type, a, b, mode);
}
template <auto function, HalfType type, bool ftz, typename T> T half1(T a) {
  return function(type, a, ftz);
}

template <typename T> const char *widthOf() {
  return sizeof(T) == 2 ? "2" : "4";
}

template <typename T, HalfType type, unsigned bits, auto function>
void addMinMaxMode(Rows &rows, const std::string &name) {
  rows.push_back({keep(name), fill("d% % %", widthOf<T>()),
                  lanewise<&halfMinMax<function, type, bits, T>>});
}

/// .ftz is of f16 only.
template <typename T, HalfType type, auto function>
void addMinMax(Rows &rows, const std::string &opcode, const char *name) {
  const std::string end = std::string(".") + name;
  addMinMaxMode<T, type, 0, function>(rows, opcode + end);
  addMinMaxMode<T, type, 2, function>(rows, opcode + ".NaN" + end);
  addMinMaxMode<T, type, 4, function>(rows, opcode + ".xorsign.abs" + end);
  addMinMaxMode<T, type, 6, function>(rows, opcode + ".NaN.xorsign.abs" + end);
  if constexpr (type == HalfType::F16) {
    addMinMaxMode<T, type, 1, function>(rows, opcode + ".ftz" + end);
    addMinMaxMode<T, type, 3, function>(rows, opcode + ".ftz.NaN" + end);
    addMinMaxMode<T, type, 5, function>(rows,
                                        opcode + ".ftz.xorsign.abs" + end);
    addMinMaxMode<T, type, 7, function>(rows,
                                        opcode + ".ftz.NaN.xorsign.abs" + end);
  }
}

template <typename T, HalfType type, unsigned mode, auto addFn, auto subFn,
          auto mulFn, auto fmaFn>
void addModes(Rows &rows, const std::string &modifiers, const char *name) {
  auto row = [&](const char *opcode, const char *operands, Handler handler) {
    rows.push_back({keep(opcode + modifiers + "." + name),
                    fill(operands, widthOf<T>()), handler});
  };
  row("add[.rn]", "d% % %", lanewise<&half2<addFn, type, mode, T>>);
  row("sub[.rn]", "d% % %", lanewise<&half2<subFn, type, mode, T>>);
  row("mul[.rn]", "d% % %", lanewise<&half2<mulFn, type, mode, T>>);
  row("fma.rn", "d% % % %", lanewise<&half3<fmaFn, type, mode, T>>);
}

/// The rows of one type, single (T is 16 bits wide) or packed.
template <typename T, HalfType type, auto addFn, auto subFn, auto mulFn,
          auto fmaFn, auto minFn, auto maxFn, auto absFn, auto negFn>
void addType(Rows &rows, const char *name) {
  auto row = [&](const char *pattern, const char *operands, Handler handler) {
    rows.push_back(
        {fill(pattern, name), fill(operands, widthOf<T>()), handler});
  };
  row("add[.rn].%", "d% % %", lanewise<&half2<addFn, type, 0, T>>);
  row("sub[.rn].%", "d% % %", lanewise<&half2<subFn, type, 0, T>>);
  row("mul[.rn].%", "d% % %", lanewise<&half2<mulFn, type, 0, T>>);
  row("fma.rn.%", "d% % % %", lanewise<&half3<fmaFn, type, 0, T>>);
  row("fma.rn.relu.%", "d% % % %", lanewise<&half3<fmaFn, type, kRelu, T>>);
  addMinMax<T, type, minFn>(rows, "min", name);
  addMinMax<T, type, maxFn>(rows, "max", name);
  row("abs.%", "d% %", lanewise<&half1<absFn, type, false, T>>);
  row("neg.%", "d% %", lanewise<&half1<negFn, type, false, T>>);
  if constexpr (type == HalfType::F16) {
    addModes<T, type, kFtz, addFn, subFn, mulFn, fmaFn>(rows, ".ftz", name);
    addModes<T, type, kSat, addFn, subFn, mulFn, fmaFn>(rows, ".sat", name);
    addModes<T, type, kFtz | kSat, addFn, subFn, mulFn, fmaFn>(rows, ".ftz.sat",
                                                               name);
    row("fma.rn.ftz.relu.%", "d% % % %",
        lanewise<&half3<fmaFn, type, kFtz | kRelu, T>>);
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
