// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "element_type.h"

#include "units/float_format.h"

#include <cstring>

using namespace attn;
using namespace attn::run;

static constexpr ElementType kTypes[] = {
    {"u8", 1, false, false, "|u1"},  {"s8", 1, false, true, "|i1"},
    {"u16", 2, false, false, "<u2"}, {"s16", 2, false, true, "<i2"},
    {"u32", 4, false, false, "<u4"}, {"s32", 4, false, true, "<i4"},
    {"u64", 8, false, false, "<u8"}, {"s64", 8, false, true, "<i8"},
    {"f16", 2, true, true, "<f2"},   {"bf16", 2, true, true, "<u2"},
    {"f32", 4, true, true, "<f4"},   {"f64", 8, true, true, "<f8"},
    {"e4m3", 1, true, true, "|u1"},  {"e5m2", 1, true, true, "|u1"},
};

const ElementType *run::findElementType(const std::string &name) {
  for (const ElementType &type : kTypes) {
    if (name == type.name) {
      return &type;
    }
  }
  return nullptr;
}

std::string run::listElementTypes() {
  std::string all;
  for (const ElementType &type : kTypes) {
    all += std::string(all.empty() ? "'" : ", '") + type.name + "'";
  }
  return all;
}

/// Returns null for f64, which needs no conversion from double.
static const sim::FloatFormat *formatOf(const ElementType &type) {
  std::string name = type.name;
  return name == "f16"    ? &sim::kF16
         : name == "bf16" ? &sim::kBF16
         : name == "f32"  ? &sim::kF32
         : name == "e4m3" ? &sim::kE4M3
         : name == "e5m2" ? &sim::kE5M2
                          : nullptr;
}

uint64_t run::toBits(const ElementType &type, double value) {
  uint64_t bits = 0;
  if (!type.isFloat) {
    return value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
  }
  if (const sim::FloatFormat *format = formatOf(type)) {
    return sim::roundToFormat(value, *format);
  }
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

double run::fromBits(const ElementType &type, uint64_t bits) {
  if (!type.isFloat) {
    unsigned unused = 64 - 8 * type.bytes;
    return type.isSigned ? double(int64_t(bits << unused) >> unused)
                         : double(bits);
  }
  if (const sim::FloatFormat *format = formatOf(type)) {
    return sim::fromFormat(uint32_t(bits), *format);
  }
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
