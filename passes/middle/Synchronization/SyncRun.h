// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The progress of a replica of a role in a trial, step by step.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCRUN_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCRUN_H

#include "SyncEvents.h"

namespace attn {

/// A work item of a trial: the number of blocks in each range of its loop, and,
/// if it is a second run, the item of the trial that it repeats.
struct SyncItem {
  llvm::SmallVector<int64_t, 3> blocks;
  int64_t first = -1;
  bool isPart = false;
  bool isSecond() const { return first >= 0; }
  bool isWithCare() const { return isSecond() || isPart; }

  /// Returns the number of blocks of this range and those after it.
  int64_t from(size_t range) const {
    int64_t count = 0;
    for (size_t i = range; i < blocks.size(); ++i) {
      count += blocks[i];
    }
    return count;
  }
};

/// One cycle of a channel; one piece of a hold, counted through its slots, or
/// all pieces of a slot.
struct SlotRef {
  int object = -1;
  int64_t number = 0;
  bool isWhole = false; // the pieces of a slot, of which `number` is the first

  bool operator==(const SlotRef &other) const {
    return object == other.object && number == other.number &&
           isWhole == other.isWhole;
  }
};

/// One event of an unrolled program.
struct SyncStep {
  const SyncEvent *event;
  int item;
  /// The cycle of a channel, the piece of a hold, the replica of a turn, or the
  /// item of a verdict.
  int64_t number = 0;
  /// The slots that an MMA reads in shared memory, at most A and B.
  SlotRef reads[2] = {};
  /// For AwaitMma: the step that issued the MMA.
  int issued = -1;
};

/// The largest numbers of trips of a loop and of steps of a program that are
/// unrolled. They also limit the depth of rings, since trials wrap every ring
/// twice.
constexpr int64_t mostTrips = 64, mostSteps = 4096;
constexpr int64_t mostSlots = (mostTrips - 1) / 2;

/// The replica of a role that is unrolled.
struct SyncReplica {
  ws::RoleOp role;
  int64_t replica;
  int64_t cta;
  int64_t later; // CTAs of the cluster whose rows come after those of this one
};

/// Emits an error at `op`, with a note about the work items of the trial.
mlir::InFlightDiagnostic emitSyncError(mlir::Operation *op,
                                       llvm::ArrayRef<SyncItem> items);

/// The state of an unrolling, to which all of its parts add steps.
struct SyncRun {
  SyncRun(const SyncEvents &events, llvm::ArrayRef<SyncItem> items,
          SyncReplica of)
      : events(events), items(items), of(of),
        counts(std::max<size_t>(events.objects().size(), 1) *
               SyncEvent::kinds) {}

  /// After the last item there are no blocks.
  SyncItem current() const {
    return item < int(items.size()) ? items[item] : SyncItem();
  }
  bool isOf(SyncEvent::Kind kind, unsigned object) const {
    return events.has(of.role, kind, object);
  }
  /// How often the event's kind has occurred on its object.
  int64_t countOf(const SyncEvent &event) const {
    return counts[event.object * SyncEvent::kinds + event.kind];
  }
  SyncStep &add(const SyncEvent &event, int64_t number = 0) {
    ++counts[event.object * SyncEvent::kinds + event.kind];
    return steps.emplace_back(SyncStep{&event, item, number});
  }
  mlir::InFlightDiagnostic error(mlir::Operation *op) const {
    return emitSyncError(op, items);
  }

  const SyncEvents &events;
  llvm::ArrayRef<SyncItem> items;
  SyncReplica of;
  int item = 0; // the current one
  std::vector<SyncStep> steps;
  std::vector<int64_t> counts; // of steps, by object and kind
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCRUN_H
