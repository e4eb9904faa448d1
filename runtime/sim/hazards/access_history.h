// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of a cluster to shared and global memory, and the conflicts of
// new ones with them.

#ifndef ATTN_SIM_HAZARDS_ACCESS_HISTORY_H
#define ATTN_SIM_HAZARDS_ACCESS_HISTORY_H

#include "hazards/access_report.h"
#include "hazards/grid_hazards.h"
#include "hazards/thread_knowledge.h"

namespace attn::sim {

class AccessHistory {
public:
  AccessHistory(ThreadKnowledge &knowledge, GridHazards &grid);

  /// How an earlier access is ordered before the next one.
  enum class Order : uint8_t { Before, NoProxyFence, SomeWarps, None };

  /// Returns the thread that makes access `index` of the current instruction.
  Accessor accessorOf(const Warp &warp, unsigned lane, uint32_t index = 0);
  uint32_t addAccess(TrackedMemory &memory, const Warp &warp, Agent agent,
                     uint32_t component, uint32_t epoch);
  bool isOwn(const Accessor &by, const Access &other, unsigned lane) const;
  Order compare(const Accessor &by, const Access &other, unsigned lane,
                bool isGlobal) const;
  /// Makes an access to some bytes, and reports conflicts.
  void visit(TrackedMemory &memory, Accessor &by, uint64_t address,
             uint32_t bytes);
  void visitShared(Accessor &by, uint32_t address, uint32_t bytes);
  /// Sets whether plain accesses to the bytes of an mbarrier are wrong from now
  /// on.
  void setMbarrier(uint32_t address, bool isLive);

  GridHazards &grid;
  /// The accesses to shared memory.
  AccessTable accesses;
  TrackedMemory sharedMemory;
  TrackedMemory globalMemory;

private:
  void check(TrackedMemory &memory, Accessor &by, AccessId id, bool wrote,
             uint64_t address);
  void checkSum(TrackedMemory &memory, Accessor &by, AccessId id,
                uint64_t address);
  bool isFresh(uint64_t address) const;
  bool touchesMbarrier(const Accessor &by, uint32_t address, uint32_t bytes);

  ThreadKnowledge &knowledge;
  /// Of shared memory.
  Shadow shadow;
  /// Whether there is a live mbarrier, for each 8 bytes of shared memory.
  std::vector<bool> barrierWords;
  uint32_t wordsPerCta;
  uint32_t liveBarriers = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_ACCESS_HISTORY_H
