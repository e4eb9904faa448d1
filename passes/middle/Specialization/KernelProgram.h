// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the roles of a kernel while they are built.
#ifndef ATTN_PASSES_SPECIALIZATION_KERNELPROGRAM_H
#define ATTN_PASSES_SPECIALIZATION_KERNELPROGRAM_H

#include "attn/dialect/Tile.h"
#include "attn/passes/schedule/KernelPlan.h"

namespace attn {

/// A kernel, its schedule and the plans of its roles.
struct KernelProgram {
  tile::KernelOp kernel;
  ScheduleAttr schedule;
  tile::WorkOp work;
  tile::ForOp loop;
  tile::StepOp next; // the step that computes the work item
  std::unique_ptr<sched::KernelPlan> plan;
  /// The channel through which one role hands out the work items; null if every
  /// role computes its own.
  const sched::Place *workChannel = nullptr;

  mlir::LogicalResult collect();

  const sched::BoundSchedule &bound() const { return plan->bound; }
  const sched::KernelValue &value(int index) const {
    return plan->model.values[index];
  }
  /// Returns the channel that carries a value, or null.
  const sched::Place *channelOf(mlir::Value value) const;
  /// Returns the name of the `ws.channel` that carries a value. Each value
  /// after the first of a cycle has a channel with the value's name.
  llvm::StringRef channelNameOf(mlir::Value value) const;
  /// Whether a value comes after the first of a cycle of its channel.
  bool isWithAnother(mlir::Value value) const;
  /// Returns the hold in shared memory of a value, or null.
  const sched::Place *holdOf(mlir::Value value) const;
  /// Whether a place in registers holds a value.
  bool isInRegisters(mlir::Value value) const;
  tile::NextWorkOp nextWork() {
    return *next.getBody().getOps<tile::NextWorkOp>().begin();
  }
  bool inLoop(tile::StepOp step) { return step->getParentOp() == loop; }
  tile::StepOp producer(mlir::Value value) const {
    return value.getDefiningOp<tile::StepOp>();
  }

private:
  mlir::LogicalResult findStructure();

  llvm::DenseMap<mlir::Value, int> indexOf;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_KERNELPROGRAM_H
