// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 arithmetic, scalar and packed in pairs (PTX ISA, "Half Precision
// Floating Point Instructions"): every operation is exact with one rounding to
// nearest even.

#ifndef ATTN_SIM_UNITS_PACKED_HALF_H
#define ATTN_SIM_UNITS_PACKED_HALF_H

#include "units/f32_math.h"

namespace attn::sim {

enum class HalfType : uint8_t { F16, BF16 };

/// Modifiers. .ftz exists for f16 only.
struct HalfMode {
  bool ftz = false;
  bool sat = false;
  /// .relu: negative results become +0, NaN stays canonical.
  bool relu = false;
};

/// One element.
uint16_t addHalf(HalfType type, uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t subHalf(HalfType type, uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t mulHalf(HalfType type, uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t fmaHalf(HalfType type, uint16_t a, uint16_t b, uint16_t c,
                 HalfMode mode = {});
uint16_t minHalf(HalfType type, uint16_t a, uint16_t b, MinMaxMode mode = {});
uint16_t maxHalf(HalfType type, uint16_t a, uint16_t b, MinMaxMode mode = {});
uint16_t absHalf(HalfType type, uint16_t a, bool ftz = false);
uint16_t negHalf(HalfType type, uint16_t a, bool ftz = false);

/// Two elements in 32 bits.
uint32_t addHalf2(HalfType type, uint32_t a, uint32_t b, HalfMode mode = {});
uint32_t subHalf2(HalfType type, uint32_t a, uint32_t b, HalfMode mode = {});
uint32_t mulHalf2(HalfType type, uint32_t a, uint32_t b, HalfMode mode = {});
uint32_t fmaHalf2(HalfType type, uint32_t a, uint32_t b, uint32_t c,
                  HalfMode mode = {});
uint32_t minHalf2(HalfType type, uint32_t a, uint32_t b, MinMaxMode mode = {});
uint32_t maxHalf2(HalfType type, uint32_t a, uint32_t b, MinMaxMode mode = {});
uint32_t absHalf2(HalfType type, uint32_t a, bool ftz = false);
uint32_t negHalf2(HalfType type, uint32_t a, bool ftz = false);

/// The value of one element.
float fromHalf(HalfType type, uint16_t bits);
uint16_t toHalf(HalfType type, float value);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_PACKED_HALF_H
