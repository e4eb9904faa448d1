// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verdicts on work items: barriers on which every warp that may reject an item
// arrives, each with a word that is not zero once some warp has done so. The
// CTAs of a cluster run an item together, so that a verdict is that of all.
#include "ChannelLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using ws::barrierBytes;

/// Reads where the verdict and the mailbox are, which lie behind the barriers
/// that end at `offset`.
LogicalResult ChannelLowering::planItems(int64_t offset) {
  barrierEnd = offset;
  auto place = [&](auto op, int64_t bytes) -> FailureOr<int64_t> {
    int64_t begin = op.getOffset().value_or(-1);
    if (begin < barrierEnd) {
      return op.emitOpError("attn-lower-channels: expected a place behind the "
                            "barriers, from byte ")
             << barrierEnd << " on, got " << begin;
    }
    barrierEnd = begin + bytes;
    return begin;
  };
  for (auto op : kernel.getBody().getOps<ws::VerdictOp>()) {
    FailureOr<int64_t> begin = place(op, ws::verdictBytes);
    if (failed(begin)) {
      return failure();
    }
    verdict = VerdictBarriers{*begin, op.getHandedOut(), op.getCluster()};
  }
  for (auto op : kernel.getBody().getOps<ws::MailboxOp>()) {
    FailureOr<int64_t> begin = place(op, ws::mailboxBytes);
    if (failed(begin)) {
      return failure();
    }
    mailbox = *begin;
  }
  return success();
}

/// Not zero where the item of this slot was rejected.
Value ChannelLowering::verdictWord(Value slot) {
  Value words = constant(verdict->offset + ws::verdictRing * barrierBytes);
  Value bytes = arith::MulIOp::create(builder, loc, slot, constant(4));
  Value address = arith::AddIOp::create(builder, loc, words, bytes);
  return ws::SmemOp::create(builder, loc, sharedPtr(), address);
}

void ChannelLowering::emitVerdictSetup() {
  if (!verdict) {
    return;
  }
  for (int64_t slot = 0; slot < ws::verdictRing; ++slot) {
    NVVM::MBarrierInitOp::create(
        builder, loc, barrierAt(verdict->offset + slot * barrierBytes, {}),
        constant(verdict->count), Value());
  }
  // The words of the role that hands out items follow those of the verdicts.
  for (int64_t word = 0; word < ws::verdictRing + ws::handOutWords; ++word) {
    LLVM::StoreOp::create(builder, loc, constant(0),
                          verdictWord(constant(word)));
  }
}

Value ChannelLowering::isFirstRun(Value work) {
  Value redo = tile::IsRedoOp::create(builder, loc, work);
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  return arith::XOrIOp::create(builder, loc, redo, yes);
}

/// One lane of each warp, or one for each CTA of the cluster, says what its
/// warp found the first time, and arrives. Where items are handed out each run
/// is a turn of the barriers. Else the first alone is: the barrier has to stay
/// in the phase that a late role waits for.
void ChannelLowering::lowerGiveVerdict(ws::GiveVerdictOp op) {
  OpBuilder::InsertionGuard guard(builder);
  Value slot = constant(0), first = isFirstRun(op.getWork());
  // The first CTA of a cluster hands out; without that each has to know.
  Value rank = lane();
  Value arrives = speaksForWarp(verdict->cluster && !verdict->handedOut);
  if (verdict->handedOut) {
    slot = ws::VerdictSlotOp::create(builder, loc, builder.getI32Type(),
                                     op.getWork());
  } else {
    arrives = arith::AndIOp::create(builder, loc, first, arrives);
  }
  onlyIf(arrives);
  {
    OpBuilder::InsertionGuard inner(builder);
    onlyIf(arith::AndIOp::create(builder, loc, first, op.getRejected()));
    Value word = verdictWord(slot);
    LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::_or,
                              verdict->cluster ? inCta(word, rank) : word,
                              constant(1), LLVM::AtomicOrdering::monotonic);
    if (verdict->cluster) {
      // The arrival orders it for threads of this CTA alone.
      LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel,
                            "cluster");
    }
  }
  Value barrier = barrierAt(verdict->offset, slot);
  if (verdict->cluster) {
    arriveAt(barrier, rank);
  } else {
    NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value());
  }
  op.erase();
}

/// The one item of a CTA has the first verdict of the ring.
void ChannelLowering::lowerTakeVerdict(ws::TakeVerdictOp op) {
  nvx::MbarrierWaitOp::create(builder, loc, barrierAt(verdict->offset, {}),
                              constant(0));
  Value word = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                    verdictWord(constant(0)));
  Value rejected = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         word, constant(0));
  op.replaceAllUsesWith(rejected);
  op.erase();
}

/// The work item of the turn in which `op` runs.
static Value workOf(Operation *op) {
  auto loop = op->getParentOfType<ws::WorkLoopOp>();
  for (Operation &each : loop.getBody().front()) {
    if (isa<tile::NextWorkOp, ws::GetWorkOp, ws::ItemAtOp, ws::ShareWorkOp>(
            each)) {
      return each.getResult(0);
    }
  }
  return {};
}

/// The item's first results are written before the second are, by one thread.
void ChannelLowering::awaitFirstResults(ws::StoreOp op) {
  if (!verdict) {
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  onlyIf(tile::IsRedoOp::create(builder, loc, workOf(op)));
  NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, 0, UnitAttr());
}
