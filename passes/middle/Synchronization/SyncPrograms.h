// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unrolled roles of a kernel as token programs: one agent a replica of a
// role in each CTA of a cluster.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCPROGRAMS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCPROGRAMS_H

#include "SharedMemory.h"
#include "SyncRun.h"
#include "attn/dialect/ItemMemory.h"
#include "attn/passes/schedule/TokenPrograms.h"

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

/// "role 'wg' replica 0", with the CTA where there are several.
std::string describe(const SyncAgent &agent, int64_t ctas);

/// Cells are tagged with the object, the work item and the cycle, or with the
/// put's number in its item. A source is an agent, or agent count + agent for
/// the copies of one.
class SyncPrograms : public TokenPrograms {
public:
  SyncPrograms(const SyncEvents &events, const SharedMemory &memory,
               llvm::ArrayRef<SyncAgent> agents, int64_t ctas);

  std::string describeItem(Point point) const override;
  std::string describeInstance(int instance) const override;
  std::string describeBarrier(int barrier) const override;
  std::string describeTag(const Tag &tag) const override;
  std::string describeSource(int source) const override;
  std::string describeRendezvous(int rendezvous) const override;
  void locate(Point point, mlir::InFlightDiagnostic &error) const override;
  llvm::SmallVector<int> waitersOf(int barrier) const override;
  int membersOf(int rendezvous) const override;

private:
  friend class SyncWriter;

  /// A barrier: the full or the free one of a slot, that of an edge, the one
  /// at which a replica waits for its turn, one of a verdict, or of a mailbox
  /// the one that an item has come or, `isFree`, that all have read it.
  struct Barrier {
    unsigned object;
    bool isFree = false;
    int64_t slot = 0; // or the replica
    int64_t cta = 0;
  };
  void addBarriers(int64_t cta);
  void expectArrivals(const Barrier &barrier);
  /// Whether the agent is at this end of a barrier.
  bool arrives(const SyncAgent &agent, const Barrier &barrier) const;
  bool waits(const SyncAgent &agent, const Barrier &barrier) const;
  /// Whether one CTA of a cluster takes the verdicts of all.
  static bool takesForCluster(const SyncObject &object) {
    return object.handedOut && object.inCluster;
  }
  /// Cells of a CTA for verdicts and items.
  int64_t cellsForItems() const { return ws::verdictRing * agents.size() + 1; }
  int mailboxCell(int64_t cta) const {
    return itemCells + cta * cellsForItems();
  }
  int verdictCell(int64_t cta, int64_t slot, int64_t giver) const {
    return mailboxCell(cta) + 1 + slot * agents.size() + giver;
  }
  int64_t phasesOf(const Barrier &barrier) const;
  int64_t mostOf(SyncEvent::Kind kind, unsigned object, int64_t cta) const;
  int64_t creditsOf(const Barrier &barrier) const;
  int barrierOf(unsigned object, bool isFree, int64_t slot, int64_t cta) const;

  const SyncEvents &events;
  const SharedMemory &memory;
  llvm::ArrayRef<SyncAgent> agents;
  int64_t ctas;
  std::vector<Barrier> barriers;
  llvm::SmallVector<int> firstBarrier; // by object, in CTA 0
  int barriersOfCta = 0;
  int itemCells = 0; // the first of the cells for verdicts and items
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCPROGRAMS_H
