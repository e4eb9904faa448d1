// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the roles of a kernel share while they are built.
#ifndef ATTN_PASSES_SPECIALIZATION_KERNELPROGRAM_H
#define ATTN_PASSES_SPECIALIZATION_KERNELPROGRAM_H

#include "attn/dialect/Tile.h"

namespace attn {

/// A kernel and its schedule: the steps by name and the homes of the values.
struct KernelProgram {
  tile::KernelOp kernel;
  ScheduleAttr schedule;
  tile::WorkOp work;
  tile::ForOp loop;
  llvm::StringMap<tile::StepOp> steps;
  /// Channel (in shared memory) of a loaded value; hold of a computed one.
  llvm::MapVector<mlir::Value, PlaceAttr> channelOf, holdOf;
  /// Values whose place is in registers.
  llvm::DenseSet<mlir::Value> inRegisters;
  /// Channel through which one role hands out the work items; null: every role
  /// computes its own.
  PlaceAttr workChannel;

  KernelValuesAttr names;

  mlir::LogicalResult collect();
  mlir::LogicalResult collectPlace(PlaceAttr place,
                                   const llvm::StringMap<mlir::Value> &valueOf);
  mlir::LogicalResult collectWorkChannel(PlaceAttr place);
  mlir::LogicalResult setHome(mlir::Value value, PlaceAttr place,
                              llvm::MapVector<mlir::Value, PlaceAttr> &homes);
  /// What a schedule may say and no later pass has a lowering for.
  mlir::LogicalResult checkSupported();
  mlir::InFlightDiagnostic unsupported(PlaceAttr place,
                                       const llvm::Twine &what) {
    return kernel.emitOpError("attn-warp-specialize: place '")
           << place.getName().getValue() << "': no lowering for " << what;
  }
  /// What the schedule's places call the results of a step.
  llvm::SmallVector<llvm::StringRef> getResultNames(tile::StepOp step);
  /// Does a step load into registers? Its threads load, and have waited for
  /// what they loaded where they read it.
  bool loadsToRegisters(tile::StepOp step) const;
  bool inLoop(tile::StepOp step) { return step->getParentOp() == loop; }
  tile::StepOp producer(mlir::Value value) const {
    return value.getDefiningOp<tile::StepOp>();
  }
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_KERNELPROGRAM_H
