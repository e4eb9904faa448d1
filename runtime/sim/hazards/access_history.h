// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of a cluster to shared and global memory, and what the next one
// conflicts with.

#ifndef ATTN_SIM_HAZARDS_ACCESS_HISTORY_H
#define ATTN_SIM_HAZARDS_ACCESS_HISTORY_H

#include "hazards/access_report.h"
#include "hazards/grid_hazards.h"
#include "hazards/thread_knowledge.h"

namespace attn::sim {

class AccessHistory {
public:
  AccessHistory(ThreadKnowledge &knowledge, GridHazards &grid);

  /// How an access of before is ordered before the next one.
  enum class Order : uint8_t { Before, NoProxyFence, SomeWarps, None };

  /// Who makes access `index` with the current instruction.
  Accessor accessorOf(const Warp &warp, unsigned lane, uint32_t index = 0);
  uint32_t addAccess(TrackedMemory &memory, const Warp &warp, Agent agent,
                     uint32_t component, uint32_t epoch);
  bool isOwn(const Accessor &by, const Access &other, unsigned lane) const;
  Order compare(const Accessor &by, const Access &other, unsigned lane,
                bool isGlobal) const;
  /// Makes an access to some bytes: reports what it conflicts with.
  void visit(TrackedMemory &memory, Accessor &by, uint64_t address,
             uint32_t bytes);
  void visitShared(Accessor &by, uint32_t address, uint32_t bytes);
  /// Whether plain accesses to a mbarrier's bytes are wrong from now on.
  void setMbarrier(uint32_t address, bool isLive);

  GridHazards &grid;
  /// Those to shared memory.
  AccessTable accesses;
  TrackedMemory sharedMemory;
  TrackedMemory globalMemory;

private:
  void check(TrackedMemory &memory, Accessor &by, AccessId id, bool wrote,
             uint64_t address);
  bool isFresh(uint64_t address) const;
  bool touchesMbarrier(const Accessor &by, uint32_t address, uint32_t bytes);

  ThreadKnowledge &knowledge;
  /// Of shared memory.
  Shadow shadow;
  /// For each 8 bytes of shared memory: a live mbarrier is there.
  std::vector<bool> barrierWords;
  uint32_t wordsPerCta;
  uint32_t liveBarriers = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_ACCESS_HISTORY_H
