// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-channels: channels, edges, turns and rendezvous become mbarriers
// and named barriers. Everything that a schedule may not say is derived here:
//
//   counter       one a role and ring, +1 a cycle, kept in registers;
//                 slot = cycle mod depth, parity = (cycle div depth) mod 2
//   full[slot]    1 arrival (the copy's issuer), which also announces the bytes
//   free[slot]    one arrival a warp of every role that reads the channel
//   edge          one arrival a warp of every role that signals it
//   turn, sync    named barriers
//   hold          HoldLowering.cpp
//   verdict       VerdictLowering.cpp
//   mailbox       MailboxLowering.cpp
//
// Of a channel or edge of the cluster each CTA has barriers of its own, on
// which the warps of all CTAs arrive.
#include "ChannelLowering.h"
#include "KernelChecks.h"
#include "attn/support/Decision.h"

namespace attn::codegen {
#define GEN_PASS_DEF_LOWERCHANNELS
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using ws::barrierBytes;

int64_t ChannelLowering::replicasOf(StringRef name) {
  return kernel.lookupSymbol<ws::RoleOp>(name).getReplicas();
}
int64_t ChannelLowering::warpsOf(StringRef name) {
  return kernel.lookupSymbol<ws::RoleOp>(name).getWarps();
}

LogicalResult ChannelLowering::planBarriers() {
  int64_t offset = *kernel.getSmemBytes();
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    int64_t ring = barrierBytes * channel.getDepth();
    channels[channel.getSymName()] = {(int64_t)channel.getDepth(), offset,
                                      offset + ring, channel.getCluster()};
    offset += 2 * ring;
  }
  for (auto edge : kernel.getBody().getOps<ws::EdgeOp>()) {
    if (edge.getCredits() > 1) {
      return edge.emitOpError("attn-lower-channels: expected at most 1 credit, "
                              "got ")
             << edge.getCredits();
    }
    edges[edge.getSymName()] = {offset, (int64_t)edge.getCredits(),
                                edge.getCluster()};
    offset += barrierBytes;
  }
  return planItems(offset);
}

static bool givesVerdict(ws::RoleOp role) {
  return role.walk([](ws::GiveVerdictOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void ChannelLowering::countArrivals() {
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    int64_t arrivals =
        role.isSingleThread() ? 1 : role.getWarps() * role.getReplicas();
    llvm::SetVector<StringRef> readChannels, signalled;
    role.walk([&](ws::ReleaseOp op) {
      readChannels.insert(channelOf(op.getSlot()));
    });
    role.walk([&](ws::SignalOp op) { signalled.insert(op.getEdge()); });
    int64_t ofCluster = arrivals * clusterSize();
    for (StringRef name : readChannels) {
      channels[name].freeCount += channels[name].cluster ? ofCluster : arrivals;
    }
    for (StringRef name : signalled) {
      edges[name].count += edges[name].cluster ? ofCluster : arrivals;
    }
    if (givesVerdict(role)) {
      verdict->count += ofCluster;
    }
  }
}

/// Id 0 is the CTA's; then one a replica of each role whose warps meet, a
/// turn's ring, and one a rendezvous.
LogicalResult ChannelLowering::planNamedBarriers() {
  int64_t next = 1;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    if (warpsMeet(role)) {
      namedBarriers[role.getSymName()] = next;
      next += role.getReplicas();
    }
  }
  for (auto turn : kernel.getBody().getOps<ws::TurnOp>()) {
    namedBarriers[turn.getSymName()] = next;
    next += replicasOf(turn.getRing());
  }
  for (auto sync : kernel.getBody().getOps<ws::RendezvousOp>()) {
    namedBarriers[sync.getSymName()] = next++;
  }
  if (next > 16) {
    return kernel.emitOpError("attn-lower-channels: expected at most 16 named "
                              "barriers, got ")
           << next;
  }
  decided(kernel.getLoc(), "lower-channels")
      << llvm::formatv("{0} barriers in memory, {1} named",
                       (barrierEnd - *kernel.getSmemBytes()) / barrierBytes,
                       next)
             .str();
  return success();
}

Value ChannelLowering::barrierAt(int64_t offset, Value slot) {
  Value address = constant(offset);
  if (slot) {
    Value bytes =
        arith::MulIOp::create(builder, loc, slot, constant(barrierBytes));
    address = arith::AddIOp::create(builder, loc, address, bytes);
  }
  return ws::SmemOp::create(builder, loc, sharedPtr(), address);
}

void ChannelLowering::emitSetup() {
  builder.setInsertionPoint(*kernel.getBody().getOps<ws::RoleOp>().begin());
  loc = kernel.getLoc();
  auto setup = ws::SetupOp::create(builder, loc);
  builder.createBlock(&setup.getBody());
  auto init = [&](int64_t offset, int64_t count) {
    NVVM::MBarrierInitOp::create(builder, loc, barrierAt(offset, {}),
                                 constant(count), Value());
  };
  for (auto &[name, channel] : channels) {
    for (int64_t slot = 0; slot < channel.depth; ++slot) {
      init(channel.fullOffset + barrierBytes * slot, 1);
    }
    for (int64_t slot = 0; slot < channel.depth; ++slot) {
      init(channel.freeOffset + barrierBytes * slot,
           std::max<int64_t>(1, channel.freeCount));
    }
  }
  for (auto &[name, edge] : edges) {
    init(edge.offset, std::max<int64_t>(1, edge.count));
  }
  emitVerdictSetup();
  emitMailboxSetup();
}

/// The counter of this role and ring lives in two stack slots, which become
/// registers.
ChannelLowering::Counter ChannelLowering::counterFor(StringRef name) {
  Counter &counter = counters[name];
  if (!counter.slot) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&role.getBody().front());
    Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
    Value one = constant(1), zero = constant(0);
    counter.slot =
        LLVM::AllocaOp::create(builder, loc, ptr, builder.getI32Type(), one);
    counter.parity =
        LLVM::AllocaOp::create(builder, loc, ptr, builder.getI32Type(), one);
    LLVM::StoreOp::create(builder, loc, zero, counter.slot);
    LLVM::StoreOp::create(builder, loc, zero, counter.parity);
  }
  return counter;
}

/// The slot and parity of this cycle. `moveOn` must follow, once every value
/// that depends on them has been computed: then the counter's registers are
/// updated in place.
ChannelLowering::Cycle ChannelLowering::currentCycle(StringRef name,
                                                     int64_t depth) {
  Counter counter = counterFor(name);
  Value parity =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), counter.parity);
  Value slot = depth == 1
                   ? constant(0)
                   : LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                          counter.slot)
                         .getResult();
  return {slot, parity};
}

void ChannelLowering::moveOn(StringRef name, int64_t depth, Cycle cycle) {
  Counter counter = counterFor(name);
  if (depth == 1) {
    Value flipped =
        arith::XOrIOp::create(builder, loc, cycle.parity, constant(1));
    LLVM::StoreOp::create(builder, loc, flipped, counter.parity);
    return;
  }
  Value next = arith::AddIOp::create(builder, loc, cycle.slot, constant(1));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, constant(depth));
  Value wrapped =
      arith::SelectOp::create(builder, loc, wraps, constant(0), next);
  Value bit = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), wraps);
  Value flipped = arith::XOrIOp::create(builder, loc, cycle.parity, bit);
  LLVM::StoreOp::create(builder, loc, wrapped, counter.slot);
  LLVM::StoreOp::create(builder, loc, flipped, counter.parity);
}

/// First byte of a slot's tile in shared memory.
Value ChannelLowering::tileOffset(StringRef name, Value slot) {
  auto channel = kernel.lookupSymbol<ws::ChannelOp>(name);
  Value bytes = arith::MulIOp::create(builder, loc, slot,
                                      constant(channel.getSlotBytes()));
  return arith::AddIOp::create(builder, loc, bytes,
                               constant(*channel.getOffset()));
}

scf::IfOp ChannelLowering::onlyIf(Value condition) {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  return branch;
}

Value ChannelLowering::lane() {
  return arith::AndIOp::create(builder, loc, tid(), constant(31));
}
Value ChannelLowering::isLaneZero() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane(),
                               constant(0));
}
/// One lane of each warp, or one for each CTA of the cluster.
Value ChannelLowering::speaksForWarp(bool inCluster) {
  if (!inCluster) {
    return isLaneZero();
  }
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane(),
                               constant(clusterSize()));
}
Value ChannelLowering::isRoleThreadZero() {
  Value thread = arith::AndIOp::create(builder, loc, tid(), constant(127));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread,
                               constant(0));
}

/// Where `address` lies in the shared memory of CTA `rank` of the cluster.
Value ChannelLowering::inCta(Value address, Value rank) {
  return NVVM::MapaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 7),
      address, rank);
}

/// Arrives on the barrier of CTA `rank` at the place of `barrier`, in the form
/// without a scope: one with the cluster's waits for all of the thread's
/// writes.
void ChannelLowering::arriveAt(Value barrier, Value rank) {
  NVVM::MBarrierArriveOp::create(builder, loc, Type(), inCta(barrier, rank),
                                 Value());
}

/// One thread arrives at its own CTA, then at the others of the cluster.
void ChannelLowering::arriveInTurn(Value barrier) {
  NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value());
  Value own = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  for (int64_t i = 1; i < clusterSize(); ++i) {
    Value next = arith::AddIOp::create(builder, loc, own, constant(i));
    Value rank =
        arith::AndIOp::create(builder, loc, next, constant(clusterSize() - 1));
    arriveAt(barrier, rank);
  }
}

/// One arrival a warp: the lanes of a warp have run together since their last
/// read, which was a matrix instruction or a warp-wide op.
void ChannelLowering::arriveByWarp(Value barrier, bool inCluster) {
  OpBuilder::InsertionGuard guard(builder);
  if (!singleThread) {
    onlyIf(isLaneZero());
  }
  if (inCluster) {
    arriveInTurn(barrier);
  } else {
    NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value());
  }
}

/// The same at all CTAs of the cluster, by a lane each, in one instruction.
void ChannelLowering::arriveByLanes(Value barrier) {
  OpBuilder::InsertionGuard guard(builder);
  onlyIf(speaksForWarp(/*inCluster=*/true));
  arriveAt(barrier, lane());
}

/// Replaces a slot by that of the cycle, whose user arrives at the barrier at
/// `arrivals` in the end.
void ChannelLowering::enterSlot(Value old, StringRef name, const Cycle &cycle,
                                int64_t arrivals) {
  Value slot = ws::SlotAtOp::create(builder, loc, old.getType(),
                                    tileOffset(name, cycle.slot));
  barrierOf[slot] = barrierAt(arrivals, cycle.slot);
  moveOn(name, channels[name].depth, cycle);
  old.replaceAllUsesWith(slot);
}

void ChannelLowering::lowerAcquire(ws::AcquireOp op) {
  StringRef name = channelOf(op.getSlot());
  const ChannelBarriers &channel = channels[name];
  Cycle cycle = currentCycle(name, channel.depth);
  if (!kernel.lookupSymbol<ws::ChannelOp>(name).getFreeImplied()) {
    // The other parity: the first round of slots is free from the start.
    Value other =
        arith::XOrIOp::create(builder, loc, cycle.parity, constant(1));
    nvx::MbarrierWaitOp::create(
        builder, loc, barrierAt(channel.freeOffset, cycle.slot), other);
  }
  enterSlot(op.getSlot(), name, cycle, channel.fullOffset);
  op.erase();
}

void ChannelLowering::lowerCopy(ws::CopyOp op) {
  auto tile = cast<ws::SlotType>(op.getSlot().getType()).getTile();
  Value barrier = barrierOf.lookup(op.getSlot());
  int64_t bytes = ws::tileBytes(tile);
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, Type(), barrier, constant(bytes), NVVM::MemScopeKind::CTA,
      false, Value());
  op.getBarrierMutable().assign(barrier);
}

void ChannelLowering::lowerPutWork(ws::PutWorkOp op) {
  Value barrier = barrierOf.lookup(op.getSlot());
  builder.setInsertionPointAfter(op);
  NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value());
}

void ChannelLowering::lowerWait(ws::WaitOp op) {
  StringRef name = channelOf(op.getSlot());
  const ChannelBarriers &channel = channels[name];
  Cycle cycle = currentCycle(name, channel.depth);
  nvx::MbarrierWaitOp::create(
      builder, loc, barrierAt(channel.fullOffset, cycle.slot), cycle.parity);
  enterSlot(op.getSlot(), name, cycle, channel.freeOffset);
  op.erase();
}

void ChannelLowering::lowerRelease(ws::ReleaseOp op) {
  StringRef name = channelOf(op.getSlot());
  auto channel = kernel.lookupSymbol<ws::ChannelOp>(name);
  if (!channel.getFreeImplied()) {
    Value barrier = barrierOf.lookup(op.getSlot());
    if (!barrier) {
      // The slot came through a loop: its number follows from its place.
      Value offset = ws::SlotOffsetOp::create(
          builder, loc, builder.getI32Type(), op.getSlot());
      Value bytes = arith::SubIOp::create(builder, loc, offset,
                                          constant(*channel.getOffset()));
      Value slot = arith::DivUIOp::create(builder, loc, bytes,
                                          constant(channel.getSlotBytes()));
      barrier = barrierAt(channels[name].freeOffset, slot);
    }
    if (channel.getCluster() && !singleThread) {
      arriveByLanes(barrier);
    } else {
      arriveByWarp(barrier, channel.getCluster());
    }
  }
  op.erase();
}

void ChannelLowering::lowerTake(ws::TakeOp op) {
  auto turn = kernel.lookupSymbol<ws::TurnOp>(op.getTurn());
  if (replicasOf(turn.getRing()) > 1) {
    Value id = arith::AddIOp::create(builder, loc, op.getReplica(),
                                     constant(namedBarriers[op.getTurn()]));
    Value count = constant(2 * warpThreads * warpsOf(turn.getRing()));
    NVVM::BarrierOp::create(builder, loc, TypeRange{}, id, count, {}, Value());
  }
  op.erase();
}

/// The barrier of the replica after this one, computed once a role.
Value ChannelLowering::nextTurnId(StringRef name, int64_t replicas) {
  Value &id = nextTurn[name];
  if (!id) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&role.getBody().front());
    Value next = arith::AddIOp::create(
        builder, loc, role.getBody().getArgument(0), constant(1));
    Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, constant(replicas));
    next = arith::SelectOp::create(builder, loc, wraps, constant(0), next);
    id = arith::AddIOp::create(builder, loc, next,
                               constant(namedBarriers[name]));
  }
  return id;
}

void ChannelLowering::lowerGive(ws::GiveOp op) {
  auto turn = kernel.lookupSymbol<ws::TurnOp>(op.getTurn());
  int64_t replicas = replicasOf(turn.getRing());
  if (replicas > 1) {
    Value count = constant(2 * warpThreads * warpsOf(turn.getRing()));
    NVVM::BarrierArriveOp::create(builder, loc,
                                  nextTurnId(op.getTurn(), replicas), count);
  }
  op.erase();
}

/// A turn starts at replica 0: it makes the first arrival on its own barrier.
void ChannelLowering::primeTurns(ws::RoleOp role) {
  llvm::SetVector<StringRef> turns;
  role.walk([&](ws::TakeOp op) { turns.insert(op.getTurn()); });
  for (StringRef name : turns) {
    if (role.getReplicas() == 1) {
      continue;
    }
    builder.setInsertionPointToStart(&role.getBody().front());
    loc = role.getLoc();
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              role.getBody().getArgument(0), constant(0));
    onlyIf(first);
    NVVM::BarrierArriveOp::create(builder, loc, constant(namedBarriers[name]),
                                  constant(2 * warpThreads * role.getWarps()));
  }
}

LogicalResult ChannelLowering::lowerOp(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  TypeSwitch<Operation *>(op)
      .Case([&](ws::AcquireOp op) { lowerAcquire(op); })
      .Case([&](ws::CopyOp op) { lowerCopy(op); })
      .Case([&](ws::PutWorkOp op) { lowerPutWork(op); })
      .Case([&](ws::WaitOp op) { lowerWait(op); })
      .Case([&](ws::ReleaseOp op) { lowerRelease(op); })
      .Case([&](ws::TakeOp op) { lowerTake(op); })
      .Case([&](ws::GiveOp op) { lowerGive(op); })
      .Case([&](ws::GiveVerdictOp op) { lowerGiveVerdict(op); })
      .Case([&](ws::TakeVerdictOp op) { lowerTakeVerdict(op); })
      .Case([&](ws::PutOp op) { lowerPut(op); })
      .Case([&](ws::HeldOp op) { lowerHeld(op); })
      .Case([&](ws::StoreOp op) { lowerStore(op); })
      .Case([&](ws::AwaitStoreOp op) { lowerAwaitStore(op); })
      .Case([&](ws::SignalOp op) {
        const EdgeBarrier &edge = edges[op.getEdge()];
        arriveByWarp(barrierAt(edge.offset, {}), edge.cluster);
        op.erase();
      })
      .Case([&](ws::WaitEdgeOp op) {
        Cycle cycle = currentCycle(op.getEdge(), 1);
        Value parity = cycle.parity;
        if (edges[op.getEdge()].credits == 1) {
          parity = arith::XOrIOp::create(builder, loc, parity, constant(1));
        }
        nvx::MbarrierWaitOp::create(
            builder, loc, barrierAt(edges[op.getEdge()].offset, {}), parity);
        moveOn(op.getEdge(), 1, cycle);
        op.erase();
      })
      .Case([&](ws::SyncOp op) {
        auto sync = kernel.lookupSymbol<ws::RendezvousOp>(op.getRendezvous());
        int64_t threads =
            warpThreads * warpsOf(sync.getRing()) * replicasOf(sync.getRing());
        NVVM::BarrierOp::create(builder, loc, TypeRange{},
                                constant(namedBarriers[op.getRendezvous()]),
                                constant(threads), {}, Value());
        op.erase();
      });
  return success();
}

/// Slots travel through loops as the offsets of their tiles.
void ChannelLowering::convertSlots(ws::RoleOp role) {
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

LogicalResult ChannelLowering::lowerRole(ws::RoleOp role) {
  this->role = role;
  singleThread = role.isSingleThread();
  counters.clear();
  barrierOf.clear();
  nextTurn.clear();
  primeTurns(role);
  SmallVector<Operation *> ops;
  role.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (failed(lowerOp(op))) {
      return failure();
    }
  }
  convertSlots(role);
  return success();
}

LogicalResult ChannelLowering::run() {
  if (failed(planBarriers())) {
    return failure();
  }
  countArrivals();
  if (failed(planNamedBarriers())) {
    return failure();
  }
  emitSetup();
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    if (failed(lowerRole(role))) {
      return failure();
    }
  }
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    if (isa<ws::EdgeOp, ws::TurnOp, ws::RendezvousOp>(op)) {
      op.erase();
    }
  }
  kernel.setSmemBytes(barrierEnd);
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
          failed(ChannelLowering(kernel).run()) ||
          failed(checkChannelsLowered(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
