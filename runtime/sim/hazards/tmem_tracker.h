// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracks what tcgen05 does to tensor memory and to operands in shared memory,
// and how threads get to know that it is complete.

#ifndef ATTN_SIM_HAZARDS_TMEM_TRACKER_H
#define ATTN_SIM_HAZARDS_TMEM_TRACKER_H

#include "core/tensor_unit.h"
#include "hazards/access_history.h"
#include "hazards/tmem_order.h"

#include <map>

namespace attn::sim {

/// An operation of the queue, as it is issued.
struct TensorAction {
  TmemAgent agent = TmemAgent::Mma;
  std::vector<TmemRegion> reads;
  TmemRegion writes;
  /// It also reads what it writes.
  bool accumulates = false;
  uint64_t key = 0;
  /// The CTAs that take part, one bit each.
  uint32_t ranks = 0;
  /// Shared addresses of 16 bytes each that it reads.
  std::vector<uint32_t> chunks;
};

class TmemTracker : public LoadObserver {
public:
  TmemTracker(ThreadKnowledge &knowledge, AccessHistory &history);

  /// Columns are allocated, or no longer.
  void allocate(const Warp &warp, uint32_t base, uint32_t columns);
  void release(const Warp &warp, uint32_t base, uint32_t columns);
  /// `number` counts the warp's loads, from 1.
  void issueLoad(const Warp &warp, const std::vector<TmemRegion> &regions,
                 uint64_t number);
  void useLoad(const Warp &warp, uint64_t number) override;
  void issueStore(const Warp &warp, const std::vector<TmemRegion> &regions);
  /// A warp waits for its loads or stores.
  void wait(const Warp &warp, bool loads);
  void issue(const Warp &warp, unsigned lane, const TensorAction &action);
  /// Returns what the arrival will make known.
  std::shared_ptr<const Knowledge> issueCommit(const Warp &warp, unsigned lane);
  /// The component and epoch of a lane's last operation of the queue.
  std::pair<uint32_t, uint32_t> lastOperation(const Warp &warp, unsigned lane);
  void fenceBefore(const Warp &warp);
  void fenceAfter(const Warp &warp);
  /// All threads have ended.
  void finish();

private:
  /// The operations of a thread.
  struct ThreadState {
    uint32_t component = 0;
    uint32_t count = 0;
    const Warp *warp = nullptr;
    uint32_t pc = 0;
  };
  /// The loads by one instruction of a warp: a component of uses.
  struct LoadSite {
    uint32_t component = 0;
    uint32_t count = 0;
  };
  struct WarpState {
    uint32_t loadComponent = 0;
    uint32_t storeComponent = 0;
    uint32_t loads = 0;
    uint32_t stores = 0;
    std::map<uint32_t, LoadSite> sites;
    /// By load: the component and epoch of its use.
    std::vector<std::pair<uint32_t, uint32_t>> uses;
  };

  WarpState &stateOf(const Warp &warp);
  ThreadState &stateOf(const Warp &warp, unsigned lane);
  /// What all lanes of a warp know.
  void meet(const Warp &warp, Clock &ordered, Clock &seen) const;
  void accessByWarp(const Warp &warp, const TmemAccess &access,
                    const std::vector<TmemRegion> &regions, bool writes);
  /// Of the CTA of a rank.
  void visit(const Warp &warp, uint32_t rank, const TmemAccessor &by,
             uint32_t index, const TmemRegion &region, bool reads, bool writes);
  void reportConflict(const Warp &warp, const TmemAccessor &by, bool writes,
                      const TmemAccess &other, bool wrote, Rule rule,
                      TmemPlace place);
  void readShared(const Warp &warp, unsigned lane, uint32_t rank,
                  const ThreadState &thread, const TensorAction &action);

  ThreadKnowledge &knowledge;
  AccessHistory &history;
  /// By CTA of the cluster.
  std::vector<TmemShadow> ctas;
  std::map<uint32_t, WarpState> warps;
  std::map<uint32_t, ThreadState> threads;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TMEM_TRACKER_H
