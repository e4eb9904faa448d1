// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks whether a schedule is legal for a kernel: the rules of
// docs/schedule-rules.md other than V28, on a model of the kernel that is built
// from its IR.
#ifndef ATTN_PASSES_SCHEDULEMODEL_H
#define ATTN_PASSES_SCHEDULEMODEL_H

#include "attn/passes/schedule/ResourcePlan.h"

namespace attn {

/// The extent of the check.
struct JudgeOptions {
  /// All lists of up to three work items with up to 3 iterations each, instead
  /// of a selection.
  bool exhaustive = false;
  /// Also rule V29: whether the machine has a lowering for the schedule.
  bool lowering = true;
};

/// Checks `schedule` for `kernel`, whose tiles are those of a whole CTA (before
/// `attn-subtile`). A violation is reported through `emitError`, in a message
/// that starts with the rule: "V9: ...". The machine is the one that the
/// schedule names. `resources`, if given, is set as soon as they are known.
mlir::LogicalResult
verifySchedule(tile::KernelOp kernel, ConfigAttr config, ScheduleAttr schedule,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               ResourcePlan *resources = nullptr, JudgeOptions options = {});

} // namespace attn

#endif // ATTN_PASSES_SCHEDULEMODEL_H
