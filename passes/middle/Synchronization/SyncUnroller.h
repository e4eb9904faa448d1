// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls the program of one replica of a role into what it does, in program
// order, for given work items.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H

#include "SyncEvents.h"
#include "attn/dialect/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// A work item of a trial: how many blocks each range of its loop has, and
/// which item of the trial it is the second run of.
struct SyncItem {
  llvm::SmallVector<int64_t, 3> blocks;
  int64_t first = -1;
  bool isSecond() const { return first >= 0; }

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

class TileRanges;

class SyncUnroller {
public:
  /// With `tiles`, which may be null, the ops that compute are run as well.
  SyncUnroller(const SyncEvents &events, llvm::ArrayRef<SyncItem> items,
               SyncReplica of, TileRanges *tiles)
      : events(events), items(items), of(of), tiles(tiles),
        counts(std::max<size_t>(events.objects().size(), 1) *
               SyncEvent::kinds) {}

  /// Rules V8, V9 and V26 as far as one role shows them: a slot is read after
  /// it was waited for, and before it is given back.
  mlir::LogicalResult unroll();

  const SyncStep &lastStep() const { return steps.back(); }
  int currentItem() const { return item; }
  mlir::InFlightDiagnostic error(mlir::Operation *op) const {
    return emitSyncError(op, items);
  }
  mlir::FailureOr<int64_t> evaluate(mlir::Value value, mlir::Operation *user);
  /// None where the number depends on what is computed or on the problem.
  std::optional<int64_t> tryEvaluate(mlir::Value value);
  /// The same where sizes and the places of items matter: they are made up.
  mlir::FailureOr<int64_t> coordinate(mlir::Value value, mlir::Operation *user);
  std::vector<SyncStep> takeSteps() { return std::move(steps); }
  /// Of steps, by object and kind.
  std::vector<int64_t> takeCounts() { return std::move(counts); }

private:
  mlir::LogicalResult run(mlir::Block &block);
  mlir::LogicalResult runWork(ws::WorkLoopOp work);
  mlir::LogicalResult checkFetches(ws::WorkLoopOp work);
  void giveVerdict(const SyncEvent &event);
  void chooseItem(const SyncEvent &event);
  mlir::LogicalResult shareItem(const SyncEvent &event, ws::ShareWorkOp share);
  mlir::LogicalResult runOp(mlir::Operation *op);
  bool hasKnownTrips(mlir::scf::ForOp loop);
  mlir::LogicalResult runLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult runBranch(mlir::scf::IfOp branch);
  mlir::LogicalResult runEither(mlir::scf::IfOp branch);
  mlir::LogicalResult runOnce(mlir::scf::ForOp loop);
  mlir::LogicalResult runEvent(const SyncEvent &event);
  mlir::LogicalResult addStep(const SyncEvent &event);

  /// The next cycle of its channel: the op's result.
  void enterCycle(const SyncEvent &event, mlir::Value slot);
  mlir::LogicalResult useSlot(const SyncEvent &event, mlir::Value slot);
  /// The piece of a hold, or the replica whose turn it is: below `count`.
  mlir::LogicalResult useNumber(const SyncEvent &event, mlir::Value number);
  mlir::FailureOr<int64_t> numberBelow(mlir::Value value, int64_t count,
                                       mlir::Operation *user);
  mlir::LogicalResult issueMma(const SyncEvent &event, ws::MmaOp mma);
  mlir::LogicalResult awaitMma(const SyncEvent &event, ws::AwaitOp await);
  mlir::LogicalResult checkEnds() const;
  mlir::FailureOr<SlotRef> operandOf(ws::MmaOp mma, bool isB);
  mlir::LogicalResult release(const SyncEvent &event, mlir::Value slot);

  mlir::FailureOr<SlotRef> slotOf(mlir::Value value, mlir::Operation *user);
  /// The slot has not been released.
  mlir::LogicalResult checkHeld(const SyncEvent &event, SlotRef slot);
  /// Evaluates `value`; `known` holds the results of the current evaluation.
  std::optional<int64_t> numberOf(mlir::Value value);
  std::optional<int64_t> boundOf(tile::BoundsOp bounds, unsigned index);
  std::optional<int64_t> fold(mlir::Operation *op);
  /// A size, or the place of an item, made up so that they differ.
  std::optional<int64_t> makeUp(mlir::Value value);
  /// After the last item nothing has blocks.
  SyncItem current() const {
    return item < int(items.size()) ? items[item] : SyncItem();
  }
  void pass(mlir::ValueRange from, mlir::ValueRange to);
  SyncStep &add(const SyncEvent &event, int64_t number = 0);

  const SyncEvents &events;
  llvm::ArrayRef<SyncItem> items;
  SyncReplica of;
  TileRanges *tiles;
  std::vector<SyncStep> steps;
  std::vector<int64_t> counts; // of events, by object and kind
  int item = 0;                // the current one
  bool makesUp = false;
  int64_t fetches = 0;
  int64_t verdictsTaken = 0; // by the role that hands items out
  llvm::DenseMap<mlir::Value, int64_t> numbers; // of loops
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
  llvm::DenseMap<mlir::Value, SlotRef> slots;
  llvm::DenseMap<mlir::Value, int> tokens; // the steps that issued them
  llvm::SmallVector<int> inFlight;         // MMAs
  llvm::SmallVector<SlotRef> released;     // of the current item
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H
