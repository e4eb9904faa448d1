// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The knowledge of a cluster's threads about the actions of others, and the
// events that extend it: meetings of lanes, and fences.

#ifndef ATTN_SIM_HAZARDS_THREAD_KNOWLEDGE_H
#define ATTN_SIM_HAZARDS_THREAD_KNOWLEDGE_H

#include "core/cta.h"
#include "hazards/knowledge.h"
#include "hazards/shadow.h"

#include <utility>

namespace attn::sim {

/// Lanes of a warp with the same knowledge, apart from their own accesses.
struct LaneView {
  uint32_t lanes = 0;
  Knowledge known;
  /// known.tensor.fenced as it was at the last
  /// tcgen05.fence::after_thread_sync, and the loads and stores of the warp
  /// itself that it has waited for.
  Clock tensorSeen;
  /// Changes with `known`; views with equal ones know the same.
  uint64_t serial = 0;
  /// The knowledge that strong writes after the last fence release to the CTA,
  /// and to the cluster.
  std::shared_ptr<const Knowledge> releasedToCta;
  std::shared_ptr<const Knowledge> releasedToCluster;
  /// The knowledge that strong reads have seen, which the next fence acquires.
  std::shared_ptr<const Knowledge> met;

  /// Records what a relaxed read or wait has seen, for the next fence.
  void meet(std::shared_ptr<const Knowledge> seen);
  bool hasFencesOf(const LaneView &other) const {
    return releasedToCta == other.releasedToCta &&
           releasedToCluster == other.releasedToCluster && met == other.met;
  }
};

struct WarpThreads {
  std::vector<LaneView> views;
  /// The epoch of the warp's current accesses; increases at each release.
  uint32_t epoch = 1;
  /// The lane's own accesses up to this epoch are ordered before its next
  /// access through the async proxy.
  uint32_t fencedShared[kLanes] = {};
  uint32_t fencedGlobal[kLanes] = {};
  /// The epochs of its last fences: of any scope, for the cluster and for the
  /// device; and of mbarrier inits.
  uint32_t releasedAt[kLanes] = {};
  uint32_t releasedToClusterAt[kLanes] = {};
  uint32_t performedAt[kLanes] = {};
  uint32_t initsAt[kLanes] = {};
  /// The epoch of its last plain write to the memory of another CTA.
  uint32_t wroteRemoteAt[kLanes] = {};
  /// For the barrier at which each lane waits: the knowledge of the arrived
  /// threads.
  std::shared_ptr<Knowledge> barrier[kLanes];
  /// The same for the cluster's barrier.
  std::shared_ptr<Knowledge> clusterBarrier[kLanes];
  /// The last read instruction, as an access.
  uint32_t readPc = kNone;
  uint32_t readEpoch = 0;
  uint32_t readIndex = 0;
  /// Its wgmma: how many, and the last one.
  uint64_t wgmmas = 0;
  uint32_t wgmmaPc = 0;
};

class ThreadKnowledge {
public:
  explicit ThreadKnowledge(Cluster &cluster);

  uint32_t indexOf(const Warp &warp) const {
    return warp.cta.rank * warpsPerCta + warp.index;
  }
  WarpThreads &threadsOf(const Warp &warp) { return warps[indexOf(warp)]; }
  const WarpThreads &threadsOf(const Warp &warp) const {
    return warps[indexOf(warp)];
  }
  const Warp &warpOf(const Access &access) const;
  uint32_t componentOf(const Warp &warp, unsigned lane) const {
    return indexOf(warp) * kLanes + lane;
  }
  /// Adds `count` unused components to the clocks; returns the first.
  uint32_t addComponents(uint32_t count) {
    return std::exchange(components, components + count);
  }
  LaneView &viewOf(const Warp &warp, unsigned lane);
  /// Calls `visit` for views that together have exactly `lanes`; creates them.
  template <typename Visit>
  void forViews(const Warp &warp, uint32_t lanes, Visit visit);
  /// Must be called after a change of the knowledge of a view's lanes.
  void touch(LaneView &view) { view.serial = ++serials; }
  /// Adds what one lane knows of its own accesses.
  void publishOwn(const Warp &warp, unsigned lane, Knowledge &to,
                  uint32_t epoch);
  /// Adds the knowledge about tensor memory that any arrival passes on, even a
  /// relaxed one.
  void publishTensor(const Warp &warp, unsigned lane, Knowledge &to);
  /// Adds what a lane knew at its last releasing fence of at least `scope`: a
  /// relaxed write or arrival after it releases that.
  void publishFenced(const Warp &warp, unsigned lane, Scope scope,
                     Knowledge &to);
  /// Adds what the lanes know; later actions of the lanes are not included.
  void publish(const Warp &warp, uint32_t lanes, Knowledge &to);
  void acquire(const Warp &warp, uint32_t lanes, const Knowledge &from);
  /// The executing lanes leave the barriers at which they wait, by lane.
  void acquireEach(const Warp &warp, std::shared_ptr<Knowledge> *barriers);

  // Instructions.
  void syncLanes(const Warp &warp, uint32_t lanes);
  void fence(const Warp &warp, Scope scope, bool acquires, bool releases);
  void proxyFence(const Warp &warp, bool shared, bool global);
  void awaitPrevious(const Warp &warp);

  Cluster &cluster;
  /// The cluster's.
  const uint64_t number;
  const uint32_t warpsPerCta;
  std::vector<WarpThreads> warps;
  /// Some thread has used tcgen05.
  bool usesTensor = false;
  /// The components of mbarriers.
  std::vector<uint32_t> barrierComponents;

private:
  /// Components in use, and serials of views.
  uint32_t components = 0;
  uint64_t serials = 0;
};

template <typename Visit>
void ThreadKnowledge::forViews(const Warp &warp, uint32_t lanes, Visit visit) {
  std::vector<LaneView> &views = threadsOf(warp).views;
  for (size_t i = 0; i < views.size(); ++i) {
    uint32_t inside = views[i].lanes & lanes;
    if (inside == 0) {
      continue;
    }
    if (inside != views[i].lanes) {
      LaneView others = views[i];
      others.lanes &= ~inside;
      views[i].lanes = inside;
      views.push_back(std::move(others));
    }
    visit(views[i]);
  }
}

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_THREAD_KNOWLEDGE_H
