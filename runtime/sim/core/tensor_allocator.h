// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which columns of a CTA's tensor memory are allocated.

#ifndef ATTN_SIM_CORE_TENSOR_ALLOCATOR_H
#define ATTN_SIM_CORE_TENSOR_ALLOCATOR_H

#include "core/random.h"
#include "units/tmem_shape.h"

#include <string>
#include <vector>

namespace attn::sim {

struct TmemAllocation {
  uint32_t base = 0;
  uint32_t columns = 0;
  /// The warp that made it.
  uint32_t warp = 0;
  uint32_t pc = 0;
};

class TensorAllocator {
public:
  /// Seed 0 gives the last columns that fit, seed 1 the first, others any.
  TensorAllocator(uint64_t seed, uint64_t cta)
      : seed(seed), random(seed * 0x9e3779b97f4a7c15 + cta) {}

  /// Sets the base of the wanted columns, a multiple of their number; returns
  /// false if none are free.
  bool allocate(TmemAllocation &wanted);
  /// Allocates the same columns in both CTAs of a pair, for `wanted` and
  /// `peers`.
  bool allocateBoth(TmemAllocation &wanted, TensorAllocator &peer,
                    TmemAllocation &peers);
  /// Whether a dealloc of a pair waits for the other CTA.
  bool waitsForPeer() const { return seed % 2 == 0; }
  /// Returns false if there is no such allocation.
  bool release(uint32_t base, uint32_t columns);
  bool contains(uint32_t column, uint32_t columns) const;
  const std::vector<TmemAllocation> &get() const { return allocations; }
  /// "columns 0 to 127", or "none".
  std::string describe() const;
  uint32_t countFree() const;

  /// Some thread of the CTA will not allocate any more.
  bool isRelinquished = false;
  /// The allocator of the CTA that shares the columns; null if there is none.
  const TensorAllocator *neighbor = nullptr;
  /// Whether the neighbor may not allocate: from the first allocation on, until
  /// the permit is given up.
  bool holdsPermit() const { return hasAllocated && !isRelinquished; }
  /// No allocation may have more columns.
  uint32_t mostColumns = kTmemColumns;

private:
  bool isFree(uint32_t base, uint32_t columns) const;
  bool isTaken(uint32_t base, uint32_t columns) const;
  uint32_t countTaken() const;
  void add(const TmemAllocation &allocation);
  /// Returns kTmemColumns if there are no such columns.
  uint32_t chooseBase(uint32_t columns, const TensorAllocator &peer);

  const uint64_t seed;
  Random random;
  bool hasAllocated = false;
  std::vector<TmemAllocation> allocations;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_TENSOR_ALLOCATOR_H
