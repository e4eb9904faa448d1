// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What HazardTracker keeps of threads, barriers and engines.

#ifndef ATTN_SIM_HAZARDS_TRACKER_STATE_H
#define ATTN_SIM_HAZARDS_TRACKER_STATE_H

#include "core/program.h"
#include "hazards/grid_hazards.h"

#include <deque>

namespace attn::sim {

class Warp;

/// Lanes of a warp that know the same, apart from their own accesses.
struct LaneView {
  uint32_t lanes = 0;
  Knowledge known;
  /// Changes with `known`; views with equal ones know the same.
  uint64_t serial = 0;
  /// What the last fence made strong writes release to the CTA, and to the
  /// cluster.
  std::shared_ptr<const Knowledge> releasedToCta;
  std::shared_ptr<const Knowledge> releasedToCluster;
  /// What strong reads met, for the next fence to acquire.
  std::shared_ptr<const Knowledge> met;
};

struct WarpThreads {
  std::vector<LaneView> views;
  /// Of the accesses that the warp makes now; rises whenever it releases.
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
  /// The barrier that each lane waits at: what those who arrived knew.
  std::shared_ptr<Knowledge> barrier[kLanes];
  /// The same of the cluster's barrier.
  std::shared_ptr<Knowledge> clusterBarrier[kLanes];
  /// The last read instruction, as an access.
  uint32_t readPc = kNone;
  uint32_t readEpoch = 0;
  uint32_t readIndex = 0;
  /// Its wgmma: how many, and the last one.
  uint64_t wgmmas = 0;
  uint32_t wgmmaPc = 0;
};

/// What a phase of an mbarrier counts: the last arrival or transaction of each
/// thread, and whether asynchronous operations made others.
struct PhaseEvents {
  Clock threads;
  bool hasAsync = false;
};

struct MbarrierState {
  bool isLive = false;
  /// Epoch of the component: `base` and the number of phases complete.
  uint32_t component = 0;
  uint32_t base = 0;
  /// What all arrivals so far knew, and the view that came last.
  Knowledge arriving;
  uint64_t joined = 0;
  /// The same at the end of the last phase.
  Knowledge published;
  /// The thread that made it, when, and when it fenced that (0: not yet).
  AccessId init;
  uint32_t initFence = 0;
  /// Phases that are complete, and that some thread has waited for.
  uint64_t phases = 0;
  uint64_t awaited = 0;
  /// Of the current phase and of the last.
  PhaseEvents events;
  PhaseEvents lastEvents;
  /// Loads that have not delivered: indices of accesses.
  std::vector<uint32_t> loads;
  /// The last use by each thread.
  Clock uses;
};

struct NamedState {
  std::shared_ptr<Knowledge> arriving;
};

/// A wgmma that not all four warps have issued.
struct PartialWgmma {
  uint32_t index = 0;
  uint32_t warps = 0;
  /// What all of them know.
  Knowledge common;
};

struct WgmmaState {
  /// Epochs are numbers of wgmmas: that some warp has waited for, and behind it
  /// those that each of the four has.
  uint32_t component = 0;
  uint64_t first = 1;
  std::deque<PartialWgmma> partial;
};

/// An operation that signals an mbarrier: the accesses to its destination in
/// shared memory and to its source, in shared or global memory (0: none).
struct LoadState {
  uint32_t index = 0;
  uint32_t sharedSource = 0;
  uint32_t globalSource = 0;
  uint32_t lane = 0;
  uint32_t mbarrier = 0;
};

/// The bulk stores of a thread.
struct StoreState {
  uint32_t readComponent = 0;
  uint32_t doneComponent = 0;
  /// The last one's group, from 1, and instruction.
  uint32_t last = 0;
  uint32_t pc = 0;
};

/// The cp.async of a thread.
struct CopyState {
  uint32_t component = 0;
  /// How many there are, and were at the end of each group.
  uint32_t count = 0;
  std::vector<uint32_t> groups;
};

/// The fences that acquire a tensor map.
struct TensorMapState {
  /// Epochs count the fences.
  uint32_t component = 0;
  uint32_t fences = 0;
  /// By the bits of writes to the map: the first fence that saw them.
  std::map<uint32_t, uint32_t> seen;
};

/// A use of another CTA's shared memory.
struct RemoteUse {
  const Warp *warp = nullptr;
  uint32_t pc = 0;
  uint32_t lane = 0;
  uint32_t epoch = 0;
};

/// A memory and its accesses.
struct TrackedMemory {
  Shadow &shadow;
  AccessTable &accesses;
  bool isGlobal;
};

/// Who makes an access.
struct Accessor {
  Accessor(const Warp &warp, uint32_t pc, unsigned lane)
      : warp(warp), pc(pc), lane(lane) {}

  const Warp &warp;
  uint32_t pc;
  /// kLanes: all of the warp.
  unsigned lane;
  const Knowledge *known = nullptr;
  bool isAsync = false;
  bool reads = false;
  bool writes = false;
  /// In the memory's table.
  AccessId id;
  /// An access that is known to be before.
  AccessId before;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TRACKER_STATE_H
