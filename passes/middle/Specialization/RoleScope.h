// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the parts of a role's program while it is written.
#ifndef ATTN_PASSES_SPECIALIZATION_ROLESCOPE_H
#define ATTN_PASSES_SPECIALIZATION_ROLESCOPE_H

#include "KernelProgram.h"
#include "attn/dialect/Ws.h"

namespace attn {

/// A role, its plan, and the kernel's values that are available to it.
struct RoleScope {
  RoleScope(KernelProgram &program, RoleAttr role, mlir::OpBuilder &builder,
            const mlir::IRMapping &outer);

  mlir::InFlightDiagnostic error(const llvm::Twine &message) {
    return program.kernel.emitOpError("attn-warp-specialize: role '")
           << role.getName().getValue() << "': " << message;
  }
  mlir::Location loc() { return program.kernel.getLoc(); }
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(builder.getContext(), name);
  }
  int64_t replicas() { return std::max<int64_t>(1, role.getReplicas()); }
  /// The step of an act that runs or awaits one.
  const sched::KernelStep &stepOf(const sched::PlannedAct &act) const {
    return program.plan->model.steps[act.target];
  }
  /// The values that a slot carries: a tile, and perhaps row vectors, in slots
  /// of channels `with` that of the tile.
  llvm::SmallVector<mlir::Value> valuesIn(const sched::SlotRef &slot) const {
    const sched::Place &place = program.bound().places[slot.place];
    return llvm::map_to_vector(
        place.cycles[slot.alternative],
        [&](int value) -> mlir::Value { return program.value(value).ir; });
  }
  /// The first of them.
  mlir::Value valueIn(const sched::SlotRef &slot) const {
    return valuesIn(slot).front();
  }
  ws::SlotType slotType(mlir::Value value);

  KernelProgram &program;
  RoleAttr role;
  mlir::OpBuilder &builder;
  mlir::IRMapping env;
  mlir::IRMapping rows; // row vectors read into registers, in the loop
  const sched::Instance *instance = nullptr; // its first replica
  const sched::RolePlan *plan = nullptr;
  mlir::Value replica;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_ROLESCOPE_H
