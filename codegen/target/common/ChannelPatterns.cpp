// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers channels and edges to mbarriers.
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static StringRef channelOf(TypedValue<ws::SlotType> slot) {
  return slot.getType().getChannel().getValue();
}

/// Waits for a phase of the barrier at `offset`, or of that of `slot` in the
/// ring there. If all slots start free, the first phase counts as complete: the
/// parity is inverted.
static void awaitPhase(const BarrierOps &emit, int64_t offset, Value slot,
                       Value parity, bool startsFree) {
  if (startsFree) {
    parity =
        arith::XOrIOp::create(emit.builder, emit.loc, parity, emit.constant(1));
  }
  nvx::MbarrierWaitOp::create(emit.builder, emit.loc,
                              emit.barrierAt(offset, slot), parity);
}

/// Where additions to memory take turns, each lane adds elements of its own,
/// and one lane of a warp tells that all have.
static bool takesTurns(ws::KernelOp kernel) {
  return kernel->walk([](tile::TurnPassOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
/// One side of a channel: its barriers for a slot.
struct Side {
  /// The offset of the barriers that it waits for; nothing if the slot is known
  /// to be available.
  std::optional<int64_t> awaited;
  bool startsFree;
  /// The offset of the barriers on which it arrives.
  int64_t arrivals;
};
} // namespace

/// Replaces a slot by that of the cycle.
static void enterSlot(PatternRewriter &rewriter, const BarrierOps &emit,
                      RoleSync &sync, TypedValue<ws::SlotType> old, Side side) {
  StringRef name = channelOf(old);
  auto channel = sync.getKernel().lookupSymbol<ws::ChannelOp>(name);
  const RingCounters &counters = sync.getCounters();
  int64_t depth = channel.getDepth();
  bool isWithAnother = channel.getWith().has_value();
  RingCounters::Cycle cycle;
  if (isWithAnother) {
    cycle.slot = sync.lastSlot(*channel.getWith());
  } else {
    cycle = counters.currentCycle(emit, name, depth);
    if (side.awaited) {
      awaitPhase(emit, *side.awaited, cycle.slot, cycle.parity,
                 side.startsFree);
    }
    sync.setLastSlot(name, cycle.slot);
  }
  Value bytes = emit.mul(cycle.slot, channel.getSlotBytes());
  Value offset = emit.add(bytes, *channel.getOffset());
  Value slot =
      ws::SlotAtOp::create(emit.builder, emit.loc, old.getType(), offset);
  sync.setArrival(slot, emit.barrierAt(side.arrivals, cycle.slot));
  if (!isWithAnother) {
    counters.moveOn(emit, name, depth, cycle);
  }
  rewriter.replaceOp(old.getDefiningOp(), slot);
}

namespace {

struct AcquirePattern : SyncPattern<ws::AcquireOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::AcquireOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    auto channel =
        sync.getKernel().lookupSymbol<ws::ChannelOp>(channelOf(op.getSlot()));
    const ChannelBarriers &barriers = sync.getPlan().channel(channel);
    Side filler{barriers.freeOffset, /*startsFree=*/true, barriers.fullOffset};
    if (channel.getFreeImplied()) {
      filler.awaited.reset();
    }
    enterSlot(rewriter, emit, sync, op.getSlot(), filler);
  }
};

struct WaitPattern : SyncPattern<ws::WaitOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::WaitOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    const ChannelBarriers &barriers = sync.getPlan().channel(
        sync.getKernel().lookupSymbol<ws::ChannelOp>(channelOf(op.getSlot())));
    enterSlot(rewriter, emit, sync, op.getSlot(),
              {barriers.fullOffset, /*startsFree=*/false, barriers.freeOffset});
  }
};

struct CopyPattern : SyncPattern<ws::CopyOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::CopyOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    Value barrier = sync.arrivalOf(op.getSlot());
    StringRef name = channelOf(op.getSlot());
    if (!sync.getKernel().lookupSymbol<ws::ChannelOp>(name).getWith()) {
      int64_t bytes = ws::tileBytes(op.getSlot().getType().getTile());
      NVVM::MBarrierArriveExpectTxOp::create(
          rewriter, op.getLoc(), Type(), barrier,
          emit.constant(bytes + bytesWith(name)), NVVM::MemScopeKind::CTA,
          false, Value());
    }
    rewriter.modifyOpInPlace(op,
                             [&] { op.getBarrierMutable().assign(barrier); });
  }

private:
  /// Returns the bytes of the slots that share the barriers of a slot.
  int64_t bytesWith(StringRef name) const {
    int64_t bytes = 0;
    ws::KernelOp kernel = sync.getKernel();
    for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
      if (channel.getWith() == name) {
        bytes +=
            ws::tileBytes(cast<TypeAttr>(channel.getTypes()[0]).getValue());
      }
    }
    return bytes;
  }
};

struct PutWorkPattern : SyncPattern<ws::PutWorkOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::PutWorkOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    rewriter.setInsertionPointAfter(op);
    emit.arrive(sync.arrivalOf(op.getSlot()));
  }
};

/// Whether a fence of the async proxy comes between the last read of a slot's
/// rows and its release.
static bool isFencedAfterReads(ws::ReleaseOp release) {
  Operation *last = nullptr;
  for (Operation *user : release.getSlot().getUsers()) {
    bool isBefore = user->getBlock() == release->getBlock() &&
                    user->isBeforeInBlock(release);
    if (isa<ws::ReadRowOp>(user) && isBefore &&
        (!last || last->isBeforeInBlock(user))) {
      last = user;
    }
  }
  for (Operation *op = last; op && op != release; op = op->getNextNode()) {
    if (isa<NVVM::FenceProxyOp>(op)) {
      return true;
    }
  }
  return false;
}

struct ReleasePattern : SyncPattern<ws::ReleaseOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::ReleaseOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    auto channel =
        sync.getKernel().lookupSymbol<ws::ChannelOp>(channelOf(op.getSlot()));
    if (channel.carriesRows()) {
      // The next copy into the slot is of another proxy than the reads.
      if (!isFencedAfterReads(op)) {
        fenceAsyncProxy(emit);
      }
      // All lanes have read the rows before one of them arrives.
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(), emit.constant(-1));
    }
    if (!channel.getFreeImplied()) {
      Value barrier = barrierOf(op, channel, emit);
      if (channel.getCluster() && !sync.isSingleThread()) {
        emit.arriveByLanes(barrier);
      } else {
        emit.arriveByWarp(barrier, channel.getCluster(), sync.isSingleThread());
      }
    }
    rewriter.eraseOp(op);
  }

private:
  Value barrierOf(ws::ReleaseOp op, ws::ChannelOp channel,
                  const BarrierOps &emit) const {
    if (Value barrier = sync.arrivalOf(op.getSlot())) {
      return barrier;
    }
    // The slot came through a loop, so its number is computed from its offset.
    Value offset = ws::SlotOffsetOp::create(
        emit.builder, emit.loc, emit.builder.getI32Type(), op.getSlot());
    Value bytes = emit.sub(offset, emit.constant(*channel.getOffset()));
    Value slot = arith::DivUIOp::create(emit.builder, emit.loc, bytes,
                                        emit.constant(channel.getSlotBytes()));
    return emit.barrierAt(sync.getPlan().channel(channel).freeOffset, slot);
  }
};

struct SignalPattern : SyncPattern<ws::SignalOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::SignalOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    if (!sync.isSingleThread() && takesTurns(sync.getKernel())) {
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(), emit.constant(-1));
    }
    const EdgeBarrier &edge = sync.getPlan().edge(op.getEdge());
    emit.arriveByWarp(emit.barrierAt(edge.offset, {}), edge.cluster,
                      sync.isSingleThread());
    rewriter.eraseOp(op);
  }
};

struct WaitEdgePattern : SyncPattern<ws::WaitEdgeOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::WaitEdgeOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    const EdgeBarrier &edge = sync.getPlan().edge(op.getEdge());
    auto cycle = sync.getCounters().currentCycle(emit, op.getEdge(), 1);
    awaitPhase(emit, edge.offset, {}, cycle.parity, edge.credits == 1);
    sync.getCounters().moveOn(emit, op.getEdge(), 1, cycle);
    rewriter.eraseOp(op);
  }
};

} // namespace

void codegen::populateChannelPatterns(RewritePatternSet &patterns,
                                      RoleSync &sync) {
  patterns.add<AcquirePattern, WaitPattern, CopyPattern, PutWorkPattern,
               ReleasePattern, SignalPattern, WaitEdgePattern>(
      patterns.getContext(), sync);
}
