// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleScope.h"

using namespace mlir;
using namespace attn;

RoleScope::RoleScope(KernelProgram &program, RoleAttr role, OpBuilder &builder,
                     const IRMapping &outer)
    : program(program), role(role), builder(builder), env(outer) {
  const sched::BoundSchedule &bound = program.bound();
  for (auto [i, candidate] : llvm::enumerate(bound.instances)) {
    if (!instance &&
        bound.roles[candidate.role].name == role.getName().getValue()) {
      instance = &candidate;
      plan = &bound.plans[i];
    }
  }
}

ws::SlotType RoleScope::slotType(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (tile) { // in memory, without the layout of threads
    tile = RankedTensorType::get(tile.getShape(), tile.getElementType());
  }
  return ws::SlotType::get(
      builder.getContext(), symbol(program.channelNameOf(value)),
      tile ? tile : ws::SlotType::workItemType(builder.getContext()));
}
