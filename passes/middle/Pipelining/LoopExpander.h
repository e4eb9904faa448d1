// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a streaming loop whose entries run at shifted times as code in issue
// order: a first step, steady loops, and a last step.

#ifndef ATTN_PASSES_PIPELINING_LOOPEXPANDER_H
#define ATTN_PASSES_PIPELINING_LOOPEXPANDER_H

#include "attn/dialect/Ws.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace attn {

/// An MMA that has been issued and not yet awaited.
struct InFlight {
  llvm::StringRef entry;
  mlir::Value result, token;
  llvm::SmallVector<mlir::Value> releases; // when it ends
};

/// Which code copy is being written.
struct TimeStep {
  mlir::Value time;           // i32
  int64_t minShift, maxShift; // shifts of the entries that run
  bool masked, first, last;
  /// i1, whether masked entries run; null: as `masked` says.
  mlir::Value isMasked;
};

class LoopExpander {
public:
  LoopExpander(ws::ForOp loop, Peel peel)
      : loop(loop), peel(peel), builder(loop), loc(loop.getLoc()) {}

  /// The branch in place of the loop: its blocks, or what stands for none.
  llvm::FailureOr<mlir::scf::IfOp> run();
  /// How often the body has been written: prologue, steady loops, epilogue.
  int64_t getCopies() const { return copies; }
  int64_t getMaxShift() const { return maxShift; }

private:
  // TimeSteps.cpp
  llvm::LogicalResult analyze();
  llvm::LogicalResult noteMasked(ws::EntryOp entry);
  void noteRead(ws::EntryOp reader, mlir::Value value);
  void seed(int64_t time);
  void advance();
  llvm::LogicalResult emitStep(const TimeStep &step);
  llvm::LogicalResult emitEntry(ws::EntryOp entry, const TimeStep &step);
  llvm::LogicalResult emitMaskedEntry(ws::EntryOp entry, const TimeStep &step);
  llvm::LogicalResult mapCaptures(ws::EntryOp entry, const TimeStep &step,
                                  mlir::IRMapping &mapping);
  void passThrough(ws::EntryOp entry);
  mlir::Value lookup(mlir::Value value, int64_t readerShift);
  mlir::Value blockNumber(int64_t shift, mlir::Value time);
  /// The blocks from a bound to a later one.
  mlir::Value countBlocks(mlir::Value from, mlir::Value to);
  void awaitListed(ws::EntryOp entry);
  void awaitThrough(size_t count);
  void awaitStep(llvm::StringRef entry);
  llvm::SmallVector<mlir::Value> releasesOf(ws::EntryOp entry);

  // SteadyLoops.cpp
  llvm::LogicalResult emitSteadyLoops(mlir::Value from);
  llvm::LogicalResult emitLoopsOfRanges(mlir::Value from);
  llvm::LogicalResult emitLoopOfAllRanges(mlir::Value from);
  llvm::LogicalResult
  emitSteadyLoop(mlir::Value from, mlir::Value to, bool masked,
                 llvm::function_ref<mlir::Value(mlir::Value)> isMasked = {});
  bool firstStepEnds(size_t range);
  mlir::Value timeOfEnd(size_t range);
  mlir::Value isBetween(mlir::Value time, mlir::Value from, mlir::Value to);
  llvm::SmallVector<std::pair<mlir::OpResult, int64_t>> carriedHistory();

  // LoopExpander.cpp
  void emitSkipped();
  void cloneRegion(mlir::Region &region);
  mlir::Value isFirstMasked();
  llvm::LogicalResult emitNonempty();
  llvm::SmallVector<mlir::Value> finalValues();

  bool skips() {
    return loop.getRanges()[0].getKind() == tile::RangeKind::Skipped;
  }
  size_t firstRange() { return skips() ? 1 : 0; }
  size_t endOfRanges() { return loop.getRanges().size(); }
  bool isMasked(size_t range) {
    return loop.getRanges()[range].getKind() == tile::RangeKind::Masked;
  }
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, 32);
  }

  ws::ForOp loop;
  Peel peel;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Operation *yield = nullptr;
  llvm::SmallVector<ws::EntryOp> entries; // in issue order
  int64_t maxShift = 0, maskShift = 0, copies = 0;
  bool anyMasked = false;
  mlir::Value trips, top;
  /// history[v][a]: v as computed a steps of time ago.
  llvm::MapVector<mlir::OpResult, llvm::SmallVector<mlir::Value>> history;
  llvm::MapVector<mlir::OpResult, int64_t> maxAge;
  llvm::SmallVector<InFlight> inFlight;
};

inline ws::EntryOp entryOf(mlir::OpResult value) {
  return llvm::cast<ws::EntryOp>(value.getOwner());
}
inline int64_t shiftOf(mlir::OpResult value) {
  return entryOf(value).getShift();
}

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_LOOPEXPANDER_H
