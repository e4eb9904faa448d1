// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who wants to be told what goes on in CTAs. A CTA without an observer pays for
// a test of a pointer at its waits, arrivals and asynchronous operations.

#ifndef ATTN_SIM_CORE_OBSERVER_H
#define ATTN_SIM_CORE_OBSERVER_H

#include "core/async.h"
#include "core/warp.h"

namespace attn::sim {

/// Told of one CTA, in the order in which the simulator does things.
class Observer {
public:
  virtual ~Observer() = default;

  /// A warp cannot go on, or has looked in vain. May come again and again.
  virtual void onWait(const Warp &warp, const Wait &wait) = 0;
  /// A warp has what it waited for, or what it needed not wait for.
  virtual void onPass(const Warp &warp, const Wait &wait) = 0;
  /// An arrival at a barrier; of a copy or of another CTA if `warp` is null.
  /// `completes`: it ends the barrier's phase.
  virtual void onArrive(const Warp *warp, Wait::Kind kind, uint32_t object,
                        bool completes) = 0;
  virtual void onIssue(const Warp &warp, const AsyncCopy &copy) = 0;
  /// Before the copy arrives at its barrier.
  virtual void onComplete(const AsyncCopy &copy) = 0;
  /// `number` counts the operations of the warp's warpgroup.
  virtual void onIssue(const Warp &warp, const WgmmaOp &op,
                       uint64_t number) = 0;
  /// Ends a group of Wgmma or BulkGroup.
  virtual void onCommit(const Warp &warp, Wait::Kind kind) = 0;
  virtual void onExit(const Warp &warp) = 0;
};

/// Told of what the CTAs of a cluster do together.
class ClusterObserver {
public:
  virtual ~ClusterObserver() = default;
  /// The cluster's barrier completes a phase.
  virtual void onClusterBarrier() = 0;
  /// All threads have ended, and nothing went wrong so far.
  virtual void onEnd() = 0;
};

/// Gives CTAs their observers.
class ObserverSource {
public:
  virtual ~ObserverSource() = default;
  /// The observer of a CTA that is about to run, or null. Called by several
  /// threads.
  virtual std::unique_ptr<Observer> watch(const Cta &cta) = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_OBSERVER_H
