// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds memory and synchronization hazards of a cluster while it runs: accesses
// that the kernel does not order, whether or not they coincided in this run.
// Handlers inform its parts; reports go to Cta.

#ifndef ATTN_SIM_HAZARDS_TRACKER_H
#define ATTN_SIM_HAZARDS_TRACKER_H

#include "hazards/bulk_tracker.h"
#include "hazards/copy_tracker.h"
#include "hazards/tensor_map_tracker.h"
#include "hazards/thread_barriers.h"
#include "hazards/tmem_tracker.h"
#include "hazards/wgmma_tracker.h"

namespace attn::sim {

class HazardTracker : public ClusterObserver {
public:
  HazardTracker(Cluster &cluster, GridHazards &grid);

  /// Attaches hazard tracking to a cluster, before it runs.
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
  TmemTracker tmem;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TRACKER_H
