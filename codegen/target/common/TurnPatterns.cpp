// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers turns and rendezvous to named barriers.
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

void codegen::primeTurns(ws::RoleOp role, const BarrierPlan &plan) {
  llvm::SetVector<StringRef> turns;
  role.walk([&](ws::TakeOp op) { turns.insert(op.getTurn()); });
  for (StringRef name : turns) {
    if (role.getReplicas() == 1) {
      continue;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&role.getBody().front());
    BarrierOps emit{{builder, role.getLoc()}};
    emit.enterIf(emit.isEqual(role.getBody().getArgument(0), 0));
    NVVM::BarrierArriveOp::create(
        builder, role.getLoc(), emit.constant(plan.named(name)),
        emit.constant(2 * warpThreads * role.getWarps()));
  }
}

namespace {

struct TakePattern : SyncPattern<ws::TakeOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::TakeOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    auto turn = sync.getKernel().lookupSymbol<ws::TurnOp>(op.getTurn());
    if (sync.replicasOf(turn.getRing()) > 1) {
      Value id = emit.add(op.getReplica(), sync.getPlan().named(op.getTurn()));
      Value count = emit.constant(2 * sync.threadsOf(turn.getRing()));
      NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange{}, id, count, {},
                              Value());
    }
    rewriter.eraseOp(op);
  }
};

struct GivePattern : SyncPattern<ws::GiveOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::GiveOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    auto turn = sync.getKernel().lookupSymbol<ws::TurnOp>(op.getTurn());
    if (sync.replicasOf(turn.getRing()) > 1) {
      Value count = emit.constant(2 * sync.threadsOf(turn.getRing()));
      NVVM::BarrierArriveOp::create(rewriter, op.getLoc(),
                                    sync.nextTurn(op.getTurn()), count);
    }
    rewriter.eraseOp(op);
  }
};

struct MeetPattern : SyncPattern<ws::SyncOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::SyncOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    auto meeting =
        sync.getKernel().lookupSymbol<ws::RendezvousOp>(op.getRendezvous());
    int64_t threads =
        sync.threadsOf(meeting.getRing()) * sync.replicasOf(meeting.getRing());
    Value id = emit.constant(sync.getPlan().named(op.getRendezvous()));
    NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange{}, id,
                            emit.constant(threads), {}, Value());
    rewriter.eraseOp(op);
  }
};

} // namespace

void codegen::populateTurnPatterns(RewritePatternSet &patterns,
                                   RoleSync &sync) {
  patterns.add<TakePattern, GivePattern, MeetPattern>(patterns.getContext(),
                                                      sync);
}
