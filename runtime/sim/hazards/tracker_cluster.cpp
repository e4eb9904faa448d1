// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cluster's barrier, and whether CTAs are there when others use their
// shared memory.

#include "core/cluster.h"

using namespace attn::sim;

/// A relaxed arrival releases what fences have.
void HazardTracker::arriveCluster(const Warp &warp, bool releases) {
  WarpThreads &threads = threadsOf(warp);
  if (!clusterArriving) {
    clusterArriving = std::make_shared<Knowledge>();
  }
  forLanes(warp.exec, [&](unsigned lane) {
    const LaneView &view = viewOf(warp, lane);
    threads.clusterBarrier[lane] = clusterArriving;
    clusterArriving->inits.raise(componentOf(warp, lane),
                                 threads.initsAt[lane]);
    if (!releases && view.releasedToCluster) {
      clusterArriving->join(*view.releasedToCluster);
      clusterArriving->generic.raise(componentOf(warp, lane),
                                     threads.releasedToClusterAt[lane]);
    }
  });
  if (releases) {
    publish(warp, warp.exec, *clusterArriving);
  }
}

/// CTAs whose threads have arrived, or exited, have started.
void HazardTracker::completeCluster() {
  if (clusterArriving) {
    clusterArriving->started = (1u << cluster.size()) - 1;
  }
  clusterArriving = nullptr;
}

void HazardTracker::leaveCluster(const Warp &warp) {
  acquireEach(warp, threadsOf(warp).clusterBarrier);
}

void HazardTracker::useCta(const Accessor &by, uint32_t address, bool ends) {
  uint32_t rank = address >> kSharedRankShift;
  if (rank == by.warp.cta.rank) {
    return;
  }
  if (!(by.known->started >> rank & 1)) {
    report(Rule::ClusterStart, by,
           "the CTA of rank " + std::to_string(rank) +
               " may not have started: no barrier.cluster is before this");
  }
  if (ends) {
    remoteUses[rank][componentOf(by.warp, by.lane)] = {
        &by.warp, by.pc, by.lane, threadsOf(by.warp).epoch};
  }
}

void HazardTracker::finishRemote(uint32_t rank) {
  Clock known;
  for (uint32_t i = 0; i < warpsPerCta; ++i) {
    for (const LaneView &view : warps[rank * warpsPerCta + i].views) {
      known.join(view.known.generic);
    }
  }
  for (const auto &[component, use] : remoteUses[rank]) {
    if (known[component] < use.epoch) {
      report(Rule::ClusterExited, Accessor(*use.warp, use.pc, use.lane),
             "the CTA of rank " + std::to_string(rank) +
                 " may exit before this: it does not wait for it");
    }
  }
}
