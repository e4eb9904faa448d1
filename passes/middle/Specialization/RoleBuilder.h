// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes down the plan of one role.
#ifndef ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H
#define ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H

#include "KernelProgram.h"
#include "attn/dialect/Ws.h"

namespace attn {

class RoleBuilder {
public:
  RoleBuilder(KernelProgram &program, RoleAttr role, mlir::OpBuilder &builder,
              const mlir::IRMapping &outer);

  mlir::LogicalResult build();

private:
  using Act = sched::PlannedAct;
  using Acts = sched::PlannedActs;

  // RoleBuilder.cpp
  mlir::LogicalResult buildWork();
  mlir::LogicalResult emitActs(const Acts &acts);
  mlir::LogicalResult emitAct(const Act &act);
  void emitSignal(const Act &act);
  void emitWait(const sched::SlotRef &slot);
  mlir::LogicalResult emitRelease(const sched::SlotRef &slot);
  bool storesTiles() const;

  // RoleWorkItems.cpp
  bool handsOut() const;
  mlir::LogicalResult emitNext();
  void emitFetch();

  // RoleLoop.cpp
  mlir::LogicalResult buildLoop();
  llvm::SmallVector<unsigned> carriedByRole();
  std::pair<llvm::SmallVector<mlir::Value>, tile::RangesAttr> rangesOfRole();
  mlir::LogicalResult emitBody(ws::ForOp loop,
                               llvm::ArrayRef<unsigned> carried);
  mlir::LogicalResult emitEntry(const Act &act, int64_t slot);
  mlir::LogicalResult emitRegion(mlir::Region &region, const Acts &acts);

  // RoleSteps.cpp
  mlir::LogicalResult emitStep(tile::StepOp step);
  mlir::LogicalResult cloneBody(tile::StepOp step, mlir::Operation *except);
  const sched::Place *holdOfArgument(mlir::Value value);
  bool readsHold(mlir::Operation *op);
  mlir::Value emitHeld(const sched::Place &hold, mlir::RankedTensorType type);
  mlir::LogicalResult checkPassesOn(tile::StepOp step, mlir::Operation *op);
  mlir::LogicalResult emitLoad(tile::StepOp step, tile::LoadOp load);
  mlir::LogicalResult emitMma(tile::StepOp step, tile::MmaOp mma);
  mlir::LogicalResult emitStore(tile::StepOp step, tile::StoreOp store);
  mlir::LogicalResult emitCompute(tile::StepOp step);
  mlir::Value ownSubtile();

  mlir::InFlightDiagnostic error(const llvm::Twine &message) {
    return program.kernel.emitOpError("attn-warp-specialize: role '")
           << role.getName().getValue() << "': " << message;
  }
  mlir::StringAttr str(llvm::StringRef text) {
    return builder.getStringAttr(text);
  }
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(builder.getContext(), name);
  }
  /// The value that a slot carries.
  mlir::Value valueIn(const sched::SlotRef &slot) const {
    const sched::Place &place = program.bound().places[slot.place];
    return program.value(place.cycles[slot.alternative].front()).ir;
  }
  ws::SlotType slotType(mlir::Value value) {
    return ws::SlotType::get(
        builder.getContext(), symbol(program.channelOf(value)->name),
        llvm::cast<mlir::RankedTensorType>(value.getType()));
  }
  const sched::KernelStep &stepOf(const Act &act) const {
    return program.plan->model.steps[act.target];
  }
  mlir::Location loc() { return program.kernel.getLoc(); }

  KernelProgram &program;
  RoleAttr role;
  mlir::OpBuilder &builder;
  mlir::IRMapping env;
  const sched::Instance *instance = nullptr; // its first replica
  const sched::RolePlan *plan = nullptr;
  mlir::Value replica;
  std::optional<int64_t> subtile; // of the store that is being emitted
  tile::NextWorkOp nextWork;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H
