// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the acts of a plan in order.
#ifndef ATTN_PASSES_SPECIALIZATION_ACTEMITTER_H
#define ATTN_PASSES_SPECIALIZATION_ACTEMITTER_H

#include "StepEmitter.h"

namespace attn {

class ActEmitter {
public:
  ActEmitter(RoleScope &scope, StepEmitter &steps)
      : scope(scope), steps(steps), builder(scope.builder), env(scope.env) {}

  mlir::LogicalResult emit(llvm::ArrayRef<sched::PlannedAct> acts);
  mlir::LogicalResult emit(const sched::PlannedAct &act);

private:
  mlir::LogicalResult emitRun(const sched::PlannedAct &act);
  void emitWait(const sched::SlotRef &slot);
  void emitReadItem(const sched::SlotRef &slot);
  mlir::LogicalResult emitRelease(const sched::SlotRef &slot);
  void emitSignal(const sched::PlannedAct &act);
  void emitFetch();
  void emitAwaitOfStore(const sched::KernelStep &step);

  RoleScope &scope;
  StepEmitter &steps;
  mlir::OpBuilder &builder;
  mlir::IRMapping &env;
  mlir::Value item; // the slot of the work item that is being read
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_ACTEMITTER_H
