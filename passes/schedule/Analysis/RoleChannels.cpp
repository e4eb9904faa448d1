// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleChannels.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

RoleChannels::RoleChannels(const BoundSchedule &bound, const Instance &instance)
    : bound(bound), instance(instance) {
  for (auto *list : {&instance.before, &instance.kv, &instance.after}) {
    for (const Entry &entry : *list) {
      findReads(entry);
    }
  }
}

void RoleChannels::findReads(const Entry &entry) {
  SmallVector<SlotRead, 2> &found = reads[&entry];
  if (entry.act == Act::Read) {
    found.push_back({slotOf(entry), entry.target, 0});
  }
  if (entry.act != Act::Op) {
    return;
  }
  const KernelModel &kernel = *bound.kernel;
  for (int value : kernel.steps[entry.target].reads) {
    int producer = kernel.values[value].producer;
    const Place *home = bound.homeOf(value, entry.target, instance);
    if (!home || !home->channel || (producer >= 0 && bound.remat[producer]) ||
        bound.isReadAtItemBegin(*home, value)) {
      continue;
    }
    bool byPart = home->parts > 1 && entry.part >= 0;
    for (Subtile t : bound.subtilesRead(entry.target, value, entry.subtile)) {
      SlotRef slot{bound.indexOf(*home), home->cycleOf(value), t};
      for (int part = 0; part < home->parts; ++part) {
        if (!byPart || part == entry.part) {
          found.push_back({slot, value, part});
        }
      }
    }
  }
}

bool RoleChannels::isRead(const SlotRef &slot, const Entry &entry) const {
  return llvm::any_of(readsOf(entry),
                      [&](const SlotRead &read) { return read.slot == slot; });
}

SlotRef RoleChannels::slotOf(const Entry &entry) const {
  const Place &place = *bound.channelOf(entry.target);
  return {bound.indexOf(place), place.cycleOf(entry.target), entry.subtile};
}

SmallVector<SlotRef, 2> RoleChannels::writesOf(const Entry &entry) const {
  SmallVector<SlotRef, 2> slots;
  if (entry.act == Act::Put) {
    slots.push_back(slotOf(entry));
  }
  if (entry.act != Act::Op) {
    return slots;
  }
  const KernelStep &step = bound.kernel->steps[entry.target];
  for (int value : step.writes) {
    Subtile t = bound.axisOf(value).empty() ? whole : entry.subtile;
    for (const Place *place : bound.targetsOf(value, step.engine)) {
      SlotRef slot{bound.indexOf(*place), place->cycleOf(value), t};
      if (place->channel && !llvm::is_contained(slots, slot)) {
        slots.push_back(slot);
      }
    }
  }
  return slots;
}

bool RoleChannels::perIteration(const SlotRef &slot) const {
  const Place &place = bound.places[slot.place];
  int value = place.cycles[slot.alternative].front();
  return bound.kernel->values[value].perIteration();
}
