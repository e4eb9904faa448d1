// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans the acts of one replica of one role.
#ifndef ATTN_PASSES_LIB_ANALYSIS_ROLEPLANNER_H
#define ATTN_PASSES_LIB_ANALYSIS_ROLEPLANNER_H

#include "RoleChannels.h"

namespace attn::sched {

class RolePlanner {
public:
  RolePlanner(const BoundSchedule &bound, const Instance &instance)
      : bound(bound), kernel(*bound.kernel), instance(instance),
        channels(bound, instance) {}

  RolePlan run();

private:
  void planItemBegin();
  void planList(ArrayRef<Entry> entries, PlannedActs &acts);
  bool isGotten(const SlotRef &slot) const;
  void planOuterWaits();
  bool isFirst(const Entry &entry, const SlotRead &read) const;
  void planTimeStep();
  void planTimeStepEnd();
  void planSkipped();
  void planEmpty();
  void planFetch();
  void planItemEnd();
  bool signalsBarrier(const Entry &entry) const;
  void addEntry(const Entry &entry, PlannedActs &acts);
  void addWaits(const Entry &entry, ArrayRef<SlotRead> reads,
                PlannedActs &acts);
  void addAcquires(const Entry &entry, PlannedActs &acts);
  /// Adds the awaits at the end of a time step or an item that runs `lists`:
  /// of all MMAs, and of stores that slots wait for.
  void addEnds(ArrayRef<const PlannedActs *> lists, PlannedActs &ends) const;

  const BoundSchedule &bound;
  const KernelModel &kernel;
  const Instance &instance;
  RoleChannels channels;
  RolePlan plan;
  SmallVector<std::pair<SlotRef, int>> waited; // slots and parts
  SmallVector<SlotRef> acquired;
  SmallVector<SlotRef> outer; // slots of the item that the loop reads
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_ROLEPLANNER_H
