// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/tracker.h"

#include "core/cluster.h"

using namespace attn::sim;

HazardTracker::HazardTracker(Cluster &cluster, GridHazards &grid)
    : knowledge(cluster), history(knowledge, grid), remoteUses(knowledge),
      plain(knowledge, history, remoteUses), barriers(knowledge),
      mbarriers(knowledge, history, remoteUses, plain),
      bulk(knowledge, history, remoteUses, mbarriers),
      copies(knowledge, history, mbarriers), wgmma(knowledge, history),
      tensorMaps(knowledge, history), tmem(knowledge, history) {}

void HazardTracker::attach(Cluster &cluster, GridHazards &grid) {
  auto tracker = std::make_unique<HazardTracker>(cluster, grid);
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    cluster.getCta(rank).hazards = tracker.get();
  }
  cluster.observe(std::move(tracker));
}

void HazardTracker::onClusterBarrier() { barriers.completeCluster(); }

void HazardTracker::onEnd() {
  bulk.finishLoads();
  for (uint32_t rank = 0; rank < knowledge.cluster.size(); ++rank) {
    for (uint32_t i = 0; i < knowledge.warpsPerCta; ++i) {
      const Warp &warp = knowledge.cluster.getCta(rank).getWarp(i);
      wgmma.finishWgmma(warp);
      bulk.finishStores(warp);
    }
    remoteUses.finishRemote(rank, mbarriers.signals);
  }
  tmem.finish();
  mbarriers.finishBarriers();
}
