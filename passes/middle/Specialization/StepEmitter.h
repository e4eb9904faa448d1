// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a step of the kernel in the form that its role runs.
#ifndef ATTN_PASSES_SPECIALIZATION_STEPEMITTER_H
#define ATTN_PASSES_SPECIALIZATION_STEPEMITTER_H

#include "RoleScope.h"

namespace attn {

class StepEmitter {
public:
  explicit StepEmitter(RoleScope &scope)
      : scope(scope), program(scope.program), builder(scope.builder),
        env(scope.env) {}

  /// Emits a step, for the sub-tile that its entry names, if any.
  mlir::LogicalResult emit(tile::StepOp step,
                           std::optional<int64_t> ofSubtile = {});

  /// Reads a row vector from its slot into registers.
  void readAhead(mlir::Value value);
  /// Records a slot that the plan acquires. The op that fills it acquires it
  /// too.
  void acquire(const sched::SlotRef &slot) { acquired.push_back(slot); }
  /// Records that the store of a step waits for those of the item's first run.
  void awaitFirstRun(tile::StepOp step) { waiting.push_back(step); }
  /// Checks that all acquired slots have been filled, and that all stores that
  /// wait for others have been emitted.
  mlir::LogicalResult checkDone();

private:
  mlir::LogicalResult cloneBody(tile::StepOp step, mlir::Operation *except);
  const sched::Place *holdOfArgument(mlir::Value value);
  bool readsHold(mlir::Operation *op);
  mlir::Value emitHeld(const sched::Place &hold, mlir::RankedTensorType type,
                       bool isWhole);
  mlir::LogicalResult checkPassesOn(tile::StepOp step, mlir::Operation *op);
  mlir::FailureOr<mlir::Value> emitAcquire(mlir::Value filled);
  bool isReadOnce();
  template <typename LoadOp>
  mlir::LogicalResult emitLoad(tile::StepOp step, LoadOp load);
  mlir::Value readRows(mlir::Type type, mlir::Value value);
  mlir::LogicalResult emitMma(tile::StepOp step, tile::MmaOp mma);
  mlir::LogicalResult emitStore(tile::StepOp step, tile::StoreOp store);
  mlir::LogicalResult emitReduceAdd(tile::StepOp step, tile::ReduceAddOp add);
  mlir::LogicalResult emitCompute(tile::StepOp step);
  mlir::Value ownSubtile();

  RoleScope &scope;
  KernelProgram &program;
  mlir::OpBuilder &builder;
  mlir::IRMapping &env;
  std::optional<int64_t> subtile; // of the step that is being emitted
  llvm::SmallVector<sched::SlotRef> acquired;
  llvm::SmallVector<tile::StepOp> waiting; // for the item's first run
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_STEPEMITTER_H
