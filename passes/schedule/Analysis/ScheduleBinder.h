// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolves the names of a schedule in a kernel: V1, V3, V4, and what its text
// alone shows of V10, V21 and V24.
#ifndef ATTN_PASSES_LIB_ANALYSIS_SCHEDULEBINDER_H
#define ATTN_PASSES_LIB_ANALYSIS_SCHEDULEBINDER_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn::sched {

class ScheduleBinder {
public:
  ScheduleBinder(BoundSchedule &bound, EmitError emitError)
      : bound(bound), kernel(*bound.kernel), schedule(bound.schedule),
        emitError(emitError) {}

  LogicalResult bind();

private:
  LogicalResult bindSplit();
  LogicalResult checkCuts();
  LogicalResult bindRoles();
  LogicalResult bindPlaces();
  LogicalResult bindPlace(PlaceAttr attr);
  LogicalResult checkScope(StringRef name, Scope scope);
  LogicalResult checkShared(const Place &place, ArrayRef<int> values);
  LogicalResult bindHost(Place &place);
  LogicalResult bindEdges();
  LogicalResult bindTurns();
  LogicalResult bindBodies();
  LogicalResult bindList(Instance &instance, ArrayRef<EntryAttr> list,
                         Section region, SmallVectorImpl<Entry> &entries);
  LogicalResult bindEntry(Instance &instance, EntryAttr attr, Section region,
                          Entry &entry);
  LogicalResult bindStepEntry(EntryAttr attr, Section region, Entry &entry);
  LogicalResult bindEdgeEntry(EntryAttr attr, Entry &entry);
  LogicalResult bindTurnEntry(const Instance &instance, EntryAttr attr,
                              Entry &entry);
  LogicalResult bindSyncEntry(const Instance &instance, EntryAttr attr,
                              Entry &entry);
  LogicalResult bindSubtile(const Instance &instance, EntryAttr attr, bool cut,
                            Entry &entry);
  void numberBarriers();
  LogicalResult findValue(StringAttr name, StringRef user, int &value);
  LogicalResult findStep(StringAttr name, StringRef user, int &step);
  LogicalResult findRole(StringAttr name, StringRef user, int &role);

  BoundSchedule &bound;
  const KernelModel &kernel;
  ScheduleAttr schedule;
  EmitError emitError;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_SCHEDULEBINDER_H
