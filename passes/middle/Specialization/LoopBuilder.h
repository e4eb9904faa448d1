// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the streaming loop of a role: the lists of its plan become the
// regions of a ws.for.
#ifndef ATTN_PASSES_SPECIALIZATION_LOOPBUILDER_H
#define ATTN_PASSES_SPECIALIZATION_LOOPBUILDER_H

#include "ActEmitter.h"

namespace attn {

class LoopBuilder {
public:
  LoopBuilder(RoleScope &scope, ActEmitter &acts)
      : scope(scope), acts(acts), program(scope.program),
        builder(scope.builder), env(scope.env), plan(*scope.plan) {}

  mlir::LogicalResult build();

private:
  llvm::SmallVector<unsigned> carriedByRole();
  std::pair<llvm::SmallVector<mlir::Value>, tile::RangesAttr> rangesOfRole();
  mlir::LogicalResult emitBody(ws::ForOp loop,
                               llvm::ArrayRef<unsigned> carried);
  llvm::SmallVector<mlir::Value> valuesOf(const sched::PlannedAct &act) const;
  mlir::FailureOr<mlir::Value> passthroughOf(const sched::PlannedAct &act);
  mlir::FailureOr<ws::EntryOp> createEntry(const sched::PlannedAct &act,
                                           int64_t issue,
                                           mlir::ValueRange produced);
  int64_t shiftOf(const sched::PlannedAct &act) const;
  mlir::LogicalResult emitLateAwaits();
  mlir::LogicalResult emitEntry(const sched::PlannedAct &act, int64_t issue);
  mlir::LogicalResult emitRegion(mlir::Region &region,
                                 llvm::ArrayRef<sched::PlannedAct> list);
  mlir::LogicalResult checkTimeStepEnds(ws::ForOp loop);

  RoleScope &scope;
  ActEmitter &acts;
  KernelProgram &program;
  mlir::OpBuilder &builder;
  mlir::IRMapping &env;
  const sched::RolePlan &plan;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_LOOPBUILDER_H
