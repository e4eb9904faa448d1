// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolves the names of a schedule in a kernel: V1, V4, and the parts of V10,
// V24 and V25 that depend only on its text.
#ifndef ATTN_PASSES_LIB_ANALYSIS_SCHEDULEBINDER_H
#define ATTN_PASSES_LIB_ANALYSIS_SCHEDULEBINDER_H

#include "NameLookup.h"
#include "attn/passes/schedule/ScheduleRules.h"

namespace attn::sched {

class ScheduleBinder {
public:
  ScheduleBinder(BoundSchedule &bound, EmitError emitError)
      : bound(bound), kernel(*bound.kernel), schedule(bound.schedule),
        emitError(emitError), names(bound, emitError) {}

  LogicalResult bind();

private:
  LogicalResult bindSplit();
  bool isCopied(int value) const;
  LogicalResult checkCuts();
  LogicalResult bindRoles();
  LogicalResult bindPlaces();
  LogicalResult bindPlace(PlaceAttr attr);
  LogicalResult checkScope(StringRef name, Scope scope);
  LogicalResult checkShared(const Place &place, ArrayRef<int> values);
  LogicalResult bindHosts(Place &place);
  LogicalResult bindHost(Place &place, StringAttr over);
  LogicalResult bindEdges();
  LogicalResult bindTurns();
  void findHomes();
  void numberBarriers();

  BoundSchedule &bound;
  const KernelModel &kernel;
  ScheduleAttr schedule;
  EmitError emitError;
  NameLookup names;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_SCHEDULEBINDER_H
