// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with its schedule bound to it, and the plan of each role.
#ifndef ATTN_PASSES_SCHEDULE_KERNELPLAN_H
#define ATTN_PASSES_SCHEDULE_KERNELPLAN_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn::sched {

struct KernelPlan {
  KernelModel model;
  BoundSchedule bound;

  /// Binds `schedule` to `kernel` and plans its roles: rules V1 to V6, V20,
  /// V21, V24 to V27. `beforeRoles` runs after the names are bound, before the
  /// schedule's connections are checked.
  static FailureOr<std::unique_ptr<KernelPlan>>
  build(tile::KernelOp kernel, ConfigAttr config, ScheduleAttr schedule,
        Tiles tiles, EmitError emitError,
        function_ref<LogicalResult(const BoundSchedule &)> beforeRoles = {});
};

} // namespace attn::sched

#endif // ATTN_PASSES_SCHEDULE_KERNELPLAN_H
