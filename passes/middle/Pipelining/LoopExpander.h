// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands a streaming loop with shifted entries into code in issue order: a
// first step, steady loops, and a last step. Without shifts the loops may be
// all there is.

#ifndef ATTN_PASSES_PIPELINING_LOOPEXPANDER_H
#define ATTN_PASSES_PIPELINING_LOOPEXPANDER_H

#include "StepWriter.h"

namespace attn {

class LoopExpander {
public:
  LoopExpander(ws::ForOp loop, Peel peel)
      : loop(loop), peel(peel), builder(loop), loc(loop.getLoc()),
        ranges(loop, builder), values(loop),
        steps(loop, builder, ranges, values) {}

  /// Returns the branch that replaces the loop: its blocks, or the code for no
  /// block.
  llvm::FailureOr<mlir::scf::IfOp> run();
  /// The number of copies of the body: prologue, steady loops, epilogue.
  int64_t getCopies() const { return steps.copies; }
  int64_t getMaxShift() const { return steps.maxShift; }

private:
  // SteadyLoops.cpp
  llvm::LogicalResult emitSteadyLoops(mlir::Value from);
  llvm::LogicalResult emitLoopsOfRanges(mlir::Value from);
  llvm::LogicalResult emitLoopOfAllRanges(mlir::Value from);
  llvm::LogicalResult
  emitSteadyLoop(mlir::Value from, mlir::Value to, bool masked,
                 llvm::function_ref<mlir::Value(mlir::Value)> isMasked = {});
  bool firstStepEnds(size_t range);
  mlir::Value timeOfEnd(size_t range);

  // LoopExpander.cpp
  bool masksUnderBranch() const;
  bool hasPrologue() const;
  void emitSkipped(size_t range);
  void cloneRegion(mlir::Region &region);
  mlir::Value isFirstMasked();
  llvm::LogicalResult emitNonempty();
  llvm::SmallVector<mlir::Value> finalValues();

  ws::ForOp loop;
  Peel peel;
  mlir::OpBuilder builder;
  mlir::Location loc;
  LoopRanges ranges;
  LoopValues values;
  StepWriter steps;
  mlir::Value trips;
};

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_LOOPEXPANDER_H
