// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule with its names resolved in a kernel: places, barriers, roles and
// entries as indices.
#ifndef ATTN_PASSES_SCHEDULE_BOUNDSCHEDULE_H
#define ATTN_PASSES_SCHEDULE_BOUNDSCHEDULE_H

#include "attn/passes/schedule/KernelModel.h"
#include "attn/passes/schedule/Plan.h"

namespace attn::sched {

struct Place {
  PlaceAttr attr;
  StringRef name;
  bool channel = false;
  Space space = Space::Reg;
  int depth = 1, parts = 1;
  SmallVector<SmallVector<int, 2>, 2> cycles; // values
  SmallVector<int, 2> only;                   // steps; empty for every reader
  bool hasFull = false, hasFree = false;      // barriers
  bool inCluster = false;                     // filled in all its CTAs at once
  SmallVector<int, 1> hosts;                  // places whose storage it has
  bool cross = false;
  bool cut = false;  // each sub-tile has its own storage
  int members = 1;   // values that share a slot
  int atoms = 1;     // parts of a slot that guests and parts distinguish
  int64_t bytes = 0; // for all slots and sub-tiles
  // Row vectors that have their slots with a tile, but not in it, and their
  // bytes.
  SmallVector<std::pair<int, int64_t>, 2> rows;
  // The first numbers of barriers and cells: [sub-tile + 1][slot][part or
  // atom].
  int fullBase = 0, freeBase = 0, cellBase = 0;

  int subtiles(int count) const { return cut ? count : 1; }
  /// Returns the cycle that carries `value`; 0 for one that no cycle names (it
  /// shares an accumulator).
  int cycleOf(int value) const;
  bool carries(int value) const;
  /// The numbers of its barriers.
  int fullBarrier(Subtile t, int slot, int part) const {
    return fullBase + ((t + 1) * depth + slot) * parts + part;
  }
  int freeBarrier(Subtile t, int slot) const {
    return freeBase + (t + 1) * depth + slot;
  }
};

/// An entry of a body in one replica of its role.
struct Entry {
  Guard guard;
  Act act;    // for turns, wait and sig on their edges
  int target; // step, value, edge or rendezvous
  Subtile subtile = whole;
  int part = -1;
  int shift = 0;
  EntryAttr attr; // as in the schedule
};

/// Whether `a` runs before `b`, an entry of the same list, for one iteration.
inline bool runsBefore(const Entry &a, const Entry &b) {
  return std::make_pair(a.shift, &a) < std::make_pair(b.shift, &b);
}

struct Edge {
  std::string name;
  bool cut = false;
  bool inCluster = false; // signalled to all its CTAs
  int joins = -1;         // place
  int part = 0, credits = 0;
  int barrierBase = 0; // [sub-tile + 1]

  int barrier(Subtile t) const { return barrierBase + t + 1; }
};

struct Role {
  StringRef name;
  int replicas; // 0: not replicated
  int64_t warps, regs;
};

/// One replica of a role, which has its own program.
struct Instance {
  int role, replica; // -1: not replicated
  std::string name;
  SmallVector<Entry> before, kv, after;
  BitVector runs; // steps
};

struct Rendezvous {
  StringRef name;
  int role, members;
};

struct Barrier {
  enum Kind { Full, Free, EdgeBarrier } kind;
  int owner; // place or edge
  Subtile subtile;
  int slot, part;
};

class BoundSchedule {
public:
  /// Whether roles await their own MMAs, in the loops that are emitted for
  /// them. On other machines MMAs signal barriers.
  bool awaitsProducts() const { return !machine.getMma().getSignalsBarriers(); }
  /// Whether the instance leaves blocks to other sub-tiles.
  bool skipsBlocks(const Instance &instance) const {
    return awaitsProducts() && schedule.getSkip() != Skip::None &&
           subtileCount > 1 && instance.replica >= 0 &&
           kernel->rangesFollowRows;
  }

  // -- sub-tiles
  /// Returns the axis along which a value or step is cut; empty if it is not.
  StringRef axisOf(int value) const { return cutAxis[value]; }
  StringRef stepAxis(int step) const;
  /// Returns the sub-tiles of `value` that a step with sub-tile `t` reads.
  SmallVector<Subtile, 4> subtilesRead(int step, int value, Subtile t) const;
  /// Returns `whole`, or every sub-tile if `cut`.
  SmallVector<Subtile, 4> subtiles(bool cut) const;

  // -- places
  /// Returns where `step`, run by `instance`, reads a value; null for the
  /// role's registers. Step -1 is an action that passes the value on.
  const Place *homeOf(int value, int step, const Instance &instance) const;
  /// Whether the role computes this value itself.
  bool computes(const Instance &instance, int value) const;
  /// Whether the instance leaves a result in a hold in shared memory.
  bool putsInto(const Instance &instance, const Place &place) const;
  /// Whether one thread can run the whole role: its steps copy into channels,
  /// or store tiles that other roles put.
  bool isOfOneThread(const Instance &instance) const;
  /// Whether a step produces work items, which a channel hands out.
  bool makesWork(int step) const;
  /// Whether a role reads a value of `place` at the beginning of a work item,
  /// because the trip count of the loop depends on it.
  bool isReadAtItemBegin(const Place &place, int value) const {
    return place.channel && place.hasFull && kernel->values[value].isWork;
  }
  /// Returns the places where a step leaves a result.
  SmallVector<const Place *, 2> targetsOf(int value, Engine engine) const;
  const Place *channelOf(int value) const;
  /// Returns the hold in shared memory of a value, or null.
  const Place *holdOf(int value) const;
  int indexOf(const Place &place) const { return &place - places.data(); }
  /// Numbers the rings: the slots of a place for one sub-tile.
  int ringOf(const Place &place, Subtile t) const {
    return indexOf(place) * (subtileCount + 1) + t + 1;
  }

  // -- barriers
  std::string describeBarrier(int barrier) const;

  /// Appends the cells of a place that a cycle's value uses.
  void appendCells(const Place &place, Subtile t, int cycle, int part,
                   int value, SmallVectorImpl<int> &cells) const;

  const KernelModel *kernel = nullptr;
  MachineAttr machine;
  ScheduleAttr schedule;
  int subtileCount = 1;
  int cluster = 1; // CTAs
  BitVector remat; // steps
  SmallVector<Role> roles;
  std::vector<Place> places;
  std::vector<Edge> edges;
  SmallVector<Rendezvous> rendezvous;
  std::vector<Instance> instances;
  std::vector<RolePlan> plans; // by instance
  SmallVector<Barrier> barriers;
  SmallVector<BitVector> partsListed; // by step
  // Sets of instances. By ring: who writes and reads it. By barrier: who waits
  // for it and, for edges, who arrives.
  SmallVector<BitVector> producers, consumers, waiters, sources;
  int cellCount = 0;

private:
  friend class ScheduleBinder;
  bool isPutElsewhere(const Instance &instance, const KernelStep &step) const;

  SmallVector<StringRef> cutAxis;         // by value
  SmallVector<SmallVector<int, 2>> homes; // by value: places
};

/// Returns "'x[1]'": a name with its sub-tile.
std::string quote(StringRef name, Subtile t = whole);

} // namespace attn::sched

#endif // ATTN_PASSES_SCHEDULE_BOUNDSCHEDULE_H
