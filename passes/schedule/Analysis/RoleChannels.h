// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slots of channels that the entries of a replica read and fill.
#ifndef ATTN_PASSES_LIB_ANALYSIS_ROLECHANNELS_H
#define ATTN_PASSES_LIB_ANALYSIS_ROLECHANNELS_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn::sched {

/// A read of a slot, or of one part of it.
struct SlotRead {
  SlotRef slot;
  int value, part;
};

class RoleChannels {
public:
  RoleChannels(const BoundSchedule &bound, const Instance &instance);

  /// The slots that an entry of the role reads, except for work items, which
  /// are read at the beginning of an item.
  ArrayRef<SlotRead> readsOf(const Entry &entry) const {
    return reads.find(&entry)->second;
  }
  bool isRead(const SlotRef &slot, const Entry &entry) const;
  /// The slots that an entry fills.
  SmallVector<SlotRef, 2> writesOf(const Entry &entry) const;
  /// The slot of the value that a `get` or `put` names.
  SlotRef slotOf(const Entry &entry) const;
  /// Whether a slot's value changes in each iteration of the loop.
  bool perIteration(const SlotRef &slot) const;

  const BoundSchedule &bound;
  const Instance &instance;

private:
  void findReads(const Entry &entry);

  llvm::DenseMap<const Entry *, SmallVector<SlotRead, 2>> reads;
};

/// Adds to each act of a list the MMAs that it awaits (RoleAwaits.cpp).
void awaitProducts(const BoundSchedule &bound, PlannedActs &acts, bool inLoop);

/// Adds to the acts of a list the slots for which each is the last reader
/// (RoleReleases.cpp).
void releaseAfterLastReader(const RoleChannels &channels, PlannedActs &acts,
                            bool inLoop);

/// Releases the slots of the item that iterations of the loop read.
void releaseOuterSlots(const RoleChannels &channels, ArrayRef<SlotRef> outer,
                       RolePlan &plan);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_ROLECHANNELS_H
