// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items that are handed out in a cluster: its first CTA takes them and sends
// each to the mailboxes of the others.
#include "SyncPatterns.h"
#include "WorkItems.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the address of memory of this CTA at `offset`, in CTA `rank` of the
/// cluster.
static Value inCta(const ItemOps &emit, int64_t offset, int64_t rank) {
  BarrierOps barriers{{emit.builder, emit.loc}};
  return barriers.inCta(emit.shared(offset), emit.constant(rank));
}

/// After all CTAs have read the last item, copies this one from the own mailbox
/// to the others'. The arrival orders earlier actions of this thread, such as
/// reading a verdict, before the others' use of the item.
static void sendItem(const ItemOps &emit, ws::MailboxMemory mailbox,
                     Value packed) {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  Value parity = emit.load(emit.shared(mailbox.parity()));
  // The opposite parity: the first item needs no reply.
  Value other = arith::XOrIOp::create(builder, loc, parity, emit.constant(1));
  nvx::MbarrierWaitOp::create(builder, loc, emit.shared(mailbox.wasRead()),
                              other);
  Value own = emit.shared(mailbox.item());
  LLVM::StoreOp::create(builder, loc, packed, own, ws::workItemBytes);
  fenceAsyncProxy(emit);
  for (int64_t rank = 1; rank < clusterOf(emit.items.kernel); ++rank) {
    // Upstream's type for the barrier is that of the CTA's own memory.
    Value barrier =
        LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                 inCta(emit, mailbox.hasCome(), rank));
    NVVM::CpAsyncBulkSharedCTAToSharedClusterOp::create(
        builder, loc, inCta(emit, mailbox.item(), rank), own,
        sharedPointer(builder, loc, barrier), emit.constant(ws::workItemBytes));
    NVVM::MBarrierArriveOp::create(
        builder, loc, Type(), inCta(emit, mailbox.hasCome(), rank), Value());
  }
}

/// Waits for an item, reads it and acknowledges it to the CTA that sent it.
static Value receiveItem(const ItemOps &emit, ws::MailboxMemory mailbox) {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  Value come = emit.shared(mailbox.hasCome());
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, Type(), come, emit.constant(ws::workItemBytes),
      NVVM::MemScopeKind::CTA, false, Value());
  nvx::MbarrierWaitOp::create(builder, loc, come,
                              emit.load(emit.shared(mailbox.parity())));
  Value packed = LLVM::LoadOp::create(
      builder, loc, VectorType::get(4, builder.getI32Type()),
      emit.shared(mailbox.item()), ws::workItemBytes);
  fenceAsyncProxy(emit);
  NVVM::MBarrierArriveOp::create(builder, loc, Type(),
                                 inCta(emit, mailbox.wasRead(), 0), Value());
  return packed;
}

namespace {

/// Produces the item of this iteration: taken and sent (SharedItemPattern), or
/// received; with the row block of this CTA.
struct ShareWorkPattern : ItemPattern<ws::ShareWorkOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::ShareWorkOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    ws::MailboxMemory mailbox = ws::memoryOf(items.mailbox());
    auto type = VectorType::get(4, rewriter.getI32Type());
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), type,
                                    emit.isFirstCta(), /*withElseRegion=*/true);
    Block *first = branch.thenBlock();
    first->getOperations().splice(first->end(),
                                  op.getBody().front().getOperations());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(rewriter, op.getLoc(), receiveItem(emit, mailbox));
    }
    RoleItem item = unpackItem(emit, branch.getResult(0));
    moveToOwnBlock(emit, item.coords);
    items.items[op.getWork()] = item;
    Value parity = emit.shared(mailbox.parity());
    Value next = arith::XOrIOp::create(rewriter, op.getLoc(), emit.load(parity),
                                       emit.constant(1));
    LLVM::StoreOp::create(rewriter, op.getLoc(), next, parity);
    return items.done(op);
  }
};

/// The item that the first CTA has taken.
struct SharedItemPattern : ItemPattern<ws::YieldOp> {
  using ItemPattern::ItemPattern;

  LogicalResult matchAndRewrite(ws::YieldOp op,
                                PatternRewriter &rewriter) const override {
    ItemOps emit = at(rewriter, op.getLoc());
    Value packed = packItem(emit, items.items[op.getOperand(0)]);
    sendItem(emit, ws::memoryOf(items.mailbox()), packed);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, packed);
    return success();
  }
};

} // namespace

void codegen::populateMailboxPatterns(RewritePatternSet &patterns,
                                      RoleItems &items) {
  patterns.add<ShareWorkPattern, SharedItemPattern>(patterns.getContext(),
                                                    items);
}
