// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor memory: its addresses, and which cell each register of a warp's
// tcgen05.ld or tcgen05.st is (PTX ISA, "Matrix and Data Movement Shape").

#ifndef ATTN_SIM_UNITS_TMEM_SHAPE_H
#define ATTN_SIM_UNITS_TMEM_SHAPE_H

#include "units/bits.h"

namespace attn::sim {

constexpr uint32_t kTmemLanes = 128;
constexpr uint32_t kTmemColumns = 512;
/// Lanes that one warp of a warpgroup can access.
constexpr uint32_t kTmemQuadrant = 32;

/// A cell of 32 bits; an address has the lane above the column.
struct TmemPlace {
  uint32_t lane;
  uint32_t column;
};
constexpr TmemPlace tmemPlace(uint32_t address) {
  return {address >> 16, address & 0xffff};
}

enum class TmemShape : uint8_t {
  L32x32b,
  L16x64b,
  L16x128b,
  L16x256b,
  L16x32bx2
};

constexpr uint32_t tmemLanes(TmemShape shape) {
  return shape == TmemShape::L32x32b ? 32 : 16;
}

/// Registers of a thread, and columns of the shape: for one repetition.
constexpr uint32_t tmemRegisters(TmemShape shape) {
  return shape == TmemShape::L16x128b   ? 2
         : shape == TmemShape::L16x256b ? 4
                                        : 1;
}
constexpr uint32_t tmemColumns(TmemShape shape) {
  return shape == TmemShape::L16x64b    ? 2
         : shape == TmemShape::L16x128b ? 4
         : shape == TmemShape::L16x256b ? 8
                                        : 1;
}

/// Register `index` of thread `thread`, from the address of the move on. The
/// upper half of the threads of 16x32bx2 is `split` columns further.
constexpr TmemPlace tmemCell(TmemShape shape, uint32_t index, uint32_t thread,
                             uint32_t split) {
  switch (shape) {
  case TmemShape::L32x32b:
    return {thread, index};
  case TmemShape::L16x64b:
    return {thread / 4 + 8 * (thread & 1), 2 * index + (thread >> 1 & 1)};
  case TmemShape::L16x128b:
    return {thread / 4 + 8 * (index & 1), 4 * (index / 2) + thread % 4};
  case TmemShape::L16x256b:
    return {thread / 4 + 8 * (index >> 1 & 1),
            8 * (index / 4) + 2 * (thread % 4) + (index & 1)};
  case TmemShape::L16x32bx2:
    return {thread % 16, index + thread / 16 * split};
  }
  return {0, 0};
}

/// Cells that are accessed together: half quadrants of 16 lanes, a bit each
/// from lane 0 on, of some columns.
struct TmemRegion {
  uint32_t halves = 0;
  uint32_t column = 0;
  uint32_t columns = 0;

  bool meets(const TmemRegion &other) const {
    return (halves & other.halves) && column < other.column + other.columns &&
           other.column < column + columns;
  }
};
constexpr uint32_t kTmemHalf = 16;
constexpr uint32_t kTmemHalves = kTmemLanes / kTmemHalf;

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_TMEM_SHAPE_H
