// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a role: lists of acts, in the order of the emitted program. The
// judge of schedules unrolls plans, and the lowering emits them; only
// RolePlanner.cpp decides where a role waits, acquires, awaits and releases.
#ifndef ATTN_PASSES_SCHEDULE_PLAN_H
#define ATTN_PASSES_SCHEDULE_PLAN_H

#include "attn/dialect/Attn.h"
#include "llvm/ADT/SmallVector.h"

namespace attn::sched {

/// The number of a sub-tile, or `whole` for values and steps that are not cut.
using Subtile = int;
constexpr Subtile whole = -1;

struct Entry;

/// A slot of a ring, identified by the values that it carries: an alternative
/// of the place, in the iteration of the act that names the slot.
struct SlotRef {
  int place = -1, alternative = 0;
  Subtile subtile = whole;
  bool operator==(const SlotRef &other) const {
    return place == other.place && alternative == other.alternative &&
           subtile == other.subtile;
  }
};

/// One action of a role. It runs `shift` time steps after the beginning of its
/// iteration.
struct PlannedAct {
  enum Kind {
    Run,           // a step
    Put,           // puts values from registers into a channel
    Wait,          // until a slot is full
    Acquire,       // until a slot is free
    Release,       // frees a slot
    Await,         // the end of a step that was issued before
    AwaitProducts, // the end of all MMAs that were issued
    AwaitFirstRun, // the arrival of the stores of an item's first run
    Signal,        // an edge or the next role of a turn
    Commit,        // an edge, when all issued MMAs have ended
    WaitEdge,      // for an edge or a turn
    Meet,          // the other replicas of the role
    ReadItem,      // the work item in a slot
    ReadRow,       // a row vector in a slot, into registers
    FetchItem      // asks for the next work item
  } kind;
  /// The entry of the body from which the act comes, or null.
  const Entry *entry = nullptr;
  Guard guard = Guard::Always;
  int target = -1; // step, value, edge or rendezvous
  Subtile subtile = whole;
  int part = -1;
  int shift = 0;
  SlotRef slot = {}; // of Wait, Acquire, Release, ReadItem, ReadRow
  /// MMAs of this list, by index, that must be complete before the act.
  llvm::SmallVector<int, 2> awaited = {};
  /// Slots for which the act is the last reader. They are released when it is
  /// complete.
  llvm::SmallVector<SlotRef, 2> releases = {};
};

using PlannedActs = llvm::SmallVector<PlannedAct, 8>;

/// The lowering emits the acts of these lists as ops, with three exceptions.
/// An `Acquire` is part of the op that fills the slot: the lowering refuses a
/// plan that fills a slot without one, or acquires one that nothing fills. An
/// `AwaitFirstRun` is an operand of the store that it comes before.
/// `AwaitProducts` ends a time step of `ws.for` that has MMAs: the lowering
/// refuses a plan whose time steps end otherwise. If every role computes its
/// own work item, there is no act for it: the work loop of each role begins
/// with it.
struct RolePlan {
  PlannedActs itemBegins; // for roles that receive work items from another
  PlannedActs before;     // the loop
  PlannedActs skipped;    // for each block that the role leaves to others
  PlannedActs timeStep;   // one time step of the loop, with iterations by shift
  PlannedActs timeStepEnds; // the end of each time step
  PlannedActs drain;        // before the first time step without unshifted acts
  PlannedActs empty;        // instead of the loop, for items without blocks
  PlannedActs loopEnds;
  PlannedActs after; // the loop
  PlannedActs itemEnds;
};

} // namespace attn::sched

#endif // ATTN_PASSES_SCHEDULE_PLAN_H
