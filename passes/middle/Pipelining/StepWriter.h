// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one step of time of a streaming loop: which entries run, on which
// versions of their operands, and what is awaited and released around them.
#ifndef ATTN_PASSES_PIPELINING_STEPWRITER_H
#define ATTN_PASSES_PIPELINING_STEPWRITER_H

#include "LoopRanges.h"
#include "LoopValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace attn {

/// Which code copy is being written.
struct TimeStep {
  mlir::Value time;           // i32
  int64_t minShift, maxShift; // shifts of the entries that run
  bool masked, first, last;
  /// i1, whether masked entries run; null: as `masked` says.
  mlir::Value isMasked;
};

class StepWriter {
public:
  StepWriter(ws::ForOp loop, mlir::OpBuilder &builder, LoopRanges &ranges,
             LoopValues &values)
      : loop(loop), builder(builder), ranges(ranges), values(values) {}

  /// Reads the entries of the loop, and notes which values they read.
  llvm::LogicalResult analyze();
  llvm::LogicalResult write(const TimeStep &step);

  int64_t maxShift = 0;  // of all entries
  int64_t maskShift = 0; // of the masked ones
  bool anyMasked = false;
  int64_t copies = 0; // of the body: how many steps have been written

private:
  /// An MMA that has been issued and not yet awaited.
  struct IssuedMma {
    llvm::StringRef entry;
    mlir::Value result, token;
    llvm::SmallVector<mlir::Value> releases; // when it ends
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
