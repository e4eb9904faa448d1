// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with a bound schedule before it is run: the rules that its text,
// its connections, its resources and its plans have to keep.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULERULES_H
#define ATTN_PASSES_SCHEDULE_SCHEDULERULES_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn {
struct ScheduleStatistics;
} // namespace attn

namespace attn::sched {

/// Resolves the names of a schedule: rules V1, V3, V4, and what its text alone
/// shows of V10, V21, V24 and V25.
FailureOr<BoundSchedule> bindSchedule(const KernelModel &kernel,
                                      MachineAttr machine,
                                      ScheduleAttr schedule, int cluster,
                                      EmitError emitError);

/// Rule V26: who makes the work items (WorkRules.cpp).
LogicalResult checkWork(const BoundSchedule &bound, EmitError emitError);

/// Rules V10 to V14: what the schedule takes of the machine.
LogicalResult checkResources(const BoundSchedule &bound,
                             ScheduleStatistics &statistics,
                             EmitError emitError);

/// Finds who writes, reads, signals and waits; rules V1, V5, V6 and V20 as far
/// as the text shows them.
LogicalResult connectSchedule(BoundSchedule &bound, EmitError emitError);

/// Plans what each instance does (RolePlanner.cpp).
void planRoles(BoundSchedule &bound);

/// Rule V27: what roles that skip blocks may do in their loops.
LogicalResult checkSkippedBlocks(const BoundSchedule &bound,
                                 EmitError emitError);

/// Rule V29: what the machine has no lowering for (Lowerable.cpp).
LogicalResult checkLowering(const BoundSchedule &bound, EmitError emitError);

} // namespace attn::sched

#endif // ATTN_PASSES_SCHEDULE_SCHEDULERULES_H
