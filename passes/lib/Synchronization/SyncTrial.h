// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the roles of a kernel against one another for given work items.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCTRIAL_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCTRIAL_H

#include "SyncUnroller.h"
#include <array>

namespace attn {

/// A running role: replicas of one role, in each CTA of a cluster, are agents
/// of their own.
struct SyncAgent {
  ws::RoleOp role;
  int64_t cta, replica, replicas;
  llvm::SmallVector<SyncEvent> events;
  size_t next = 0;
  /// Of each object: cycles of each kind so far, and the kinds in `events`.
  struct Cycles {
    std::array<int64_t, SyncEvent::kinds> done = {};
    std::array<bool, SyncEvent::kinds> has = {};
  };
  llvm::SmallVector<Cycles> cycles;

  int64_t count(SyncEvent::Kind kind, unsigned object) const {
    return cycles[object].done[kind];
  }
};

class SyncTrial {
public:
  SyncTrial(ws::KernelOp kernel, const SyncEvents &events,
            llvm::ArrayRef<SyncItem> items)
      : kernel(kernel), events(events), items(items),
        ctas(kernel.getConfig().getCluster()) {}

  /// Reports a deadlock, or ends that have not cycled equally.
  mlir::LogicalResult run();

private:
  mlir::LogicalResult start();
  bool step(SyncAgent &agent);
  bool mayPass(const SyncAgent &agent, const SyncEvent &event) const;
  bool mayTake(const SyncAgent &agent, unsigned turn) const;
  bool allStandAt(const SyncAgent &agent, unsigned rendezvous) const;
  mlir::LogicalResult reportDeadlock();
  mlir::LogicalResult checkBalance();
  mlir::LogicalResult checkEnds(llvm::StringRef name, SyncEvent::Kind a,
                                SyncEvent::Kind b);
  mlir::LogicalResult checkChannel(llvm::StringRef name);
  /// Cycles of `kind` that every role with such events has finished, as CTA
  /// `cta` sees it: 0 where no role has any.
  int64_t least(SyncEvent::Kind kind, unsigned object, int64_t cta) const;

  ws::KernelOp kernel;
  const SyncEvents &events;
  llvm::ArrayRef<SyncItem> items;
  int64_t ctas;
  llvm::SmallVector<SyncAgent, 0> agents;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCTRIAL_H
