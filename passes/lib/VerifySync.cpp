// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-sync: runs the programs of all roles for small trip counts and
// numbers of work items, and proves that they end, that every ring is balanced,
// that nothing in shared memory is read before it is there or overwritten
// before it was read, and that tiles of the same elements come together.
#include "Synchronization/SyncCases.h"
#include "Synchronization/SyncTrial.h"
#include "attn/dialect/KernelArguments.h"
#include "attn/passes/Passes.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYSYNC
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// More than any machine has, and few enough to be tried.
constexpr uint64_t mostSlots = 31, mostReplicas = 32;

LogicalResult checkSizes(ws::KernelOp kernel) {
  auto check = [](Operation *op, StringRef what, uint64_t most, uint64_t got) {
    return got <= most ? success()
                       : op->emitOpError("attn-verify-sync: expected at most ")
                             << most << " " << what << ", got " << got;
  };
  for (Operation &op : kernel.getBody().front()) {
    auto channel = dyn_cast<ws::ChannelOp>(op);
    auto hold = dyn_cast<ws::HoldOp>(op);
    auto role = dyn_cast<ws::RoleOp>(op);
    if ((channel &&
         failed(check(channel, "slots", mostSlots, channel.getDepth()))) ||
        (hold && failed(check(hold, "pieces", mostSlots, hold.getPieces()))) ||
        (role &&
         failed(check(role, "replicas", mostReplicas, role.getReplicas())))) {
      return failure();
    }
  }
  return success();
}

/// Every result is written, by some role.
LogicalResult checkResults(ws::KernelOp kernel) {
  for (auto [argument, name] :
       llvm::zip(kernel.getBody().getArguments(),
                 kernel.getArgNames().getAsRange<StringAttr>())) {
    if (isResultArgument(name.getValue()) && argument.use_empty()) {
      return kernel.emitOpError("attn-verify-sync: V2: expected a role to "
                                "write ")
             << name << ", got none";
    }
  }
  return success();
}

class VerifySyncPass : public attn::impl::VerifySyncBase<VerifySyncPass> {
public:
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      if (failed(checkSizes(kernel))) {
        return signalPassFailure();
      }
      SyncTrial trial(kernel);
      for (const SyncCase &tried : casesToTry(kernel, exhaustive)) {
        if (failed(trial.run(tried.items, tried.followTiles))) {
          return signalPassFailure();
        }
      }
      if (failed(checkResults(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
