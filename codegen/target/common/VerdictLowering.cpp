// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verdicts on work items: barriers on which every warp that may reject an item
// arrives, each with a word that is not zero once some warp has done so. The
// CTAs of a cluster run an item together, so that a verdict is that of all.
#include "ChannelLowering.h"
#include "attn/dialect/ItemMemory.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using ws::barrierBytes;

/// Places the verdicts and the mailbox, if there are any; returns the first
/// byte after them.
int64_t ChannelLowering::planItems(int64_t offset) {
  auto redo = kernel.walk([](ws::WorkLoopOp loop) {
    return loop.getRedo() ? WalkResult::interrupt() : WalkResult::advance();
  });
  ws::ItemMemory memory(offset, kernel.getConfig(), redo.wasInterrupted());
  if (memory.verdicts) {
    verdict = EdgeBarrier{*memory.verdicts, 0, clusterSize() > 1};
  }
  mailbox = memory.mailbox;
  return memory.end;
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
void ChannelLowering::lowerReject(tile::RejectOp op) {
  OpBuilder::InsertionGuard guard(builder);
  Value slot = constant(0), first = isFirstRun(op.getWork());
  // The first CTA of a cluster hands out; without that each has to know.
  Value rank = lane();
  Value arrives = speaksForWarp(verdict->cluster && !isHandedOut());
  if (isHandedOut()) {
    slot = ws::VerdictSlotOp::create(builder, loc, builder.getI32Type(),
                                     op.getWork());
  } else {
    arrives = arith::AndIOp::create(builder, loc, first, arrives);
  }
  onlyIf(arrives);
  {
    OpBuilder::InsertionGuard inner(builder);
    onlyIf(arith::AndIOp::create(builder, loc, first, op.getFailed()));
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

/// Where items are handed out, the role that does so asks for the verdicts.
/// Else all roles agree, at the end of an item that is computed for the first
/// time, on whether to run it again.
void ChannelLowering::emitVerdict(ws::WorkLoopOp loop) {
  if (isHandedOut()) {
    loop.setVerdicts(verdict->offset);
    return;
  }
  auto next = *loop.getBody().getOps<tile::NextWorkOp>().begin();
  builder.setInsertionPointToEnd(&loop.getBody().front());
  loc = loop.getLoc();
  Value redo =
      tile::IsRedoOp::create(builder, loc, builder.getI1Type(), next.getWork());
  auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(), redo,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
    scf::YieldOp::create(builder, loc, no);
    builder.setInsertionPointToStart(branch.elseBlock());
    nvx::MbarrierWaitOp::create(builder, loc, barrierAt(verdict->offset, {}),
                                constant(0));
    Value word = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                      verdictWord(constant(0)));
    Value again = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        word, constant(0));
    scf::YieldOp::create(builder, loc, again);
  }
  ws::RunAgainOp::create(builder, loc, branch.getResult(0));
}

/// The work item of the turn in which `op` runs.
static Value workOf(Operation *op) {
  auto loop = op->getParentOfType<ws::WorkLoopOp>();
  for (Operation &each : loop.getBody().front()) {
    if (isa<tile::NextWorkOp, ws::GetWorkOp>(each)) {
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
