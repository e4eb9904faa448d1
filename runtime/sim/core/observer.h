// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Observers of CTAs. A CTA without an observer only tests a pointer at its
// waits, arrivals and asynchronous operations.

#ifndef ATTN_SIM_CORE_OBSERVER_H
#define ATTN_SIM_CORE_OBSERVER_H

#include "core/async.h"
#include "core/tensor_unit.h"
#include "core/warp.h"

namespace attn::sim {

/// Informed about one CTA, in the order of simulation.
class Observer {
public:
  virtual ~Observer() = default;

  /// A warp cannot continue, or has polled without success. May be called
  /// repeatedly.
  virtual void onWait(const Warp &warp, const Wait &wait) = 0;
  /// A warp continues after a wait, or did not have to wait.
  virtual void onPass(const Warp &warp, const Wait &wait) = 0;
  /// An arrival at a barrier; by a copy or another CTA if `warp` is null.
  /// `completes`: it ends the barrier's phase.
  virtual void onArrive(const Warp *warp, Wait::Kind kind, uint32_t object,
                        bool completes) = 0;
  virtual void onIssue(const Warp &warp, const AsyncCopy &copy) = 0;
  /// Before the copy arrives at its barrier.
  virtual void onComplete(const AsyncCopy &copy) = 0;
  /// `number` counts the operations of the warp's warpgroup.
  virtual void onIssue(const Warp &warp, const WgmmaOp &op,
                       uint64_t number) = 0;
  /// Of tcgen05's queue; `op.end` is the observer's.
  virtual void onIssue(const Warp &warp, TensorOp &op) = 0;
  /// Before the operation takes effect, or arrives at a barrier of this CTA.
  virtual void onComplete(const TensorOp &op) = 0;
  virtual void onIssue(const Warp &warp, const TensorMove &move) = 0;
  /// Columns of tensor memory are the CTA's, or no longer.
  virtual void onAllocate(const TmemAllocation &columns) = 0;
  virtual void onRelease(const TmemAllocation &columns) = 0;
  /// Ends a group of Wgmma or BulkGroup.
  virtual void onCommit(const Warp &warp, Wait::Kind kind) = 0;
  virtual void onExit(const Warp &warp) = 0;
};

/// Informed about the joint actions of a cluster's CTAs.
class ClusterObserver {
public:
  virtual ~ClusterObserver() = default;
  /// The cluster's barrier completes a phase.
  virtual void onClusterBarrier() = 0;
  /// All threads have ended without an error so far.
  virtual void onEnd() = 0;
};

/// Creates the observers of CTAs.
class ObserverSource {
public:
  virtual ~ObserverSource() = default;
  /// Returns the observer of a CTA that is about to run, or null. Several
  /// threads may call it.
  virtual std::unique_ptr<Observer> watch(const Cta &cta) = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_OBSERVER_H
