// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CTAs of one cluster, which run together, and their shared state. A launch
// without clusters has clusters of one CTA.

#ifndef ATTN_SIM_CORE_CLUSTER_H
#define ATTN_SIM_CORE_CLUSTER_H

#include "core/cluster_queue.h"
#include "core/cta_turns.h"

#include <cassert>

namespace attn::sim {

/// barrier.cluster: all threads of the cluster that have not exited arrive.
struct ClusterBarrier {
  uint64_t arrived = 0;
  uint64_t live = 0;
  uint64_t generation = 0;
};

class Cluster {
public:
  Cluster(const Program &program, const GridLaunch &launch,
          const GlobalMemory &memory, const SimOptions &options,
          ClusterQueue &queue, uint64_t number);

  static constexpr uint64_t kNoneFailed = ~uint64_t(0);

  /// Sets the observer of the CTAs' joint actions; before the cluster runs.
  void observe(std::unique_ptr<ClusterObserver> who) {
    assert(!observer && "a cluster has one observer");
    observer = std::move(who);
  }

  /// Runs for a while; returns false once the cluster has ended. It also stops
  /// after another cluster has failed (`firstFailed` is the lowest number),
  /// since it may wait for something that the other no longer does.
  bool run(uint64_t firstFailed);
  /// After the end: the error, or "".
  const std::string &getFailure() const { return failure; }
  uint64_t getNumber() const { return number; }
  uint64_t getInstructionCount() const;
  void mergeReports(Reports &to) const;

  /// Sets the cluster whose CTAs share the tensor memory of these CTAs' multi-
  /// processors, rank by rank; null: there is none any more.
  void setNeighbor(Cluster *cluster);

  // For handlers.

  Cluster *getNeighbor() { return neighbor; }
  /// Must be called when columns, or the permit to allocate them, become free.
  void wakeNeighbor() {
    if (neighbor) {
      neighbor->wake();
    }
  }
  uint32_t size() const { return ctaCount; }
  Cta &getCta(uint32_t rank) { return *ctas[rank]; }
  /// Returns the CTA of a rank; null with `problem` set, which ends with a
  /// rule, if there is none, or if it has not started or has exited.
  Cta *findRank(uint32_t rank, std::string &problem);

  /// Cancels the launch of a cluster at a request of `by`, and returns its
  /// number; nothing if the request fails.
  std::optional<uint64_t> cancelNext(Cta &by);

  /// Threads arrive at the cluster's barrier, or exit.
  void arrive(uint32_t count);
  void leave(uint32_t count, uint32_t arrived);
  ClusterBarrier barrier;

private:
  void completePhase();
  /// Whether to stop: at once if a cluster with a lower number has failed,
  /// since the lowest failure is reported; some turns later if one with a
  /// higher number has.
  bool mustStop(uint64_t firstFailed);
  void wake();
  /// Called if no CTA can run: reports why if not all have ended, otherwise
  /// checks the state that must not be left behind.
  void finish();

  const uint64_t number;
  const uint32_t ctaCount;
  ClusterQueue &queue;
  std::vector<std::unique_ptr<Cta>> ctas;
  /// Null if there is no observer.
  std::unique_ptr<ClusterObserver> observer;
  Cluster *neighbor = nullptr;
  /// Whether it cannot continue until the neighbor wakes it.
  bool isStuck = false;
  CtaTurns turns;
  uint64_t turnsSinceFailure = 0;
  std::string failure;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CLUSTER_H
