// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns and rendezvous on named barriers.
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// The barrier of the replica after this one, computed once a role.
static Value nextTurnId(const Arithmetic &emit, const RoleSync &sync,
                        int64_t first) {
  Value next = emit.add(sync.getRole().getBody().getArgument(0), 1);
  Value wraps = emit.isEqual(next, sync.getRole().getReplicas());
  next = arith::SelectOp::create(emit.builder, emit.loc, wraps,
                                 emit.constant(0), next);
  return emit.add(next, first);
}

RoleSync::RoleSync(ws::KernelOp kernel, ws::RoleOp role,
                   const BarrierPlan &plan)
    : kernel(kernel), role(role), plan(plan),
      isSingleThread(role.isSingleThread()), counters(role) {
  OpBuilder builder(role);
  Arithmetic emit{builder, role.getLoc()};
  role.walk([&](ws::GiveOp op) {
    auto turn = kernel.lookupSymbol<ws::TurnOp>(op.getTurn());
    if (replicasOf(turn.getRing()) > 1 && !nextTurn.contains(op.getTurn())) {
      builder.setInsertionPointToStart(&role.getBody().front());
      nextTurn[op.getTurn()] =
          nextTurnId(emit, *this, plan.named(op.getTurn()));
    }
  });
}

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

  LogicalResult matchAndRewrite(ws::TakeOp op,
                                PatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    auto turn = sync.getKernel().lookupSymbol<ws::TurnOp>(op.getTurn());
    if (sync.replicasOf(turn.getRing()) > 1) {
      Value id = emit.add(op.getReplica(), sync.plan.named(op.getTurn()));
      Value count = emit.constant(2 * sync.threadsOf(turn.getRing()));
      NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange{}, id, count, {},
                              Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct GivePattern : SyncPattern<ws::GiveOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::GiveOp op,
                                PatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    auto turn = sync.getKernel().lookupSymbol<ws::TurnOp>(op.getTurn());
    if (sync.replicasOf(turn.getRing()) > 1) {
      Value count = emit.constant(2 * sync.threadsOf(turn.getRing()));
      NVVM::BarrierArriveOp::create(rewriter, op.getLoc(),
                                    sync.nextTurn.lookup(op.getTurn()), count);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct MeetPattern : SyncPattern<ws::SyncOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::SyncOp op,
                                PatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    auto meeting =
        sync.getKernel().lookupSymbol<ws::RendezvousOp>(op.getRendezvous());
    int64_t threads =
        sync.threadsOf(meeting.getRing()) * sync.replicasOf(meeting.getRing());
    Value id = emit.constant(sync.plan.named(op.getRendezvous()));
    NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange{}, id,
                            emit.constant(threads), {}, Value());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void codegen::populateTurnPatterns(RewritePatternSet &patterns,
                                   const RoleSync &sync) {
  patterns.add<TakePattern, GivePattern, MeetPattern>(patterns.getContext(),
                                                      sync);
}
