// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The barriers of a kernel's objects: who arrives, who waits, how often, and
// their names in messages.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCBARRIERS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCBARRIERS_H

#include "SyncRun.h"

namespace attn {

struct SyncAgent {
  ws::RoleOp role;
  int64_t cta, replica;
  std::vector<SyncStep> steps;
  std::vector<int64_t> counts; // of steps, by object and kind

  int64_t count(SyncEvent::Kind kind, unsigned object) const {
    return counts[object * SyncEvent::kinds + kind];
  }
};

/// Returns "role 'wg' replica 0", with the CTA if there are several.
std::string describe(const SyncAgent &agent, int64_t ctas);

class SyncBarriers {
public:
  SyncBarriers(const SyncEvents &events, llvm::ArrayRef<SyncAgent> agents,
               int64_t ctas);

  int count() const { return barriers.size(); }
  /// Returns the full or the free barrier of a slot, the one of an edge, the
  /// one at which a replica waits for its turn, one of a verdict, or, for a
  /// mailbox, the one for the arrival of an item or (`isFree`) for the end of
  /// its reads.
  int find(unsigned object, bool isFree, int64_t slot, int64_t cta) const;
  bool waits(const SyncAgent &agent, int barrier) const;
  /// For each phase, who completes it: agents or, from the number of agents on,
  /// their copies.
  llvm::SmallVector<llvm::SmallVector<int, 2>> arrivalsOf(int barrier) const;
  std::string describe(int barrier) const;

private:
  struct Barrier {
    unsigned object;
    bool isFree = false;
    int64_t slot = 0; // or the replica
    int64_t cta = 0;
  };
  void add(int64_t cta);
  bool arrives(const SyncAgent &agent, const Barrier &barrier) const;
  int64_t phasesOf(const Barrier &barrier) const;
  int64_t mostOf(SyncEvent::Kind kind, unsigned object, int64_t cta) const;
  int64_t creditsOf(const Barrier &barrier) const;

  const SyncEvents &events;
  llvm::ArrayRef<SyncAgent> agents;
  int64_t ctas;
  std::vector<Barrier> barriers;
  llvm::SmallVector<int> firstBarrier; // by object, in CTA 0
  int barriersOfCta = 0;
};

/// Whether one CTA of a cluster reads the verdicts of all.
inline bool takesForCluster(const SyncObject &object) {
  return object.handedOut && object.inCluster;
}

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCBARRIERS_H
