// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-channels: reads the output of attn-lower-channels, and runs it on
// barriers that count arrivals, bytes and phases. It shares no code with the
// lowering: counts, parities, bytes and ids are those in the ops.
#include "BarrierTrial.h"
#include "KernelChecks.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/codegen/target/Passes.h"
#include "attn/passes/schedule/DataTables.h"

namespace attn::codegen {
#define GEN_PASS_DEF_VERIFYCHANNELS
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns a number of blocks after which every ring has wrapped and is at its
/// second slot.
static int64_t blocksToWrap(ws::KernelOp kernel) {
  int64_t deepest = 0;
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    deepest = std::max<int64_t>(deepest, channel.getDepth());
  }
  return 2 * deepest + 1;
}

/// An arrival on another CTA's barrier, in the form without a scope, orders its
/// thread's reads, but not its writes to that CTA.
static LogicalResult checkRemoteWrite(LLVM::AtomicRMWOp write) {
  constexpr unsigned clusterMemory = 7;
  if (write.getPtr().getType().getAddressSpace() != clusterMemory) {
    return success();
  }
  for (Operation *op = write->getNextNode(); op; op = op->getNextNode()) {
    auto fence = dyn_cast<LLVM::FenceOp>(op);
    if (fence && fence.getSyncscope() == "cluster") {
      return success();
    }
  }
  return write.emitOpError("attn-verify-channels: expected a fence of the "
                           "cluster's scope after a write to another CTA, got "
                           "none");
}

/// Checks kernels with one item per CTA: empty, short and long ones, and if
/// items may be rejected also second runs. With several items per CTA, checks
/// these in sequence, so that each begins at different positions of the rings.
static LogicalResult verify(ws::KernelOp kernel) {
  if (failed(checkBarriersReadable(kernel))) {
    return failure();
  }
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(), [&] {
        return kernel.emitOpError("attn-verify-channels: ");
      });
  if (failed(machine)) {
    return failure();
  }
  BarrierProgram program(kernel, *machine);
  WalkResult writes = kernel.walk([](LLVM::AtomicRMWOp op) {
    return failed(checkRemoteWrite(op)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  if (writes.wasInterrupted() || failed(program.readSetup())) {
    return failure();
  }
  int64_t many = blocksToWrap(kernel);
  bool rejects = !kernel.getBody().getOps<ws::VerdictOp>().empty();
  auto secondOf = [&](int64_t first) { return rejects ? first : -1; };
  SmallVector<TrialItem> items = {{1, 2}, {0, 0}, {0, 3},
                                  {0, 0}, {1, 1}, {2, many},
                                  {0, 1}, {1, 3}, {0, 1, secondOf(6)},
                                  {2, 2}, {0, 2}, {0, 0},
                                  {1, 2}, {3, 3}, {3, 3, secondOf(13)}};
  if (!isOneItemACta(kernel)) {
    return BarrierTrial(program, items).run();
  }
  for (TrialItem item : {TrialItem{0, 2}, {0, 0}, {1, 1}, {2, many}}) {
    SmallVector<TrialItem> runs = {item};
    if (rejects && item.total != 2) {
      runs.push_back({item.masked, item.total, /*first=*/0});
    }
    if (failed(BarrierTrial(program, runs).run())) {
      return failure();
    }
  }
  return success();
}

namespace {

class VerifyChannelsPass
    : public attn::codegen::impl::VerifyChannelsBase<VerifyChannelsPass> {
public:
  using VerifyChannelsBase::VerifyChannelsBase;

  void runOnOperation() override {
    markAllAnalysesPreserved(); // the IR, too, so MLIR verifies it once
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      if (failed(verify(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
