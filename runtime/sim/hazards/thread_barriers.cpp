// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/thread_barriers.h"

#include "core/cluster.h"

using namespace attn::sim;

ThreadBarriers::ThreadBarriers(ThreadKnowledge &knowledge)
    : knowledge(knowledge), named(knowledge.cluster.size() * kNamedBarriers) {}

std::shared_ptr<Knowledge> &ThreadBarriers::arrivingAt(const Warp &warp,
                                                       uint32_t barrier) {
  return named[warp.cta.rank * kNamedBarriers + barrier];
}

void ThreadBarriers::arriveNamed(const Warp &warp, uint32_t lanes,
                                 uint32_t barrier, bool waits) {
  std::shared_ptr<Knowledge> &arriving = arrivingAt(warp, barrier);
  if (!arriving) {
    arriving = std::make_shared<Knowledge>();
  }
  if (waits) {
    knowledge.syncLanes(warp, lanes);
    forLanes(lanes, [&](unsigned lane) {
      knowledge.threadsOf(warp).barrier[lane] = arriving;
    });
  }
  knowledge.publish(warp, lanes, *arriving);
}

void ThreadBarriers::completeNamed(const Warp &warp, uint32_t barrier) {
  arrivingAt(warp, barrier) = nullptr;
}

void ThreadBarriers::leaveNamed(const Warp &warp) {
  knowledge.acquireEach(warp, knowledge.threadsOf(warp).barrier);
}

/// A relaxed arrival releases only the effects of fences.
void ThreadBarriers::arriveCluster(const Warp &warp, bool releases) {
  WarpThreads &threads = knowledge.threadsOf(warp);
  if (!clusterArriving) {
    clusterArriving = std::make_shared<Knowledge>();
  }
  forLanes(warp.exec, [&](unsigned lane) {
    threads.clusterBarrier[lane] = clusterArriving;
    clusterArriving->inits.raise(knowledge.componentOf(warp, lane),
                                 threads.initsAt[lane]);
    if (!releases) {
      knowledge.publishFenced(warp, lane, Scope::Cluster, *clusterArriving);
    }
  });
  if (releases) {
    knowledge.publish(warp, warp.exec, *clusterArriving);
  }
}

/// CTAs whose threads have arrived, or exited, have started.
void ThreadBarriers::completeCluster() {
  if (clusterArriving) {
    clusterArriving->started = (1u << knowledge.cluster.size()) - 1;
  }
  clusterArriving = nullptr;
}

void ThreadBarriers::leaveCluster(const Warp &warp) {
  knowledge.acquireEach(warp, knowledge.threadsOf(warp).clusterBarrier);
}
