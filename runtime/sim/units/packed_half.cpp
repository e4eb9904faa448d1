// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/packed_half.h"

#include <cmath>

using namespace attn::sim;

namespace {

const FloatFormat &formatOf(HalfType type) {
  return type == HalfType::F16 ? kF16 : kBF16;
}

/// .ftz of f16: a subnormal becomes a zero of its sign.
uint16_t flushHalf(uint16_t bits) {
  return (bits & 0x7C00) ? bits : uint16_t(bits & 0x8000);
}

double operand(HalfType type, uint16_t bits, bool ftz) {
  return fromHalf(type, ftz && type == HalfType::F16 ? flushHalf(bits) : bits);
}

/// Whether .ftz flushes a result: it is subnormal even if rounded with
/// exponents without limit.
bool isTiny(double exact) {
  return std::fabs(exact) < 0x1p-14 &&
         fromFormat(roundToFormat(std::fabs(exact) * 0x1p10, kF16), kF16) <
             0x1p-4;
}

/// One rounding of `exact`, a value that is exact or rounded to odd.
uint16_t finish(HalfType type, double exact, HalfMode mode) {
  if (mode.ftz && type == HalfType::F16 && isTiny(exact)) {
    exact = std::copysign(0.0, exact);
  }
  if (mode.sat) {
    exact = exact > 0 ? (exact < 1 ? exact : 1.0) : 0.0;
  }
  return uint16_t(
      roundToFormat(exact, formatOf(type), Rounding::RN, false, mode.relu));
}

bool isNaN(HalfType type, uint16_t bits) {
  return (bits & 0x7FFF) > (type == HalfType::F16 ? 0x7C00 : 0x7F80);
}

/// In f32, which holds every value of both types.
uint16_t minMax(bool max, HalfType type, uint16_t a, uint16_t b,
                MinMaxMode mode) {
  auto x = float(operand(type, a, mode.ftz));
  auto y = float(operand(type, b, mode.ftz));
  // A bf16 subnormal is one in f32 too, and f16 has been flushed above.
  mode.ftz = false;
  // fromHalf drops a NaN's sign, which .xorsign.abs wants to see.
  x = copysignF32(f32FromBits(uint32_t(a) << 16), x);
  y = copysignF32(f32FromBits(uint32_t(b) << 16), y);
  return toHalf(type, max ? maxF32(x, y, mode) : minF32(x, y, mode));
}

template <typename Operation>
uint32_t each(uint32_t a, uint32_t b, Operation operation) {
  uint16_t low = operation(uint16_t(a), uint16_t(b));
  uint16_t high = operation(uint16_t(a >> 16), uint16_t(b >> 16));
  return uint32_t(high) << 16 | low;
}

} // namespace

float attn::sim::fromHalf(HalfType type, uint16_t bits) {
  return type == HalfType::F16 ? fromF16(bits) : fromBF16(bits);
}

uint16_t attn::sim::toHalf(HalfType type, float value) {
  return type == HalfType::F16 ? toF16(value) : toBF16(value);
}

uint16_t attn::sim::addHalf(HalfType type, uint16_t a, uint16_t b,
                            HalfMode mode) {
  double x = operand(type, a, mode.ftz);
  return finish(type, addToOdd(x, operand(type, b, mode.ftz)), mode);
}

uint16_t attn::sim::subHalf(HalfType type, uint16_t a, uint16_t b,
                            HalfMode mode) {
  double x = operand(type, a, mode.ftz);
  return finish(type, addToOdd(x, -operand(type, b, mode.ftz)), mode);
}

uint16_t attn::sim::mulHalf(HalfType type, uint16_t a, uint16_t b,
                            HalfMode mode) {
  double x = operand(type, a, mode.ftz);
  return finish(type, x * operand(type, b, mode.ftz), mode);
}

uint16_t attn::sim::fmaHalf(HalfType type, uint16_t a, uint16_t b, uint16_t c,
                            HalfMode mode) {
  double product = operand(type, a, mode.ftz) * operand(type, b, mode.ftz);
  return finish(type, addToOdd(product, operand(type, c, mode.ftz)), mode);
}

uint16_t attn::sim::minHalf(HalfType type, uint16_t a, uint16_t b,
                            MinMaxMode mode) {
  return minMax(false, type, a, b, mode);
}

uint16_t attn::sim::maxHalf(HalfType type, uint16_t a, uint16_t b,
                            MinMaxMode mode) {
  return minMax(true, type, a, b, mode);
}

uint16_t attn::sim::absHalf(HalfType type, uint16_t a, bool ftz) {
  auto bits = isNaN(type, a) ? uint16_t(0x7FFF) : uint16_t(a & 0x7FFF);
  return ftz && type == HalfType::F16 ? flushHalf(bits) : bits;
}

uint16_t attn::sim::negHalf(HalfType type, uint16_t a, bool ftz) {
  auto bits = isNaN(type, a) ? uint16_t(0x7FFF) : uint16_t(a ^ 0x8000);
  return ftz && type == HalfType::F16 ? flushHalf(bits) : bits;
}

uint32_t attn::sim::addHalf2(HalfType type, uint32_t a, uint32_t b,
                             HalfMode mode) {
  return each(
      a, b, [&](uint16_t x, uint16_t y) { return addHalf(type, x, y, mode); });
}

uint32_t attn::sim::subHalf2(HalfType type, uint32_t a, uint32_t b,
                             HalfMode mode) {
  return each(
      a, b, [&](uint16_t x, uint16_t y) { return subHalf(type, x, y, mode); });
}

uint32_t attn::sim::mulHalf2(HalfType type, uint32_t a, uint32_t b,
                             HalfMode mode) {
  return each(
      a, b, [&](uint16_t x, uint16_t y) { return mulHalf(type, x, y, mode); });
}

uint32_t attn::sim::fmaHalf2(HalfType type, uint32_t a, uint32_t b, uint32_t c,
                             HalfMode mode) {
  uint16_t low = fmaHalf(type, uint16_t(a), uint16_t(b), uint16_t(c), mode);
  uint16_t high = fmaHalf(type, uint16_t(a >> 16), uint16_t(b >> 16),
                          uint16_t(c >> 16), mode);
  return uint32_t(high) << 16 | low;
}

uint32_t attn::sim::minHalf2(HalfType type, uint32_t a, uint32_t b,
                             MinMaxMode mode) {
  return each(
      a, b, [&](uint16_t x, uint16_t y) { return minHalf(type, x, y, mode); });
}

uint32_t attn::sim::maxHalf2(HalfType type, uint32_t a, uint32_t b,
                             MinMaxMode mode) {
  return each(
      a, b, [&](uint16_t x, uint16_t y) { return maxHalf(type, x, y, mode); });
}

uint32_t attn::sim::absHalf2(HalfType type, uint32_t a, bool ftz) {
  return each(a, a,
              [&](uint16_t x, uint16_t) { return absHalf(type, x, ftz); });
}

uint32_t attn::sim::negHalf2(HalfType type, uint32_t a, bool ftz) {
  return each(a, a,
              [&](uint16_t x, uint16_t) { return negHalf(type, x, ftz); });
}
