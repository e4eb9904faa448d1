// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-channels: channels, edges, turns and rendezvous become mbarriers
// and named barriers. Everything that a schedule cannot state is derived here:
//
//   counter       one a role and ring, +1 a cycle, kept in registers;
//                 slot = cycle mod depth, parity = (cycle div depth) mod 2
//   full[slot]    1 arrival (the copy's issuer), which also announces the bytes
//   free[slot]    one arrival a warp of every role that reads the channel
//   edge          one arrival a warp of every role that signals it
//   turn, sync    named barriers
//   hold          HoldPatterns.cpp, and the chip's patterns
//   verdict       VerdictPatterns.cpp
//   mailbox       BarrierPlan.cpp
//
// For a channel or edge of the cluster, each CTA has its own barriers, on which
// the warps of all CTAs arrive.
#include "KernelChecks.h"
#include "SyncPatterns.h"
#include "Target.h"
#include "attn/codegen/target/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace attn::codegen {
#define GEN_PASS_DEF_LOWERCHANNELS
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Slots are passed through loops as the offsets of their tiles.
static void convertSlots(ws::RoleOp role) {
  OpBuilder builder(role);
  role.walk([&](Operation *op) {
    auto convert = [&](Value value) {
      auto type = dyn_cast<ws::SlotType>(value.getType());
      if (!type) {
        return;
      }
      value.setType(builder.getI32Type());
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : value.getUses()) {
        if (!isa<scf::YieldOp, scf::ForOp, scf::IfOp>(use.getOwner())) {
          uses.push_back(&use);
        }
      }
      for (OpOperand *use : uses) {
        builder.setInsertionPoint(use->getOwner());
        use->set(ws::SlotAtOp::create(builder, value.getLoc(), type, value));
      }
    };
    if (isa<scf::ForOp, scf::IfOp>(op)) {
      for (Region &region : op->getRegions()) {
        for (Block &block : region) {
          llvm::for_each(block.getArguments(), convert);
        }
      }
      llvm::for_each(op->getResults(), convert);
    }
  });
  role.walk([&](Operation *op) {
    if (!isa<scf::YieldOp, scf::ForOp>(op)) {
      return;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (auto at = operand.get().getDefiningOp<ws::SlotAtOp>()) {
        operand.set(at.getOffset());
      }
    }
  });
  SmallVector<ws::SlotOffsetOp> offsets;
  role.walk([&](ws::SlotOffsetOp op) { offsets.push_back(op); });
  for (ws::SlotOffsetOp op : offsets) {
    auto at = op.getSlot().getDefiningOp<ws::SlotAtOp>();
    op.getOffset().replaceAllUsesWith(at.getOffset());
    op.erase();
  }
}

static void lowerRole(ws::KernelOp kernel, ws::RoleOp role,
                      const BarrierPlan &plan, const Target &chip) {
  primeTurns(role, plan);
  RoleSync sync(kernel, role, plan);
  RewritePatternSet patterns(kernel.getContext());
  populateChannelPatterns(patterns, sync);
  populateTurnPatterns(patterns, sync);
  populateHoldPatterns(patterns, sync);
  populateVerdictPatterns(patterns, sync);
  chip.populateCompletionPatterns(patterns, sync);
  walkAndApplyPatterns(role, std::move(patterns));
  convertSlots(role);
}

static LogicalResult lowerKernel(ws::KernelOp kernel) {
  const Target *chip = findTarget(kernel, "attn-lower-channels");
  if (!chip) {
    return failure();
  }
  FailureOr<BarrierPlan> plan = BarrierPlan::of(kernel);
  if (failed(plan)) {
    return failure();
  }
  plan->emitSetup(kernel);
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    lowerRole(kernel, role, *plan, *chip);
  }
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    if (isa<ws::EdgeOp, ws::TurnOp, ws::RendezvousOp>(op)) {
      op.erase();
    }
  }
  kernel.setSmemBytes(plan->getEnd());
  return success();
}

namespace {

class LowerChannelsPass
    : public attn::codegen::impl::LowerChannelsBase<LowerChannelsPass> {
public:
  using LowerChannelsBase::LowerChannelsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      if (failed(checkChannelsLowerable(kernel)) ||
          failed(lowerKernel(kernel)) || failed(checkChannelsLowered(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
