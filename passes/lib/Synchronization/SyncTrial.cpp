// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncTrial.h"
#include "../Execution/Execution.h"
#include "SyncBalance.h"

using namespace mlir;
using namespace attn;

FailureOr<std::vector<SyncAgent>>
SyncTrial::unroll(ArrayRef<SyncItem> items) const {
  ws::KernelOp of = kernel;
  std::vector<SyncAgent> agents;
  for (int64_t cta = 0; cta < ctas; ++cta) {
    for (auto role : of.getBody().getOps<ws::RoleOp>()) {
      for (int64_t r = 0, e = role.getReplicas(); r < e; ++r) {
        SyncUnroller unroller(events, items, {role, r, ctas - 1 - cta});
        if (failed(unroller.unroll())) {
          return failure();
        }
        agents.push_back(SyncAgent{role, cta, r, unroller.takeSteps(),
                                   unroller.takeCounts()});
      }
    }
  }
  return agents;
}

/// "with work items of 1 + 0, 1 + 0 (again) blocks": range by range.
static void describeItems(ArrayRef<SyncItem> items, Diagnostic &note) {
  note << "with work items of ";
  llvm::interleaveComma(items, note, [&](const SyncItem &item) {
    llvm::interleave(item.blocks, note, " + ");
    note << (item.redo ? " (again)" : "");
  });
  note << " blocks";
}

LogicalResult SyncTrial::run(ArrayRef<SyncItem> items) const {
  auto emitError = [&] {
    InFlightDiagnostic error =
        ws::KernelOp(kernel).emitOpError("attn-verify-sync: ");
    describeItems(items, error.attachNote());
    return error;
  };
  FailureOr<std::vector<SyncAgent>> agents = unroll(items);
  if (failed(agents)) {
    return failure();
  }
  if (failed(SyncBalance(events, *agents, ctas, emitError).check())) {
    return failure();
  }
  return execute(SyncPrograms(events, memory, *agents, ctas), emitError);
}
