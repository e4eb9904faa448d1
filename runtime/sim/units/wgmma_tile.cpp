// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/wgmma_tile.h"
#include "units/simd.h"

#if ATTN_SIM_X86
#include <immintrin.h>
#endif

using namespace attn::sim;

namespace {

/// The hardware kernel computes sums whose largest exponent is between these:
/// 2^(fraction bits - exponent) and every product that matters are then f32
/// normals.
constexpr int32_t kLowestExponent = -100;
constexpr int32_t kHighestExponent = 120;
/// Below this, every term is zero.
constexpr int32_t kNoTerm = -2000;

/// A register's terms as integers, scaled so that the largest exponent among
/// them has the wanted number of fraction bits.
struct ScaledSums {
  alignas(64) int32_t even[kWarpSize];
  alignas(64) int32_t odd[kWarpSize];
  alignas(64) int32_t largest[kWarpSize];
};

namespace baseline {
#define ATTN_SIM_LANES 4
#include "units/wgmma_tile_kernels.inc"
#undef ATTN_SIM_LANES
} // namespace baseline

#if ATTN_SIM_X86
#if defined(__clang__)
// clang-format off
#pragma clang attribute push(__attribute__((target("avx2,fma"))),              \
                             apply_to = function)
// clang-format on
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
#define ATTN_SIM_LANES 8
#include "units/wgmma_tile_kernels.inc"
#undef ATTN_SIM_LANES
} // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
// clang-format off
#pragma clang attribute push(                                                  \
    __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw"))),    \
    apply_to = function)
// clang-format on
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")
#endif
namespace avx512 {
#define ATTN_SIM_LANES 16
#include "units/wgmma_tile_kernels.inc"
#undef ATTN_SIM_LANES
} // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

const TileKernels &choose() {
#if ATTN_SIM_X86
  switch (detectHostVectors()) {
  case HostVectors::Avx512:
    return avx512::kKernels;
  case HostVectors::Avx2:
    return avx2::kKernels;
  case HostVectors::Baseline:
    break;
  }
#endif
  return baseline::kKernels;
}

} // namespace

const TileKernels &attn::sim::tileKernels() {
  static const TileKernels &chosen = choose();
  return chosen;
}

const TileKernels &attn::sim::baselineTileKernels() {
  return baseline::kKernels;
}
