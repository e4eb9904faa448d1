// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words that every unit shares: bit casts, the warp's width, register views.

#ifndef ATTN_SIM_UNITS_BITS_H
#define ATTN_SIM_UNITS_BITS_H

#include <cstdint>
#include <cstring>

namespace attn::sim {

constexpr int kWarpSize = 32;
constexpr int kWarpsPerGroup = 4;

/// Same bits, other type.
template <typename To, typename From> inline To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "bitCast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

inline uint32_t toBits(float value) { return bitCast<uint32_t>(value); }
inline uint64_t toBits(double value) { return bitCast<uint64_t>(value); }
inline float f32FromBits(uint32_t bits) { return bitCast<float>(bits); }
inline double f64FromBits(uint64_t bits) { return bitCast<double>(bits); }

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_BITS_H
