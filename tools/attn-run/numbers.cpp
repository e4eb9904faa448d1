// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "numbers.h"

#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::run;

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint16_t attn::run::floatToBf16(float value) {
  uint32_t bits = bitsOf(value);
  if (std::isnan(value)) {
    return uint16_t(bits >> 16 | 0x40);
  }
  // Adds half a unit in the last place, less one bit if the kept part is even.
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float attn::run::bf16ToFloat(uint16_t bits) {
  return floatOf(uint32_t(bits) << 16);
}

uint16_t attn::run::floatToF16(float value) {
  uint32_t bits = bitsOf(value);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  float magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return sign | 0x7e00;
  }
  if (magnitude >= 65520.0f) {
    return sign | 0x7c00;
  }
  if (magnitude < 0x1p-14f) {
    // Subnormal: a whole number of 2^-24; nearbyint rounds ties to even.
    return sign | uint16_t(std::nearbyint(magnitude * 0x1p24f));
  }
  uint32_t rounded = bitsOf(magnitude) + 0xfff + (bits >> 13 & 1);
  return sign | uint16_t((rounded - (112u << 23)) >> 13);
}

float attn::run::f16ToFloat(uint16_t bits) {
  uint32_t exponent = bits >> 10 & 31;
  uint32_t mantissa = bits & 1023;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  if (exponent == 0) {
    float magnitude = float(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return floatOf(sign | wide << 23 | mantissa << 13);
}

float attn::run::roundTo(runtime::DataType type, float value) {
  switch (type) {
  case runtime::DataType::BF16:
    return bf16ToFloat(floatToBf16(value));
  case runtime::DataType::F16:
    return f16ToFloat(floatToF16(value));
  default:
    return value;
  }
}

/// The finalizer of splitmix64.
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

Random::Random(uint64_t seed, uint64_t stream)
    : key(mix(mix(seed + kGolden) + (stream + 1) * kGolden)) {}

uint64_t Random::bits(uint64_t index) const {
  return mix(key + (index + 1) * kGolden);
}

double Random::uniform(uint64_t index) const {
  return double((bits(index) >> 11) + 1) * 0x1p-53;
}

int64_t Random::integer(uint64_t index, int64_t least, int64_t most) const {
  return least + int64_t(bits(index) % uint64_t(most - least + 1));
}

float Random::normal(uint64_t index) const {
  uint64_t pair = index & ~uint64_t(1);
  double radius = std::sqrt(-2.0 * std::log(uniform(pair)));
  double angle = 6.283185307179586 * uniform(pair + 1);
  return float(radius * (index & 1 ? std::sin(angle) : std::cos(angle)));
}
