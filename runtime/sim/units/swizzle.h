// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared-memory swizzles, as TMA, wgmma descriptors and hand-written address
// code use them. Each maps an absolute shared-memory byte address by XORing
// address bits; all are involutions.

#ifndef ATTN_SIM_UNITS_SWIZZLE_H
#define ATTN_SIM_UNITS_SWIZZLE_H

#include "units/bits.h"

namespace attn::sim {

/// Numbered as CUtensorMapSwizzle.
enum class Swizzle : uint8_t {
  None = 0,
  B32 = 1,
  B64 = 2,
  B128 = 3,
  B128Atom32 = 4,
  B128Atom32Flip8 = 5,
  B128Atom64 = 6,
};

/// The address at which the byte of unswizzled address `a` lies.
constexpr uint32_t swizzleAddress(uint32_t a, Swizzle mode) {
  switch (mode) {
  case Swizzle::None:
    return a;
  case Swizzle::B32:
    return a ^ ((a >> 3) & 0x10);
  case Swizzle::B64:
    return a ^ ((a >> 3) & 0x30);
  case Swizzle::B128:
    return a ^ ((a >> 3) & 0x70);
  case Swizzle::B128Atom32:
    return a ^ ((a >> 2) & 0x60);
  case Swizzle::B128Atom32Flip8:
    return a ^ ((a >> 2) & 0x60) ^ ((a >> 4) & 0x8);
  case Swizzle::B128Atom64:
    return a ^ ((a >> 1) & 0x40);
  }
  return a;
}

/// The widest row in bytes that the mode permutes within; 0 if None.
constexpr uint32_t swizzleSpan(Swizzle mode) {
  return mode == Swizzle::None  ? 0
         : mode == Swizzle::B32 ? 32
         : mode == Swizzle::B64 ? 64
                                : 128;
}

/// Bytes after which the pattern repeats; 16 if None.
constexpr uint32_t swizzlePeriod(Swizzle mode) {
  switch (mode) {
  case Swizzle::None:
    return 16;
  case Swizzle::B32:
  case Swizzle::B128Atom64:
    return 256;
  case Swizzle::B64:
  case Swizzle::B128Atom32:
  case Swizzle::B128Atom32Flip8:
    return 512;
  case Swizzle::B128:
    return 1024;
  }
  return 16;
}

/// Bytes that stay together: copies may move whole granules.
constexpr uint32_t swizzleGranule(Swizzle mode) {
  return mode == Swizzle::B128Atom32Flip8 ? 8 : 16;
}

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_SWIZZLE_H
