// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds memory and synchronization hazards of a cluster while it runs. What
// decides is whether accesses are ordered by what the kernel does, not whether
// they met in this run. Handlers tell its parts what happens; reports go to
// Cta.

#ifndef ATTN_SIM_HAZARDS_TRACKER_H
#define ATTN_SIM_HAZARDS_TRACKER_H

#include "hazards/bulk_tracker.h"
#include "hazards/copy_tracker.h"
#include "hazards/tensor_map_tracker.h"
#include "hazards/thread_barriers.h"
#include "hazards/wgmma_tracker.h"

namespace attn::sim {

class HazardTracker : public ClusterObserver {
public:
  HazardTracker(Cluster &cluster, GridHazards &grid);

  /// Before a cluster runs: looks for hazards in it.
  static void attach(Cluster &cluster, GridHazards &grid);

  void onClusterBarrier() override;
  void onEnd() override;

  ThreadKnowledge knowledge;
  AccessHistory history;
  RemoteUses remoteUses;
  PlainAccesses plain;
  ThreadBarriers barriers;
  MbarrierTracker mbarriers;
  BulkTracker bulk;
  CopyTracker copies;
  WgmmaTracker wgmma;
  TensorMapTracker tensorMaps;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TRACKER_H
