// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of a bound schedule before it is run: the rules for its text,
// connections, resources and plans.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULERULES_H
#define ATTN_PASSES_SCHEDULE_SCHEDULERULES_H

#include "attn/passes/schedule/BoundSchedule.h"
#include "attn/passes/schedule/ResourcePlan.h"

namespace attn::sched {

/// Resolves the names of a schedule: rules V1, V3, V4, and the parts of V10,
/// V21, V24 and V25 that depend only on its text.
FailureOr<BoundSchedule> bindSchedule(const KernelModel &kernel,
                                      MachineAttr machine,
                                      ScheduleAttr schedule, int cluster,
                                      EmitError emitError);

/// Rule V26: which role produces the work items (WorkRules.cpp).
LogicalResult checkWork(const BoundSchedule &bound, EmitError emitError);

/// Rules V10 to V14: the machine resources that the schedule needs, which are
/// returned.
FailureOr<ResourcePlan> checkResources(const BoundSchedule &bound,
                                       EmitError emitError);

/// Finds which roles write, read, signal and wait; the parts of rules V1, V5,
/// V6 and V20 that depend only on the text.
LogicalResult connectSchedule(BoundSchedule &bound, EmitError emitError);

/// Plans the acts of each instance (RolePlanner.cpp).
void planRoles(BoundSchedule &bound);

/// Rule V27: the acts allowed in the loops of roles that skip blocks.
LogicalResult checkSkippedBlocks(const BoundSchedule &bound,
                                 EmitError emitError);

/// Rule V30: additions to memory in turns (TurnRules.cpp).
LogicalResult checkTurns(const BoundSchedule &bound, EmitError emitError);

/// Rule V29: mechanisms that the machine has no lowering for (Lowerable.cpp).
LogicalResult checkLowering(const BoundSchedule &bound, EmitError emitError);

} // namespace attn::sched

#endif // ATTN_PASSES_SCHEDULE_SCHEDULERULES_H
