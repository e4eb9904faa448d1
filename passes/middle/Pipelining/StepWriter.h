// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one time step of a streaming loop: the entries that run, the versions
// of their operands, and the awaits and releases around them.
#ifndef ATTN_PASSES_PIPELINING_STEPWRITER_H
#define ATTN_PASSES_PIPELINING_STEPWRITER_H

#include "LoopRanges.h"
#include "LoopValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace attn {

/// The copy of the code that is being written.
struct TimeStep {
  mlir::Value time;           // i32
  int64_t minShift, maxShift; // shifts of the entries that run
  bool masked, first, last;
  /// i1, whether masked entries run; if null, `masked` decides.
  mlir::Value isMasked;
};

class StepWriter {
public:
  StepWriter(ws::ForOp loop, mlir::OpBuilder &builder, LoopRanges &ranges,
             LoopValues &values)
      : loop(loop), builder(builder), ranges(ranges), values(values) {}

  /// Reads the entries of the loop, and records which values they read.
  llvm::LogicalResult analyze();
  llvm::LogicalResult write(const TimeStep &step);

  int64_t maxShift = 0;  // of all entries
  int64_t maskShift = 0; // of the masked ones
  bool anyMasked = false;
  bool anyGuarded = false;
  int64_t copies = 0; // the number of copies of the body written so far

private:
  /// An MMA that has been issued and not yet awaited.
  struct IssuedMma {
    llvm::StringRef entry;
    mlir::Value result, token;
    llvm::SmallVector<mlir::Value> releases; // the time at which it ends
  };

  llvm::LogicalResult noteMasked(ws::EntryOp entry);
  llvm::LogicalResult emitEntry(ws::EntryOp entry, const TimeStep &step);
  llvm::LogicalResult emitMaskedEntry(ws::EntryOp entry, const TimeStep &step);
  llvm::LogicalResult mapCaptures(ws::EntryOp entry, const TimeStep &step,
                                  mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value> releasesOf(ws::EntryOp entry);
  void awaitListed(ws::EntryOp entry);
  void awaitThrough(size_t count);
  void awaitStep(llvm::StringRef entry);

  ws::ForOp loop;
  mlir::OpBuilder &builder;
  LoopRanges &ranges;
  LoopValues &values;
  llvm::SmallVector<ws::EntryOp> entries; // in issue order
  llvm::SmallVector<IssuedMma> inFlight;
};

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_STEPWRITER_H
