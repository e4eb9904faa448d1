// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each half quadrant (16 lanes) and column of a CTA's tensor memory, the
// accesses that the next one may conflict with: the last write, and the reads
// since. All that tcgen05 accesses are whole cells of this.

#ifndef ATTN_SIM_HAZARDS_TMEM_SHADOW_H
#define ATTN_SIM_HAZARDS_TMEM_SHADOW_H

#include "units/tmem_shape.h"

#include <algorithm>
#include <vector>

namespace attn::sim {

/// Load and Store are of a warp, the others in the tensor queue; Free is a
/// dealloc.
enum class TmemAgent : uint8_t { Load, Store, Mma, Copy, Shift, Free };

constexpr bool isQueued(TmemAgent agent) {
  return agent == TmemAgent::Mma || agent == TmemAgent::Copy ||
         agent == TmemAgent::Shift;
}

/// An access, and the components and epochs by which clocks say what is known
/// about it.
struct TmemAccess {
  TmemAgent agent = TmemAgent::Mma;
  uint64_t cta = 0;
  uint32_t pc = 0;
  uint32_t warp = 0;
  uint32_t lane = 0; // kLanes: all
  /// It is complete.
  uint32_t component = 0;
  uint32_t epoch = 0;
  /// For operations of the queue: it has been issued.
  uint32_t thread = 0;
  uint32_t threadEpoch = 0;
  /// For loads: the result has been used.
  uint32_t used = 0;
  uint32_t usedEpoch = 0;
  /// For an mma: its accumulator and shape. For a cp: whether its shape is
  /// 4x256b.
  uint64_t key = 0;
};

struct TmemCell {
  /// Indices of accesses; 0 for none.
  uint32_t write = 0;
  std::vector<uint32_t> reads;
};

class TmemShadow {
public:
  TmemShadow() : accesses(1) {}

  uint32_t add(const TmemAccess &access) {
    accesses.push_back(access);
    return uint32_t(accesses.size() - 1);
  }
  const TmemAccess &operator[](uint32_t index) const { return accesses[index]; }

  /// Calls `visit(cell, half, column)` for the cells of a region.
  template <typename Visit> void visit(const TmemRegion &region, Visit visit) {
    cells.resize(size_t(kTmemHalves) * kTmemColumns);
    for (uint32_t half = 0; half < kTmemHalves; ++half) {
      for (uint32_t i = 0; (region.halves >> half & 1) && i < region.columns;
           ++i) {
        uint32_t column = region.column + i;
        visit(cells[half * kTmemColumns + column], half, column);
      }
    }
  }

  /// A later read by the same agent implies the earlier one.
  void addRead(TmemCell &cell, uint32_t index) {
    const TmemAccess &access = accesses[index];
    for (uint32_t &read : cell.reads) {
      if (accesses[read].component == access.component &&
          accesses[read].used == access.used) {
        read = index;
        return;
      }
    }
    cell.reads.push_back(index);
  }
  static void write(TmemCell &cell, uint32_t index) {
    cell.write = index;
    cell.reads.clear();
  }

private:
  std::vector<TmemAccess> accesses;
  std::vector<TmemCell> cells;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TMEM_SHADOW_H
