// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel whose steps compute nothing, for tests of schedules: a load role and
// two consumers of a sub-tile each.
#ifndef ATTN_TEST_UNIT_SCHEDULE_SMALL_KERNEL_H
#define ATTN_TEST_UNIT_SCHEDULE_SMALL_KERNEL_H

#include "attn/passes/schedule/KernelPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <utility>
#include <vector>

namespace attn::test {

/// Replacements of text in the kernel and its schedule, each of which must be
/// found there.
using Edits = std::vector<std::pair<std::string, std::string>>;

/// A kernel that has been planned, or the first error.
struct Planned {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<sched::KernelPlan> plan;
  std::string error;

  /// Spells a section of the plan of the role's first replica, one act after
  /// the other.
  std::string spell(llvm::StringRef role,
                    sched::PlannedActs sched::RolePlan::*section) const;
};

Planned planKernel(const Edits &edits);

/// The first error of rule V29 in the edited kernel; empty: none.
std::string refusal(const Edits &edits);

} // namespace attn::test

#endif // ATTN_TEST_UNIT_SCHEDULE_SMALL_KERNEL_H
