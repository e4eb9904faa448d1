// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner kernels of wgmma, on 16 rows by 8 columns at a time: what one warp
// holds in four consecutive f32 accumulator registers. Lane l of register
// 2*h + j is row l/4 + 8*h, column 2*(l%4) + j.

#ifndef ATTN_SIM_UNITS_WGMMA_TILE_H
#define ATTN_SIM_UNITS_WGMMA_TILE_H

#include "units/bits.h"

namespace attn::sim {

constexpr int kMaxWgmmaK = 32;

/// Exponents of zero and of infinity or NaN: sums with them leave the range in
/// which the fast kernels are right, or never are the largest.
constexpr int32_t kZeroExponent = -4096;
constexpr int32_t kNonFiniteExponent = 20000;

/// Rows of A as the lanes of the two registers want them.
struct RowsOfA {
  alignas(64) float value[2][kMaxWgmmaK][kWarpSize];
  alignas(64) int32_t exponent[2][kMaxWgmmaK][kWarpSize];
};

/// Columns of B: [j][k][lane % 4]. Vectors are filled by repeating the four.
struct ColumnsOfB {
  alignas(16) float value[2][kMaxWgmmaK][4];
  alignas(16) int32_t exponent[2][kMaxWgmmaK][4];
};

/// Four registers of C, then of D, by 2*h + j; 32 lanes each.
struct TileOfD {
  alignas(64) float value[4][kWarpSize];
  /// Hardware mode: the exact sum before it is rounded.
  alignas(64) double sum[4][kWarpSize];
  /// Hardware mode: lanes whose exponents are out of the fast kernel's range
  /// and whose value is not valid.
  uint32_t redo[4];
};

struct TileKernels {
  /// value += A*B by f32 multiply-adds in order of k.
  void (*fast)(const RowsOfA &a, const ColumnsOfB &b, int k, TileOfD &d);
  /// sum = C + A*B with terms cut to `fractionBits`; value = sum cut to f32. K
  /// of 8, 16 or 32 (fractionBits 13 only).
  void (*hardware)(const RowsOfA &a, const ColumnsOfB &b, int k,
                   int fractionBits, TileOfD &d);
};

/// The best version for this host.
const TileKernels &tileKernels();
/// The version that any host can run, for comparison.
const TileKernels &baselineTileKernels();

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_WGMMA_TILE_H
