// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-pipeline: expands the modulo schedule of each role's streaming loop into
// a prologue, a steady loop for all ranges or one for each, and an epilogue, in
// issue order.
#include "Pipelining/LoopExpander.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/passes/middle/Passes.h"
#include "attn/support/Decision.h"

namespace attn {
#define GEN_PASS_DEF_PIPELINE
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Checks the postconditions of the pass; the verifier of ws.mma checks the
/// awaits.
LogicalResult check(ws::KernelOp kernel) {
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    llvm::DenseSet<Attribute> released;
    role.walk([&](ws::ReleaseOp op) {
      released.insert(op.getSlot().getType().getChannel());
    });
    WalkResult result = role.walk([&](Operation *op) {
      if (isa<ws::ForOp, ws::EntryOp, ws::AwaitStepOp>(op)) {
        op->emitOpError("attn-pipeline: expected the loop to be expanded");
        return WalkResult::interrupt();
      }
      auto wait = dyn_cast<ws::WaitOp>(op);
      if (wait && !released.contains(wait.getSlot().getType().getChannel())) {
        op->emitOpError("attn-pipeline: expected role '")
            << role.getSymName() << "' to release "
            << wait.getSlot().getType().getChannel()
            << ", for which it waits, got no release";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return failure();
    }
  }
  return success();
}

class PipelinePass : public attn::impl::PipelineBase<PipelinePass> {
public:
  using PipelineBase::PipelineBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      SmallVector<ws::ForOp> loops;
      kernel.walk([&](ws::ForOp loop) { loops.push_back(loop); });
      for (ws::ForOp loop : loops) {
        LoopExpander expander(loop, kernel.getSchedule().getPeel());
        auto role = loop->getParentOfType<ws::RoleOp>();
        FailureOr<scf::IfOp> expanded = expander.run();
        if (failed(expanded)) {
          return signalPassFailure();
        }
        decided(kernel.getLoc(), "pipeline")
            << llvm::formatv(
                   "role '{0}': {1} copies of the loop's body, shifts "
                   "0 to {2}",
                   role ? role.getSymName() : "none", expander.getCopies(),
                   expander.getMaxShift())
                   .str();
      }
      if (failed(check(kernel))) {
        return signalPassFailure();
      }
      recordConsumed(kernel, getArgument());
    }
  }
};

} // namespace
