// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a role gives slots back: when the last act that reads a slot ends. What
// all iterations read of a work item goes back after the loop, or before its
// last turns if those do not read it, so that the next item's tile can come
// meanwhile.
#include "RolePlanner.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

/// Adds each slot to the releases of the act that reads it last. In the loop
/// these are the slots of an iteration; in another section those of the item,
/// unless the loop reads them too.
void RolePlanner::releaseAfterLastReader(PlannedActs &acts, bool inLoop) {
  SmallVector<SlotRef> slots;
  SmallVector<PlannedAct *> readers;
  for (PlannedAct &act : acts) {
    if (act.kind != PlannedAct::Run || !act.entry) {
      continue;
    }
    bool isPinned = inLoop && act.guard != Guard::Always;
    for (const Read &read : readsOf(*act.entry)) {
      bool ofIteration = inLoop && !isPinned;
      if (valueIn(read.slot).perIteration() != ofIteration) {
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

static PlannedAct releaseOf(const SlotRef &slot) {
  PlannedAct release{PlannedAct::Release};
  release.slot = slot;
  release.subtile = slot.subtile;
  return release;
}

/// What items without blocks do not run gives nothing back: acts of their own
/// behind it do.
void RolePlanner::releaseUnguarded(PlannedActs &acts) {
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

/// Returns whether a turn without unshifted acts may read a slot of the item.
bool RolePlanner::isReadLate(const SlotRef &slot) const {
  return llvm::any_of(instance.kv, [&](const Entry &entry) {
    bool runsLate = entry.shift > 0 || entry.guard == Guard::Last ||
                    entry.guard == Guard::LastNonempty;
    return runsLate && llvm::any_of(readsOf(entry), [&](const Read &read) {
             return read.slot == slot;
           });
  });
}

/// Removes `slot` from the releases of acts; returns whether it was there.
static bool takeRelease(PlannedActs &acts, const SlotRef &slot) {
  bool found = false;
  for (PlannedAct &act : acts) {
    auto at = llvm::find(act.releases, slot);
    if (at != act.releases.end()) {
      act.releases.erase(at);
      found = true;
    }
  }
  return found;
}

/// Gives back the slots of the item that iterations of the loop read.
void RolePlanner::releaseOuterSlots() {
  bool shifted = llvm::any_of(
      instance.kv, [](const Entry &entry) { return entry.shift > 0; });
  auto isReadInLoop = [&](const SlotRef &slot) {
    return llvm::any_of(instance.kv, [&](const Entry &entry) {
      return entry.guard == Guard::Always &&
             llvm::any_of(readsOf(entry),
                          [&](const Read &read) { return read.slot == slot; });
    });
  };
  auto isReadLast = [&](const SlotRef &slot) {
    return llvm::any_of(plan.turn, [&](const PlannedAct &act) {
      return act.guard == Guard::LastNonempty &&
             llvm::is_contained(act.releases, slot);
    });
  };
  auto isReadAfter = [&](const SlotRef &slot) {
    return llvm::any_of(instance.after, [&](const Entry &entry) {
      return llvm::any_of(readsOf(entry),
                          [&](const Read &read) { return read.slot == slot; });
    });
  };
  for (const PlannedAct &act : plan.after) {
    for (const SlotRef &slot : act.releases) {
      takeRelease(plan.before, slot);
    }
  }
  for (const SlotRef &slot : outer) {
    takeRelease(plan.before, slot);
    if (isReadAfter(slot)) {
      takeRelease(plan.turn, slot);
      continue;
    }
    if (!isReadInLoop(slot) && !isReadLast(slot)) {
      continue; // The last pinned act that reads it gives it back.
    }
    takeRelease(plan.turn, slot);
    PlannedAct release = releaseOf(slot);
    bool early = shifted && !isReadLate(slot);
    (early ? plan.drain : plan.loopEnds).push_back(release);
  }
}
