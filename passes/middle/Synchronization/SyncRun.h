// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a replica of a role has done so far in a trial, step by step.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCRUN_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCRUN_H

#include "SyncEvents.h"

namespace attn {

/// A work item of a trial: how many blocks each range of its loop has, and
/// which item of the trial it is the second run of, if any.
struct SyncItem {
  llvm::SmallVector<int64_t, 3> blocks;
  int64_t first = -1;
  bool isPart = false;
  bool isSecond() const { return first >= 0; }
  bool isWithCare() const { return isSecond() || isPart; }

  /// Blocks of this range and those after it.
  int64_t from(size_t range) const {
    int64_t count = 0;
    for (size_t i = range; i < blocks.size(); ++i) {
      count += blocks[i];
    }
    return count;
  }
};

/// One cycle of a channel, or one piece of a hold.
struct SlotRef {
  int object = -1;
  int64_t number = 0;
  bool operator==(const SlotRef &other) const {
    return object == other.object && number == other.number;
  }
};

/// One event of an unrolled program.
struct SyncStep {
  const SyncEvent *event;
  int item;
  /// The cycle of a channel, the piece of a hold, whose turn it is, or which
  /// item a verdict is on.
  int64_t number = 0;
  /// What an MMA reads in shared memory, at most A and B.
  SlotRef reads[2] = {};
  /// Of an AwaitMma: the step that issued the MMA.
  int issued = -1;
};

/// Trips of a loop and steps of a program that are unrolled at most, and the
/// deepest ring that so many trips wrap twice: trials have a few blocks.
constexpr int64_t mostTrips = 64, mostSteps = 4096;
constexpr int64_t mostSlots = (mostTrips - 1) / 2;

/// The replica of a role that an unrolling is of.
struct SyncReplica {
  ws::RoleOp role;
  int64_t replica;
  int64_t cta;
  int64_t later; // CTAs of the cluster whose rows follow those of this one
};

/// An error at `op`, with a note of the work items that it was found with.
mlir::InFlightDiagnostic emitSyncError(mlir::Operation *op,
                                       llvm::ArrayRef<SyncItem> items);

/// An unrolling on its way: all parts of it add steps here.
struct SyncRun {
  SyncRun(const SyncEvents &events, llvm::ArrayRef<SyncItem> items,
          SyncReplica of)
      : events(events), items(items), of(of),
        counts(std::max<size_t>(events.objects().size(), 1) *
               SyncEvent::kinds) {}

  /// After the last item nothing has blocks.
  SyncItem current() const {
    return item < int(items.size()) ? items[item] : SyncItem();
  }
  bool isOf(SyncEvent::Kind kind, unsigned object) const {
    return events.has(of.role, kind, object);
  }
  /// How often the event's kind has been done with its object.
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
