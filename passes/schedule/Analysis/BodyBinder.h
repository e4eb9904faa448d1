// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds the bodies of roles: the entries of each replica, V1 and V3.
#ifndef ATTN_PASSES_LIB_ANALYSIS_BODYBINDER_H
#define ATTN_PASSES_LIB_ANALYSIS_BODYBINDER_H

#include "NameLookup.h"

namespace attn::sched {

class BodyBinder {
public:
  BodyBinder(BoundSchedule &bound, EmitError emitError)
      : bound(bound), kernel(*bound.kernel), schedule(bound.schedule),
        emitError(emitError), names(bound, emitError) {}

  LogicalResult bind();

private:
  LogicalResult checkBody(BodyAttr body);
  LogicalResult bindInstance(int role, int replica);
  LogicalResult bindList(Instance &instance, ArrayRef<EntryAttr> list,
                         LoopPosition region, SmallVectorImpl<Entry> &entries);
  LogicalResult checkGuard(EntryAttr attr, LoopPosition region);
  LogicalResult bindEntry(Instance &instance, EntryAttr attr,
                          LoopPosition region, Entry &entry);
  LogicalResult bindStepEntry(EntryAttr attr, LoopPosition region,
                              Entry &entry);
  LogicalResult bindEdgeEntry(EntryAttr attr, Entry &entry);
  LogicalResult bindTurnEntry(const Instance &instance, EntryAttr attr,
                              Entry &entry);
  LogicalResult bindSyncEntry(const Instance &instance, EntryAttr attr,
                              Entry &entry);
  LogicalResult bindSubtile(const Instance &instance, EntryAttr attr, bool cut,
                            Entry &entry);

  BoundSchedule &bound;
  const KernelModel &kernel;
  ScheduleAttr schedule;
  EmitError emitError;
  NameLookup names;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_BODYBINDER_H
