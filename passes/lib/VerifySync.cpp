// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-sync: runs the programs of all roles for small trip counts and
// numbers of work items, and proves that they end, that every ring is balanced,
// and that nothing in shared memory is read before it is there or overwritten
// before it was read.
#include "Synchronization/SyncItems.h"
#include "Synchronization/SyncTrial.h"
#include "attn/passes/Passes.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYSYNC
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

class VerifySyncPass : public attn::impl::VerifySyncBase<VerifySyncPass> {
public:
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      SyncTrial trial(kernel);
      for (const SyncItems &items : itemsToTry(kernel, exhaustive)) {
        if (failed(trial.run(items))) {
          return signalPassFailure();
        }
      }
    }
  }
};

} // namespace
