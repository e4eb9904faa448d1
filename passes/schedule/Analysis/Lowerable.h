// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29, by the parts of a schedule: refuses mechanisms of a legal schedule
// that the machine has no lowering for.
#ifndef ATTN_PASSES_LIB_ANALYSIS_LOWERABLE_H
#define ATTN_PASSES_LIB_ANALYSIS_LOWERABLE_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn::sched {

/// A bound schedule, and the refusal of a mechanism that its machine lacks.
struct Lowerable {
  const BoundSchedule &bound;
  const KernelModel &kernel;
  EmitError emitError;

  /// Refuses `mechanism` if the schedule uses it (`says`) and the machine lacks
  /// it.
  LogicalResult refuseIf(bool says, Mechanism mechanism,
                         function_ref<std::string()> what) const;
  bool isInSmem(int value) const {
    return llvm::any_of(bound.places, [&](const Place &place) {
      return place.space == Space::Smem && place.carries(value);
    });
  }
};

LogicalResult checkLowerableSteps(const Lowerable &lowerable);
LogicalResult checkLowerableCuts(const Lowerable &lowerable);
LogicalResult checkLowerableShapes(const Lowerable &lowerable);
LogicalResult checkLowerablePlaces(const Lowerable &lowerable);
LogicalResult checkLowerableRoles(const Lowerable &lowerable);
LogicalResult checkLowerableActs(const Lowerable &lowerable);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_LOWERABLE_H
