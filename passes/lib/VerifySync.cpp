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
