// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt to and from pairs of floats of at most 8 bits.

#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/float_format.h"

using namespace attn::sim;

namespace {

/// A pair of floats in 8 bits (of 4 bits each) or in 16.
template <const FloatFormat &format>
using Pair = std::conditional_t<format.signBit() == 8, uint8_t, uint16_t>;
template <const FloatFormat &format>
constexpr unsigned kPlace = 4 * sizeof(Pair<format>);

enum class Halves { F16, BF16 };

template <Halves type> float widen(uint32_t half) {
  return type == Halves::BF16 ? fromBF16(uint16_t(half))
                              : fromF16(uint16_t(half));
}

template <const FloatFormat &format, bool relu>
Pair<format> fromFloats(float high, float low) {
  auto narrow = [](float value) {
    return roundToFormat(value, format, Rounding::RN, /*satfinite=*/true, relu);
  };
  return Pair<format>(narrow(high) << kPlace<format> | narrow(low));
}

template <const FloatFormat &format, Halves type, bool relu>
Pair<format> fromHalves(uint32_t halves) {
  return fromFloats<format, relu>(widen<type>(halves >> 16),
                                  widen<type>(halves));
}

template <const FloatFormat &format, bool relu>
uint32_t toHalves(Pair<format> pair) {
  constexpr uint32_t mask = 2 * format.signBit() - 1;
  auto wide = [](uint32_t bits) {
    return toF16(float(fromFormat(bits & mask, format)), Rounding::RN,
                 /*satfinite=*/false, relu);
  };
  return uint32_t(wide(pair >> kPlace<format>)) << 16 | wide(pair);
}

/// Which forms a format has on `target`.
struct Sources {
  TargetSet floats = kFamily100;
  TargetSet f16 = kFamily100;
  TargetSet back = kFamily100;
};

template <const FloatFormat &format, bool relu>
void addRelu(Rows &rows, const char *name, const Sources &on) {
  const bool isByte = sizeof(Pair<format>) == 1;
  auto row = [&](const std::string &pattern, const char *operands,
                 Handler handler, TargetSet targets) {
    rows.push_back({fill(pattern, name), fill(operands, isByte ? "1" : "2"),
                    handler, nullptr, 0, targets});
  };
  auto narrowing = [&](const std::string &modifiers) {
    row("cvt.rn" + modifiers + ".%x2.f32", "d% f4 f4",
        lanewise<&fromFloats<format, relu>>, on.floats);
    row("cvt.rn" + modifiers + ".%x2.f16x2", "d% 4",
        lanewise<&fromHalves<format, Halves::F16, relu>>, on.f16);
    row("cvt.rn" + modifiers + ".%x2.bf16x2", "d% 4",
        lanewise<&fromHalves<format, Halves::BF16, relu>>, kFamily100);
  };
  narrowing(relu ? ".satfinite.relu" : ".satfinite");
  if (relu) {
    narrowing(".relu.satfinite");
  }
  row(std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2.%x2", "d4 %",
      lanewise<&toHalves<format, relu>>, on.back);
}

template <const FloatFormat &format>
void addFormat(Rows &rows, const char *name, const Sources &on = {}) {
  addRelu<format, false>(rows, name, on);
  addRelu<format, true>(rows, name, on);
}

template <Rounding rounding, bool satfinite>
uint16_t scalesFromFloats(float high, float low) {
  return uint16_t(toUE8M0(high, rounding, satfinite) << 8 |
                  toUE8M0(low, rounding, satfinite));
}

template <Rounding rounding, bool satfinite>
uint16_t scalesFromHalves(uint32_t halves) {
  return scalesFromFloats<rounding, satfinite>(
      widen<Halves::BF16>(halves >> 16), widen<Halves::BF16>(halves));
}

uint32_t scalesToHalves(uint16_t scales) {
  return uint32_t(ue8m0ToBF16(uint8_t(scales >> 8))) << 16 |
         ue8m0ToBF16(uint8_t(scales));
}

template <Rounding rounding, bool satfinite>
void addScales(Rows &rows, const char *modifiers) {
  rows.insert(rows.end(), {{fill("cvt%.ue8m0x2.f32", modifiers), "d2 f4 f4",
                            lanewise<&scalesFromFloats<rounding, satfinite>>},
                           {fill("cvt%.ue8m0x2.bf16x2", modifiers), "d2 4",
                            lanewise<&scalesFromHalves<rounding, satfinite>>}});
}

} // namespace

void attn::sim::addNarrowRows(Rows &rows) {
  addFormat<kE4M3>(rows, "e4m3", {kEveryTarget, kEveryTarget, kEveryTarget});
  addFormat<kE5M2>(rows, "e5m2", {kEveryTarget, kEveryTarget, kEveryTarget});
  addFormat<kE2M3>(rows, "e2m3");
  addFormat<kE3M2>(rows, "e3m2");
  addFormat<kE2M1>(rows, "e2m1");
  const size_t first = rows.size();
  addScales<Rounding::RZ, false>(rows, ".rz");
  addScales<Rounding::RZ, true>(rows, ".rz.satfinite");
  addScales<Rounding::RP, false>(rows, ".rp");
  addScales<Rounding::RP, true>(rows, ".rp.satfinite");
  rows.push_back({"cvt.rn.bf16x2.ue8m0x2", "d4 2", lanewise<&scalesToHalves>});
  require(rows, first, kFamily100);
}
