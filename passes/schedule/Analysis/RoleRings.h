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

  /// Returns the cycle of a slot in the iteration of `item`.
  FailureOr<CycleKey> cycleOf(const Item &item, const SlotRef &slot) const;
  /// Waits for the next cycle of the ring that the role reads.
  LogicalResult waitFull(const CycleKey &key, int part);
  void waitFree(const CycleKey &key);
  /// Releases a slot: at once, when the MMAs before this point are complete, or
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
