// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans the lists of a role, and its waits and acquires of slots.
#include "RolePlanner.h"
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static PlannedAct actOf(PlannedAct::Kind kind, const Entry &entry) {
  PlannedAct act{kind, &entry};
  act.guard = entry.guard;
  act.target = entry.target;
  act.subtile = entry.subtile;
  act.part = entry.part;
  act.shift = entry.shift;
  return act;
}

static PlannedAct slotAct(PlannedAct::Kind kind, SlotRef slot,
                          const Entry *entry = nullptr) {
  PlannedAct act{kind, entry};
  act.slot = slot;
  act.subtile = slot.subtile;
  if (entry) {
    act.guard = entry->guard;
    act.shift = entry->shift;
  }
  return act;
}

/// Waits before the first read of a slot, or of a part of it.
void RolePlanner::addWaits(const Entry &entry, ArrayRef<SlotRead> reads,
                           PlannedActs &acts) {
  for (const SlotRead &read : reads) {
    std::pair<SlotRef, int> key{read.slot, read.part};
    if (!llvm::is_contained(waited, key)) {
      waited.push_back(key);
      acts.push_back(slotAct(PlannedAct::Wait, read.slot, &entry));
      // An item without blocks also takes and releases its slots.
      if (entry.guard == Guard::Nonempty) {
        acts.back().guard = Guard::Always;
      }
      acts.back().target = read.value;
      acts.back().part = read.part;
    }
  }
}

void RolePlanner::addAcquires(const Entry &entry, PlannedActs &acts) {
  for (const SlotRef &slot : channels.writesOf(entry)) {
    if (!llvm::is_contained(acquired, slot)) {
      acquired.push_back(slot);
      acts.push_back(slotAct(PlannedAct::Acquire, slot, &entry));
    }
  }
}

/// Returns whether a step is a copy whose end signals barriers for the readers:
/// the role that issues it does not await it.
bool RolePlanner::signalsBarrier(const Entry &entry) const {
  const KernelStep &step = kernel.steps[entry.target];
  return step.engine == Engine::Copy &&
         llvm::all_of(step.writes, [&](int value) {
           const Place *channel = bound.channelOf(value);
           return channel && channel->hasFull;
         });
}

void RolePlanner::addEntry(const Entry &entry, PlannedActs &acts) {
  addAcquires(entry, acts);
  switch (entry.act) {
  case Act::Op:
    // The stores of the second run go to the rows of the first.
    if (kernel.mayReject &&
        kernel.steps[entry.target].engine == Engine::Store) {
      acts.push_back(actOf(PlannedAct::AwaitFirstRun, entry));
    }
    acts.push_back(actOf(PlannedAct::Run, entry));
    return;
  case Act::Put:
    acts.push_back(actOf(PlannedAct::Put, entry));
    return;
  case Act::Get: {
    SlotRef slot = channels.slotOf(entry);
    for (int part = 0; part < bound.places[slot.place].parts; ++part) {
      acts.push_back(slotAct(PlannedAct::Wait, slot, &entry));
      acts.back().target = entry.target;
      acts.back().part = part;
      waited.push_back({slot, part});
    }
    return;
  }
  case Act::Read: {
    PlannedAct read =
        slotAct(PlannedAct::ReadRow, channels.slotOf(entry), &entry);
    read.target = entry.target;
    acts.push_back(read);
    return;
  }
  case Act::Await:
    if (!signalsBarrier(entry)) {
      acts.push_back(actOf(PlannedAct::Await, entry));
    }
    return;
  case Act::Sig:
    acts.push_back(actOf(PlannedAct::Signal, entry));
    return;
  case Act::Commit:
    acts.push_back(actOf(PlannedAct::Commit, entry));
    return;
  case Act::Wait:
    acts.push_back(actOf(PlannedAct::WaitEdge, entry));
    return;
  case Act::Sync:
    acts.push_back(actOf(PlannedAct::Meet, entry));
    return;
  case Act::Take:
  case Act::Give:
    return; // They are bound as edges.
  }
}

//===----------------------------------------------------------------------===//
// Sections outside the loop
//===----------------------------------------------------------------------===//

/// Reads a work item that another role hands out, and releases its slot.
void RolePlanner::planItemBegin() {
  for (const Place &place : bound.places) {
    int value = place.cycles.front().front();
    int index = &instance - bound.instances.data();
    if (!bound.isReadAtItemBegin(place, value) ||
        !bound.consumers[bound.ringOf(place, whole)][index]) {
      continue;
    }
    SlotRef slot{bound.indexOf(place), 0, whole};
    for (auto kind :
         {PlannedAct::Wait, PlannedAct::ReadItem, PlannedAct::Release}) {
      plan.itemBegins.push_back(slotAct(kind, slot));
      plan.itemBegins.back().target = value;
      plan.itemBegins.back().part = kind == PlannedAct::Wait ? 0 : -1;
    }
  }
}

void RolePlanner::planList(ArrayRef<Entry> entries, PlannedActs &acts) {
  for (const Entry &entry : entries) {
    addWaits(entry, channels.readsOf(entry), acts);
    addEntry(entry, acts);
  }
  releaseAfterLastReader(channels, acts, /*inLoop=*/false);
  awaitProducts(bound, acts, /*inLoop=*/false);
}

/// Returns whether a `get` in the loop marks the wait for a slot.
bool RolePlanner::isGotten(const SlotRef &slot) const {
  return llvm::any_of(instance.kv, [&](const Entry &entry) {
    // A role cannot wait in each iteration for one slot of the item.
    bool ofItem = !channels.perIteration(slot);
    return entry.act == Act::Get && !(ofItem && entry.guard == Guard::Always) &&
           channels.slotOf(entry) == slot;
  });
}

/// Waits before the loop for the slots of the work item that its iterations
/// read.
void RolePlanner::planOuterWaits() {
  for (const Entry &entry : instance.kv) {
    SmallVector<SlotRead, 4> reads;
    for (const SlotRead &read : channels.readsOf(entry)) {
      if (!channels.perIteration(read.slot)) {
        if (!isGotten(read.slot)) {
          reads.push_back(read);
        }
        if (!llvm::is_contained(outer, read.slot)) {
          outer.push_back(read.slot);
        }
      }
    }
    size_t begin = plan.before.size();
    addWaits(entry, reads, plan.before);
    for (size_t i = begin; i < plan.before.size(); ++i) {
      plan.before[i].guard = Guard::Always;
      plan.before[i].shift = 0;
    }
  }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Returns whether no other entry of the loop reads the slot of `entry`
/// earlier.
bool RolePlanner::isFirst(const Entry &entry, const SlotRead &read) const {
  return llvm::none_of(instance.kv, [&](const Entry &other) {
    return other.guard == Guard::Always && runsBefore(other, entry) &&
           llvm::any_of(channels.readsOf(other), [&](const SlotRead &earlier) {
             return earlier.slot == read.slot && earlier.part == read.part;
           });
  });
}

/// Waits for a slot at its `get`, or else before the first entry that reads it.
void RolePlanner::planTimeStep() {
  for (const Entry &entry : instance.kv) {
    SmallVector<SlotRead, 4> reads;
    llvm::copy_if(channels.readsOf(entry), std::back_inserter(reads),
                  [&](const SlotRead &read) {
                    return channels.perIteration(read.slot) &&
                           !isGotten(read.slot) && isFirst(entry, read);
                  });
    addWaits(entry, reads, plan.timeStep);
    addEntry(entry, plan.timeStep);
  }
  awaitProducts(bound, plan.timeStep, /*inLoop=*/true);
  releaseAfterLastReader(channels, plan.timeStep, /*inLoop=*/true);
}

void RolePlanner::addEnds(ArrayRef<const PlannedActs *> lists,
                          PlannedActs &ends) const {
  bool products = false;
  for (const PlannedActs *acts : lists) {
    for (const PlannedAct &act : *acts) {
      if (act.kind != PlannedAct::Run) {
        continue;
      }
      Engine engine = kernel.steps[act.target].engine;
      products |= engine == Engine::Mma;
      if (engine == Engine::Store && !act.releases.empty()) {
        ends.push_back(actOf(PlannedAct::Await, *act.entry));
        ends.back().guard = Guard::Always;
      }
    }
  }
  if (products && bound.awaitsProducts()) {
    ends.push_back({PlannedAct::AwaitProducts});
  }
}

/// No MMA stays in flight from one time step to the next if roles await them,
/// and no store that slots wait for.
void RolePlanner::planTimeStepEnd() {
  addEnds({&plan.timeStep}, plan.timeStepEnds);
}

/// Passes on the slots and turns of a block that the role leaves to others.
void RolePlanner::planSkipped() {
  if (!bound.skipsBlocks(instance)) {
    return;
  }
  for (const PlannedAct &act : plan.timeStep) {
    if (act.guard != Guard::Always) {
      continue;
    }
    if (act.kind == PlannedAct::Wait) {
      plan.skipped.push_back(act);
      plan.skipped.push_back(slotAct(PlannedAct::Release, act.slot));
    } else if (act.kind == PlannedAct::Signal ||
               act.kind == PlannedAct::WaitEdge) {
      plan.skipped.push_back(act);
    }
  }
  for (PlannedAct &act : plan.skipped) {
    act.shift = 0;
  }
}

/// An item without blocks runs the guarded acts. Its waits come first, because
/// later acts must not depend on them in the loop.
void RolePlanner::planEmpty() {
  auto isReadByPinned = [&](const PlannedAct &release) {
    return llvm::any_of(instance.kv, [&](const Entry &entry) {
      return entry.guard != Guard::Always &&
             channels.isRead(release.slot, entry);
    });
  };
  llvm::copy_if(plan.drain, std::back_inserter(plan.empty),
                [&](const PlannedAct &act) { return !isReadByPinned(act); });
  auto isPinned = [](const PlannedAct &act) {
    return act.guard == Guard::Once || act.guard == Guard::Last;
  };
  for (bool waits : {true, false}) {
    for (const PlannedAct &act : plan.timeStep) {
      if (isPinned(act) && (act.kind == PlannedAct::WaitEdge) == waits) {
        plan.empty.push_back(act);
        plan.empty.back().guard = Guard::Always;
        plan.empty.back().awaited.clear();
      }
    }
  }
  llvm::copy_if(plan.drain, std::back_inserter(plan.empty), isReadByPinned);
}

/// Asks for the next work item late, so that no CTA holds an item that another
/// could begin. But it asks before the last delayed act of this item: the reply
/// arrives while that act waits for a slot.
void RolePlanner::planFetch() {
  bool handsOut = llvm::any_of(instance.before, [&](const Entry &entry) {
    return entry.act == Act::Op && bound.makesWork(entry.target);
  });
  if (!handsOut) {
    return;
  }
  const Entry *last = nullptr;
  for (const Entry &entry : instance.kv) {
    if (entry.act == Act::Op && entry.shift > 0 &&
        entry.guard == Guard::Always) {
      last = &entry;
    }
  }
  PlannedAct fetch{PlannedAct::FetchItem};
  if (!last) {
    plan.after.push_back(fetch);
    return;
  }
  fetch.guard = Guard::Last;
  auto first = llvm::find_if(
      plan.timeStep, [&](const PlannedAct &act) { return act.entry == last; });
  for (PlannedAct &act : llvm::make_range(first, plan.timeStep.end())) {
    for (int &product : act.awaited) {
      product += product >= first - plan.timeStep.begin();
    }
  }
  plan.timeStep.insert(first, fetch);
}

/// The MMAs of other lists end with the item, and so do stores that slots
/// wait for.
void RolePlanner::planItemEnd() {
  addEnds({&plan.before, &plan.after}, plan.itemEnds);
}

RolePlan RolePlanner::run() {
  planItemBegin();
  planList(instance.before, plan.before);
  planOuterWaits();
  planTimeStep();
  planTimeStepEnd();
  planSkipped();
  planList(instance.after, plan.after);
  releaseOuterSlots(channels, outer, plan);
  planFetch();
  planEmpty();
  planItemEnd();
  return std::move(plan);
}

void sched::planRoles(BoundSchedule &bound) {
  bound.plans.clear();
  for (const Instance &instance : bound.instances) {
    bound.plans.push_back(RolePlanner(bound, instance).run());
  }
}
