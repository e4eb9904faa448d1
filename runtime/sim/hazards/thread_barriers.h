// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The knowledge that threads gain at the named barriers of CTAs and at the
// barrier of the cluster.

#ifndef ATTN_SIM_HAZARDS_THREAD_BARRIERS_H
#define ATTN_SIM_HAZARDS_THREAD_BARRIERS_H

#include "hazards/thread_knowledge.h"

namespace attn::sim {

class ThreadBarriers {
public:
  explicit ThreadBarriers(ThreadKnowledge &knowledge);

  void arriveNamed(const Warp &warp, uint32_t lanes, uint32_t barrier,
                   bool waits);
  void leaveNamed(const Warp &warp);
  void completeNamed(const Warp &warp, uint32_t barrier);
  void arriveCluster(const Warp &warp, bool releases);
  void leaveCluster(const Warp &warp);
  void completeCluster();

private:
  std::shared_ptr<Knowledge> &arrivingAt(const Warp &warp, uint32_t barrier);

  ThreadKnowledge &knowledge;
  /// The knowledge of the arrived threads: by CTA and named barrier, and for
  /// the cluster's barrier.
  std::vector<std::shared_ptr<Knowledge>> named;
  std::shared_ptr<Knowledge> clusterArriving;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_THREAD_BARRIERS_H
