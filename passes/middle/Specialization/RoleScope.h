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
  /// The value that a slot carries.
  mlir::Value valueIn(const sched::SlotRef &slot) const {
    const sched::Place &place = program.bound().places[slot.place];
    return program.value(place.cycles[slot.alternative].front()).ir;
  }
  ws::SlotType slotType(mlir::Value value);

  KernelProgram &program;
  RoleAttr role;
  mlir::OpBuilder &builder;
  mlir::IRMapping env;
  const sched::Instance *instance = nullptr; // its first replica
  const sched::RolePlan *plan = nullptr;
  mlir::Value replica;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_ROLESCOPE_H
