// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds have no barriers in memory. Their accesses are ordered by the waits of
// the replica itself, by a named barrier if its warps must meet, and by an edge
// if another role stores the hold.
#include "HoldPatterns.h"
#include "SharedMemory.h"
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {
/// Shared memory of a channel or hold: its first byte and its end.
struct Extent {
  int64_t begin, end;

  bool overlaps(Extent other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

static Extent extentOf(ws::KernelOp kernel, StringRef name) {
  Operation *place = kernel.lookupSymbol(name);
  auto extent = [](auto op) -> Extent {
    int64_t begin = *op.getOffset();
    return {begin, begin + op.getBytes()};
  };
  auto hold = dyn_cast<ws::HoldOp>(place);
  return hold ? extent(hold) : extent(cast<ws::ChannelOp>(place));
}

bool codegen::readsPlace(ws::MmaOp mma, function_ref<bool(StringRef)> isPlace) {
  return llvm::any_of(ValueRange{mma.getA(), mma.getB()}, [&](Value operand) {
    auto slot = dyn_cast<ws::SlotType>(operand.getType());
    return slot && isPlace(slot.getChannel().getValue());
  });
}

Value codegen::operandOfAllPieces(ws::MmaOp mma) {
  auto kernel = mma->getParentOfType<ws::KernelOp>();
  for (Value operand : {mma.getA(), Value(mma.getB())}) {
    auto slot = dyn_cast<ws::SlotType>(operand.getType());
    if (slot && mma.getTransposeA() &&
        kernel.lookupSymbol<ws::HoldOp>(slot.getChannel())) {
      return operand;
    }
  }
  return {};
}

bool codegen::overlaps(ws::PutOp put, StringRef place) {
  auto kernel = put->getParentOfType<ws::KernelOp>();
  return extentOf(kernel, place).overlaps(extentOf(kernel, put.getHold()));
}

bool codegen::overwritesOperand(ws::PutOp put, ws::MmaOp mma) {
  return readsPlace(mma, [&](StringRef place) { return overlaps(put, place); });
}

static void meetInWarp(const Arithmetic &emit) {
  NVVM::SyncWarpOp::create(emit.builder, emit.loc, emit.constant(-1));
}

/// Whether this thread is the first of its replica.
static Value isFirstThread(const Arithmetic &emit, const RoleSync &sync) {
  return emit.isFirstOf(warpThreads * sync.getRole().getWarps());
}

namespace {

struct HeldPattern : SyncPattern<ws::HeldOp> {
  using SyncPattern::SyncPattern;

  /// Returns the slot of the last put.
  Value lastSlot(const Arithmetic &emit, ws::HoldOp hold) const {
    int64_t depth = hold.getDepth();
    Value next =
        sync.getCounters().currentCycle(emit, hold.getSymName(), depth).slot;
    return arith::SelectOp::create(
        emit.builder, emit.loc, emit.isEqual(next, 0), emit.constant(depth - 1),
        emit.sub(next, emit.constant(1)));
  }

  void lower(ws::HeldOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    auto hold = sync.getKernel().lookupSymbol<ws::HoldOp>(op.getHold());
    Value first = emit.constant(*hold.getOffset());
    if (op.getPiece()) {
      first = pieceOffset(emit, hold, op.getPiece());
    } else if (hold.getDepth() > 1) {
      first =
          emit.add(first, emit.mul(lastSlot(emit, hold), hold.getSlotBytes()));
    }
    rewriter.replaceOpWithNewOp<ws::SlotAtOp>(op, op.getTile().getType(),
                                              first);
  }
};

/// Stores of the item's first run to the same rows may still be in flight.
static void awaitFirstRun(const BarrierOps &emit, ws::StoreOp op,
                          PatternRewriter &rewriter) {
  if (!op.getFirstRun()) {
    return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  emit.enterIf(tile::WithCareOp::create(rewriter, emit.loc, op.getFirstRun()));
  NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, emit.loc, 0, UnitAttr());
  rewriter.modifyOpInPlace(op, [&] { op.getFirstRunMutable().clear(); });
}

/// Every thread has made its share visible to the copy engine; one thread
/// issues the store. If a role of one thread stores a tile that another role
/// has put, the other role did that before it signaled.
struct StorePattern : SyncPattern<ws::StoreOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::StoreOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    if (sync.isSingleThread()) {
      awaitFirstRun(emit, op, rewriter);
      return;
    }
    fenceAsyncProxy(emit);
    roleBarrier(emit, sync);
    emit.enterIf(isFirstThread(emit, sync));
    awaitFirstRun(emit, op, rewriter);
    rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                          rewriter.getInsertionPoint());
  }
};

/// Every lane has made its share visible to the copy engine; one of them issues
/// the addition of the warp's rows. What another role has put, a role of one
/// thread adds as it stores.
struct ReduceAddPattern : SyncPattern<ws::ReduceAddOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::ReduceAddOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    if (sync.isSingleThread()) {
      return;
    }
    fenceAsyncProxy(emit);
    meetInWarp(emit);
    emit.enterIf(emit.isFirstOf(warpThreads));
    rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                          rewriter.getInsertionPoint());
  }
};

struct AwaitStorePattern : SyncPattern<ws::AwaitStoreOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::AwaitStoreOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    {
      OpBuilder::InsertionGuard guard(rewriter);
      if (op.getOfWarp()) {
        emit.enterIf(emit.isFirstOf(warpThreads));
      } else if (!sync.isSingleThread()) {
        emit.enterIf(isFirstThread(emit, sync));
      }
      NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, op.getLoc(), 0,
                                           rewriter.getUnitAttr());
    }
    if (op.getOfWarp()) {
      meetInWarp(emit);
    } else if (!sync.isSingleThread()) {
      roleBarrier(emit, sync);
    }
    rewriter.eraseOp(op);
  }
};

} // namespace

void codegen::populateHoldPatterns(RewritePatternSet &patterns,
                                   RoleSync &sync) {
  patterns.add<HeldPattern, StorePattern, ReduceAddPattern, AwaitStorePattern>(
      patterns.getContext(), sync);
}
