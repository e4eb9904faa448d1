// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels and edges on mbarriers.
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static StringRef channelOf(TypedValue<ws::SlotType> slot) {
  return slot.getType().getChannel().getValue();
}

/// Replaces a slot by that of the cycle, whose user arrives at the barrier at
/// `arrivals` in the end.
static void enterSlot(PatternRewriter &rewriter, const RoleSync &sync,
                      Operation *op, RingCounters::Cycle cycle,
                      int64_t arrivals) {
  BarrierOps emit = sync.at(rewriter, op->getLoc());
  auto old = cast<TypedValue<ws::SlotType>>(op->getResult(0));
  StringRef name = channelOf(old);
  auto channel = sync.getKernel().lookupSymbol<ws::ChannelOp>(name);
  Value bytes = emit.mul(cycle.slot, channel.getSlotBytes());
  Value offset = emit.add(bytes, *channel.getOffset());
  Value slot =
      ws::SlotAtOp::create(emit.builder, emit.loc, old.getType(), offset);
  sync.arrivals[slot] = emit.barrierAt(arrivals, cycle.slot);
  sync.counters.moveOn(emit, name, sync.plan.channel(name).depth, cycle);
  rewriter.replaceOp(op, slot);
}

namespace {

struct AcquirePattern : SyncPattern<ws::AcquireOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::AcquireOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    StringRef name = channelOf(op.getSlot());
    const ChannelBarriers &channel = sync.plan.channel(name);
    auto cycle = sync.counters.currentCycle(emit, name, channel.depth);
    if (!sync.getKernel().lookupSymbol<ws::ChannelOp>(name).getFreeImplied()) {
      // The other parity: the first round of slots is free from the start.
      Value other = arith::XOrIOp::create(rewriter, op.getLoc(), cycle.parity,
                                          emit.constant(1));
      nvx::MbarrierWaitOp::create(
          rewriter, op.getLoc(), emit.barrierAt(channel.freeOffset, cycle.slot),
          other);
    }
    enterSlot(rewriter, sync, op, cycle, channel.fullOffset);
    return success();
  }
};

struct WaitPattern : SyncPattern<ws::WaitOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::WaitOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    StringRef name = channelOf(op.getSlot());
    const ChannelBarriers &channel = sync.plan.channel(name);
    auto cycle = sync.counters.currentCycle(emit, name, channel.depth);
    nvx::MbarrierWaitOp::create(rewriter, op.getLoc(),
                                emit.barrierAt(channel.fullOffset, cycle.slot),
                                cycle.parity);
    enterSlot(rewriter, sync, op, cycle, channel.freeOffset);
    return success();
  }
};

struct CopyPattern : SyncPattern<ws::CopyOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::CopyOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    Value barrier = sync.arrivals.lookup(op.getSlot());
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, op.getLoc(), Type(), barrier,
        emit.constant(ws::tileBytes(op.getSlot().getType().getTile())),
        NVVM::MemScopeKind::CTA, false, Value());
    rewriter.modifyOpInPlace(op,
                             [&] { op.getBarrierMutable().assign(barrier); });
    return success();
  }
};

struct PutWorkPattern : SyncPattern<ws::PutWorkOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::PutWorkOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.setInsertionPointAfter(op);
    sync.at(rewriter, op.getLoc()).arrive(sync.arrivals.lookup(op.getSlot()));
    return success();
  }
};

struct ReleasePattern : SyncPattern<ws::ReleaseOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::ReleaseOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    auto channel =
        sync.getKernel().lookupSymbol<ws::ChannelOp>(channelOf(op.getSlot()));
    if (!channel.getFreeImplied()) {
      Value barrier = barrierOf(op, channel, emit);
      if (channel.getCluster() && !sync.isSingleThread) {
        emit.arriveByLanes(barrier);
      } else {
        emit.arriveByWarp(barrier, channel.getCluster(), sync.isSingleThread);
      }
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  Value barrierOf(ws::ReleaseOp op, ws::ChannelOp channel,
                  const BarrierOps &emit) const {
    if (Value barrier = sync.arrivals.lookup(op.getSlot())) {
      return barrier;
    }
    // The slot came through a loop: its number follows from its place.
    Value offset = ws::SlotOffsetOp::create(
        emit.builder, emit.loc, emit.builder.getI32Type(), op.getSlot());
    Value bytes = emit.sub(offset, emit.constant(*channel.getOffset()));
    Value slot = arith::DivUIOp::create(emit.builder, emit.loc, bytes,
                                        emit.constant(channel.getSlotBytes()));
    return emit.barrierAt(sync.plan.channel(channel.getSymName()).freeOffset,
                          slot);
  }
};

struct SignalPattern : SyncPattern<ws::SignalOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::SignalOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    const EdgeBarrier &edge = sync.plan.edge(op.getEdge());
    emit.arriveByWarp(emit.barrierAt(edge.offset, {}), edge.cluster,
                      sync.isSingleThread);
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitEdgePattern : SyncPattern<ws::WaitEdgeOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::WaitEdgeOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    const EdgeBarrier &edge = sync.plan.edge(op.getEdge());
    auto cycle = sync.counters.currentCycle(emit, op.getEdge(), 1);
    Value parity = cycle.parity;
    if (edge.credits == 1) {
      parity = arith::XOrIOp::create(rewriter, op.getLoc(), parity,
                                     emit.constant(1));
    }
    nvx::MbarrierWaitOp::create(rewriter, op.getLoc(),
                                emit.barrierAt(edge.offset, {}), parity);
    sync.counters.moveOn(emit, op.getEdge(), 1, cycle);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void codegen::populateChannelPatterns(RewritePatternSet &patterns,
                                      const RoleSync &sync) {
  patterns.add<AcquirePattern, WaitPattern, CopyPattern, PutWorkPattern,
               ReleasePattern, SignalPattern, WaitEdgePattern>(
      patterns.getContext(), sync);
}
