// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries of a bound schedule: sub-tiles, homes of values, cells, barriers.
#include "attn/passes/schedule/BoundSchedule.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

std::string sched::quote(StringRef name, Subtile t) {
  std::string text = "'" + name.str();
  if (t != whole) {
    text += "[" + std::to_string(t) + "]";
  }
  return text + "'";
}

int Place::cycleOf(int value) const {
  for (auto [i, cycle] : llvm::enumerate(cycles)) {
    if (llvm::is_contained(cycle, value)) {
      return i;
    }
  }
  return 0;
}

bool Place::carries(int value) const {
  return llvm::any_of(
      cycles, [&](auto &cycle) { return llvm::is_contained(cycle, value); });
}

//===----------------------------------------------------------------------===//
// Sub-tiles
//===----------------------------------------------------------------------===//

/// A step is cut like its first result that is cut, or, without results, like
/// the value that it stores.
StringRef BoundSchedule::stepAxis(int index) const {
  const KernelStep &step = kernel->steps[index];
  ArrayRef<int> values = step.writes;
  if (values.empty()) {
    values = ArrayRef<int>(step.reads).take_front(1);
  }
  for (int value : values) {
    if (!cutAxis[value].empty()) {
      return cutAxis[value];
    }
  }
  return {};
}

SmallVector<Subtile, 4> BoundSchedule::subtiles(bool cut) const {
  if (!cut) {
    return {whole};
  }
  return llvm::to_vector<4>(llvm::seq(0, subtileCount));
}

SmallVector<Subtile, 4> BoundSchedule::subtilesRead(int step, int value,
                                                    Subtile t) const {
  StringRef axis = cutAxis[value];
  if (!axis.empty() && axis == stepAxis(step)) {
    return {t};
  }
  return subtiles(!axis.empty());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool BoundSchedule::computes(const Instance &instance, int value) const {
  int producer = kernel->values[value].producer;
  return producer >= 0 && (instance.runs[producer] || remat[producer]);
}

const Place *BoundSchedule::homeOf(int value, int step,
                                   const Instance &instance) const {
  const Place *channel = nullptr, *hold = nullptr;
  bool own = computes(instance, value);
  for (int index : homes[value]) {
    const Place &place = places[index];
    if (!place.only.empty()) {
      if (step >= 0 && llvm::is_contained(place.only, step)) {
        return &place;
      }
    } else if (place.channel) {
      channel = channel ? channel : &place;
    } else if (!hold && (step < 0 || own || place.space != Space::Reg)) {
      // Registers of another role cannot be read.
      hold = &place;
    }
  }
  if (hold || own) {
    return hold;
  }
  return channel;
}

bool BoundSchedule::putsInto(const Instance &instance,
                             const Place &place) const {
  return !place.channel && place.space == Space::Smem &&
         llvm::any_of(place.cycles.front(), [&](int value) {
           int producer = kernel->values[value].producer;
           return producer >= 0 && instance.runs[producer];
         });
}

/// Whether another role puts the tile that a step stores or adds to memory.
bool BoundSchedule::isPutElsewhere(const Instance &instance,
                                   const KernelStep &step) const {
  return llvm::any_of(places, [&](const Place &place) {
    return llvm::any_of(step.reads,
                        [&](int value) { return place.carries(value); }) &&
           llvm::any_of(instances, [&](const Instance &other) {
             return other.role != instance.role && putsInto(other, place);
           });
  });
}

bool BoundSchedule::isOfOneThread(const Instance &instance) const {
  for (int index : instance.runs.set_bits()) {
    const KernelStep &step = kernel->steps[index];
    bool isInRegisters = step.holds<tile::LoadOp, tile::LoadRowOp>() &&
                         !channelOf(step.writes.front());
    bool isKept = step.holds<tile::StoreOp, tile::ReduceAddOp>() &&
                  !isPutElsewhere(instance, step);
    if (isInRegisters || isKept || step.engine == Engine::Mma ||
        step.holds<tile::StoreRowOp, tile::StoreRegOp, tile::ScatterOp>()) {
      return false;
    }
  }
  return llvm::none_of(
      places, [&](const Place &place) { return putsInto(instance, place); });
}

bool BoundSchedule::makesWork(int step) const {
  return llvm::any_of(kernel->steps[step].writes, [&](int value) {
    return kernel->values[value].isWork && channelOf(value);
  });
}

const Place *BoundSchedule::channelOf(int value) const {
  for (const Place &place : places) {
    if (place.channel && place.carries(value)) {
      return &place;
    }
  }
  return nullptr;
}

const Place *BoundSchedule::holdOf(int value) const {
  for (const Place &place : places) {
    if (!place.channel && place.space == Space::Smem && place.carries(value)) {
      return &place;
    }
  }
  return nullptr;
}

SmallVector<const Place *, 2> BoundSchedule::targetsOf(int value,
                                                       Engine engine) const {
  SmallVector<const Place *, 2> targets;
  // If MMAs cannot signal barriers, their results are in registers, and threads
  // put them into a channel.
  bool toChannels =
      engine != Engine::Mma || machine.getMma().getSignalsBarriers();
  for (int index : homes[value]) {
    if (toChannels || !places[index].channel) {
      targets.push_back(&places[index]);
    }
  }
  return targets;
}

/// Appends the cells in the storage of `base`: that of the place, or of a host.
static void appendCellsIn(const Place &base, const BoundSchedule &bound,
                          const Place &place, Subtile t, int cycle, int part,
                          int value, SmallVectorImpl<int> &cells) {
  bool guest = &place != &base;
  SmallVector<Subtile, 4> hostTiles = {t};
  auto all = [](int count) { return llvm::to_vector<4>(llvm::seq(0, count)); };
  SmallVector<int, 4> slots = {cycle % place.depth}, atoms = all(base.atoms),
                      members = all(base.members);
  if (part >= 0 && place.parts > 1 && place.parts == base.atoms) {
    atoms = {part};
  }
  if (guest && base.depth != place.depth) {
    slots = all(base.depth);
  }
  if (guest && base.cut) {
    hostTiles = t == whole ? bound.subtiles(true)
                           : SmallVector<Subtile, 4>{place.cross ? 1 - t : t};
  } else if (guest) {
    hostTiles = {whole};
    if (t != whole) {
      atoms = {t};
    }
  }
  if (!guest) {
    ArrayRef<int> cycleValues = place.cycles[place.cycleOf(value)];
    if (cycleValues.size() > 1) {
      members = {int(llvm::find(cycleValues, value) - cycleValues.begin())};
    }
  }
  for (Subtile tile : hostTiles) {
    for (int slot : slots) {
      for (int atom : atoms) {
        for (int member : members) {
          cells.push_back(
              base.cellBase +
              (((tile + 1) * base.depth + slot) * base.atoms + atom) *
                  base.members +
              member);
        }
      }
    }
  }
}

void BoundSchedule::appendCells(const Place &place, Subtile t, int cycle,
                                int part, int value,
                                SmallVectorImpl<int> &cells) const {
  if (place.hosts.empty()) {
    appendCellsIn(place, *this, place, t, cycle, part, value, cells);
  }
  for (int host : place.hosts) {
    appendCellsIn(places[host], *this, place, t, cycle, part, value, cells);
  }
}

std::string BoundSchedule::describeBarrier(int index) const {
  const Barrier &barrier = barriers[index];
  if (barrier.kind == Barrier::EdgeBarrier) {
    return "edge " + quote(edges[barrier.owner].name, barrier.subtile);
  }
  const Place &place = places[barrier.owner];
  std::string text = barrier.kind == Barrier::Full ? "the full barrier of "
                                                   : "the free barrier of ";
  text += quote(place.name, barrier.subtile);
  if (place.depth > 1) {
    text += " slot " + std::to_string(barrier.slot);
  }
  if (place.parts > 1 && barrier.kind == Barrier::Full) {
    text += " part " + std::to_string(barrier.part);
  }
  return text;
}
