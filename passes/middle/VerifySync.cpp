// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-sync: runs the programs of all roles for small trip counts and
// numbers of work items. Checks that they end, that every ring is balanced,
// that no data in shared memory is read before it is written or overwritten
// before it was read, and that the operands of an op have the same rows and
// columns.
#include "Synchronization/SyncCases.h"
#include "Synchronization/SyncTrial.h"
#include "attn/passes/middle/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYSYNC
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// The limits of what can be tried in a short time; no machine allows more.
constexpr uint64_t mostReplicas = 32, mostCredits = 31, mostBounds = 6;

LogicalResult checkAtMost(Operation *op, StringRef what, uint64_t most,
                          uint64_t got) {
  return got <= most ? success()
                     : op->emitOpError("attn-verify-sync: expected at most ")
                           << most << " " << what << ", got " << got;
}

LogicalResult checkSizes(ws::KernelOp kernel) {
  WalkResult walked = kernel.walk([&](Operation *op) {
    LogicalResult checked =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case([](ws::ChannelOp channel) {
              return checkAtMost(channel, "slots", mostSlots,
                                 channel.getDepth());
            })
            .Case([](ws::HoldOp hold) {
              return checkAtMost(hold, "pieces", mostSlots, hold.getPieces());
            })
            .Case([](ws::EdgeOp edge) {
              return checkAtMost(edge, "credits", mostCredits,
                                 edge.getCredits());
            })
            .Case([](ws::RoleOp role) {
              return checkAtMost(role, "replicas", mostReplicas,
                                 role.getReplicas());
            })
            .Case([](tile::BoundsOp bounds) -> LogicalResult {
              if (bounds.getNumResults() < 2) {
                return bounds.emitOpError("attn-verify-sync: expected at "
                                          "least 2 bounds, got ")
                       << bounds.getNumResults();
              }
              return checkAtMost(bounds, "bounds", mostBounds,
                                 bounds.getNumResults());
            })
            .Case([](tile::RejectOp reject) -> LogicalResult {
              return reject.emitOpError("attn-verify-sync: expected a "
                                        "'ws.give_verdict' (attn-hand-out)");
            })
            .Case([&](tile::NextWorkOp next) -> LogicalResult {
              return kernel.getConfig().getWork() == WorkKind::Dynamic
                         ? next.emitOpError(
                               "attn-verify-sync: expected a 'ws.take_item' "
                               "where items are handed out (attn-hand-out)")
                         : success();
            })
            .Default([](Operation *) { return success(); });
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

class VerifySyncPass : public attn::impl::VerifySyncBase<VerifySyncPass> {
public:
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    markAllAnalysesPreserved(); // the IR, too, so MLIR verifies it once
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
    }
  }
};

} // namespace
