// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A role's waits for the slots of channels, and its releases.
#ifndef ATTN_PASSES_LIB_ANALYSIS_ROLERINGS_H
#define ATTN_PASSES_LIB_ANALYSIS_ROLERINGS_H

#include "RoleFlights.h"

namespace attn::sched {

class RoleRings {
public:
  RoleRings(RoleTokens &role, RoleFlights &flights);

  /// The cycle that a slot means in the iteration of `item`.
  FailureOr<CycleKey> cycleOf(const Item &item, const SlotRef &slot) const;
  /// Waits for the ring's next cycle that the role reads.
  LogicalResult waitFull(const CycleKey &key, int part);
  void waitFree(const CycleKey &key);
  /// Gives a slot back: at once, when the MMAs before this point are done, or
  /// when the role has awaited the operation that reads it.
  void release(const CycleKey &key);

private:
  RoleTokens &role;
  const BoundSchedule &bound;
  RoleFlights &flights;
  int maxParts = 1;
  SmallVector<int> lastTaken; // by ring and part
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_ROLERINGS_H
