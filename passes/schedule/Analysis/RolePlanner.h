// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans the acts of one replica of one role.
#ifndef ATTN_PASSES_LIB_ANALYSIS_ROLEPLANNER_H
#define ATTN_PASSES_LIB_ANALYSIS_ROLEPLANNER_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn::sched {

class RolePlanner {
public:
  RolePlanner(const BoundSchedule &bound, const Instance &instance)
      : bound(bound), kernel(*bound.kernel), instance(instance) {}

  RolePlan run();

private:
  /// A read of a channel, or of one part of its slot.
  struct Read {
    SlotRef slot;
    int value, part;
  };

  void planItemBegin();
  void planList(ArrayRef<Entry> entries, PlannedActs &acts);
  bool isGotten(const SlotRef &slot) const;
  void planOuterWaits();
  void planTurn();
  void planTurnEnd();
  void planSkipped();
  void planEmpty();
  void planFetch();
  void planItemEnd();
  void addEntry(const Entry &entry, PlannedActs &acts);
  void addWaits(const Entry &entry, ArrayRef<Read> reads, PlannedActs &acts);
  void addAcquires(const Entry &entry, PlannedActs &acts);

  // RoleReleases.cpp
  void releaseOuterSlots();
  void releaseAfterLastReader(PlannedActs &acts, bool inLoop);
  void releaseUnguarded(PlannedActs &acts);
  bool isReadLate(const SlotRef &slot) const;

  // RoleAwaits.cpp
  void awaitProducts(PlannedActs &acts, bool inLoop) const;
  bool needsResult(const PlannedAct &act, const PlannedAct &product,
                   bool inLoop) const;
  bool comesFrom(int value, int turns, const PlannedAct &product) const;
  bool remakesOperand(const PlannedAct &act, const PlannedAct &product) const;

  SmallVector<Read, 4> readsOf(const Entry &entry) const;
  SmallVector<SlotRef, 2> writesOf(const Entry &entry) const;
  const KernelValue &valueIn(const SlotRef &slot) const {
    const Place &place = bound.places[slot.place];
    return kernel.values[place.cycles[slot.alternative].front()];
  }
  const KernelStep *stepOf(const PlannedAct &act) const {
    return act.kind == PlannedAct::Run ? &kernel.steps[act.target] : nullptr;
  }
  bool isProduct(const PlannedAct &act) const {
    return act.kind == PlannedAct::Run &&
           kernel.steps[act.target].engine == Engine::Mma;
  }

  const BoundSchedule &bound;
  const KernelModel &kernel;
  const Instance &instance;
  RolePlan plan;
  SmallVector<std::pair<SlotRef, int>> waited; // slots and parts
  SmallVector<SlotRef> acquired;
  SmallVector<SlotRef> outer; // slots of the item that the loop reads
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_ROLEPLANNER_H
