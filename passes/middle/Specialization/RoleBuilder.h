// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the plan of one role as a ws.role.
#ifndef ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H
#define ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H

#include "ActEmitter.h"

namespace attn {

class RoleBuilder {
public:
  RoleBuilder(KernelProgram &program, RoleAttr role, mlir::OpBuilder &builder,
              const mlir::IRMapping &outer)
      : scope(program, role, builder, outer), steps(scope), acts(scope, steps) {
  }

  mlir::LogicalResult build();

private:
  mlir::FailureOr<llvm::ArrayRef<sched::PlannedAct>> emitItemBegin();
  mlir::LogicalResult buildItem();
  mlir::LogicalResult buildWork();
  bool storesTiles() const;

  RoleScope scope;
  StepEmitter steps;
  ActEmitter acts;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H
