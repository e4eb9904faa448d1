// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Releases of slots: a role releases a slot when the last act that reads it is
// complete. Slots of the work item that all iterations read are released after
// the loop, or before its last time steps if those do not read them, so that
// the next item's tile can be loaded earlier.
#include "RoleChannels.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

static PlannedAct releaseOf(const SlotRef &slot) {
  PlannedAct release{PlannedAct::Release};
  release.slot = slot;
  release.subtile = slot.subtile;
  return release;
}

/// Acts that items without blocks do not run release nothing: separate acts
/// after them do.
static void releaseUnguarded(PlannedActs &acts) {
  for (size_t i = 0; i < acts.size(); ++i) {
    if (acts[i].guard == Guard::Always) {
      continue;
    }
    SmallVector<SlotRef, 2> slots = std::move(acts[i].releases);
    acts[i].releases.clear();
    for (const SlotRef &slot : slots) {
      acts.insert(acts.begin() + i + 1, releaseOf(slot));
    }
  }
}

/// Adds each slot to the releases of its last reader. In the loop these are the
/// slots of an iteration; in another list those of the item, unless the loop
/// reads them too.
void sched::releaseAfterLastReader(const RoleChannels &channels,
                                   PlannedActs &acts, bool inLoop) {
  SmallVector<SlotRef> slots;
  SmallVector<PlannedAct *> readers;
  for (PlannedAct &act : acts) {
    if (act.kind != PlannedAct::Run || !act.entry) {
      continue;
    }
    bool isPinned = inLoop && act.guard != Guard::Always;
    for (const SlotRead &read : channels.readsOf(*act.entry)) {
      bool ofIteration = inLoop && !isPinned;
      if (channels.perIteration(read.slot) != ofIteration) {
        continue;
      }
      auto found = llvm::find(slots, read.slot);
      if (found == slots.end()) {
        slots.push_back(read.slot);
        readers.push_back(&act);
        continue;
      }
      PlannedAct *&reader = readers[found - slots.begin()];
      bool isLater =
          isPinned ? act.guard != Guard::Once || reader->guard == Guard::Once
                   : act.shift >= reader->shift;
      reader = isLater ? &act : reader;
    }
  }
  for (auto [slot, reader] : llvm::zip(slots, readers)) {
    reader->releases.push_back(slot);
  }
  if (!inLoop) {
    releaseUnguarded(acts);
  }
}

/// Removes `slot` from the releases of acts.
static void takeRelease(PlannedActs &acts, const SlotRef &slot) {
  for (PlannedAct &act : acts) {
    llvm::erase(act.releases, slot);
  }
}

/// Returns whether an entry of `entries` for which `holds` is true reads a
/// slot.
static bool isReadBy(const RoleChannels &channels, ArrayRef<Entry> entries,
                     const SlotRef &slot,
                     function_ref<bool(const Entry &)> holds) {
  return llvm::any_of(entries, [&](const Entry &entry) {
    return holds(entry) && channels.isRead(slot, entry);
  });
}

void sched::releaseOuterSlots(const RoleChannels &channels,
                              ArrayRef<SlotRef> outer, RolePlan &plan) {
  const Instance &instance = channels.instance;
  bool shifted = llvm::any_of(
      plan.timeStep, [](const PlannedAct &act) { return act.shift > 0; });
  auto isUnguarded = [](const Entry &entry) {
    return entry.guard == Guard::Always;
  };
  // A time step without unshifted acts may run them.
  auto runsLate = [](const Entry &entry) {
    return entry.shift > 0 || entry.guard == Guard::Last ||
           entry.guard == Guard::LastNonempty;
  };
  auto isReadLast = [&](const SlotRef &slot) {
    return llvm::any_of(plan.timeStep, [&](const PlannedAct &act) {
      return act.guard == Guard::LastNonempty &&
             llvm::is_contained(act.releases, slot);
    });
  };
  for (const PlannedAct &act : plan.after) {
    for (const SlotRef &slot : act.releases) {
      takeRelease(plan.before, slot);
    }
  }
  for (const SlotRef &slot : outer) {
    takeRelease(plan.before, slot);
    if (isReadBy(channels, instance.after, slot,
                 [](const Entry &) { return true; })) {
      takeRelease(plan.timeStep, slot);
      continue;
    }
    if (!isReadBy(channels, instance.kv, slot, isUnguarded) &&
        !isReadLast(slot)) {
      continue; // The last guarded act that reads it releases it.
    }
    takeRelease(plan.timeStep, slot);
    bool early = shifted && !isReadBy(channels, instance.kv, slot, runsLate);
    (early ? plan.drain : plan.loopEnds).push_back(releaseOf(slot));
  }
}
