// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items of a cluster that are handed out: its first CTA takes them and sends
// each to the mailboxes of the others (BarrierPlan.cpp).
#include "WorkItemLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Value WorkItemLowering::isFirstOfCluster() {
  return arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::eq,
                               rankInCluster(), constant(0));
}

/// Memory of this CTA at `offset`, as CTA `rank` of the cluster has it.
Value WorkItemLowering::inCta(int64_t offset, int64_t rank) {
  auto type = LLVM::LLVMPointerType::get(builder->getContext(), 7);
  return NVVM::MapaOp::create(*builder, loc, type, sharedWord(constant(offset)),
                              constant(rank));
}

void WorkItemLowering::fenceAsyncCopies() {
  MLIRContext *context = builder->getContext();
  NVVM::FenceProxyOp::create(
      *builder, loc,
      NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

/// Once all have read the last item, copies this one from the own mailbox to
/// the others'. What this thread did before, as taking a verdict, comes before
/// what they do with the item: its arrival says so.
void WorkItemLowering::sendItem(ws::MailboxMemory mailbox, Value packed) {
  Value parity = load(sharedWord(constant(mailbox.parity())));
  // The other parity: the first item needs no answer.
  Value other = arith::XOrIOp::create(*builder, loc, parity, constant(1));
  nvx::MbarrierWaitOp::create(*builder, loc,
                              sharedWord(constant(mailbox.wasRead())), other);
  Value own = sharedWord(constant(mailbox.item()));
  LLVM::StoreOp::create(*builder, loc, packed, own, ws::workItemBytes);
  fenceAsyncCopies();
  for (int64_t rank = 1; rank < clusterSize(); ++rank) {
    // Upstream's type of the barrier is that of the own CTA's memory.
    Value barrier = LLVM::PtrToIntOp::create(
        *builder, loc, builder->getI32Type(), inCta(mailbox.hasCome(), rank));
    NVVM::CpAsyncBulkSharedCTAToSharedClusterOp::create(
        *builder, loc, inCta(mailbox.item(), rank), own, sharedPointer(barrier),
        constant(ws::workItemBytes));
    NVVM::MBarrierArriveOp::create(*builder, loc, Type(),
                                   inCta(mailbox.hasCome(), rank), Value());
  }
}

/// Waits for an item, reads it and says so to the CTA that sends them.
Value WorkItemLowering::receiveItem(ws::MailboxMemory mailbox) {
  Value come = sharedWord(constant(mailbox.hasCome()));
  NVVM::MBarrierArriveExpectTxOp::create(
      *builder, loc, Type(), come, constant(ws::workItemBytes),
      NVVM::MemScopeKind::CTA, false, Value());
  nvx::MbarrierWaitOp::create(*builder, loc, come,
                              load(sharedWord(constant(mailbox.parity()))));
  Value packed = LLVM::LoadOp::create(
      *builder, loc, VectorType::get(4, builder->getI32Type()),
      sharedWord(constant(mailbox.item())), ws::workItemBytes);
  fenceAsyncCopies();
  NVVM::MBarrierArriveOp::create(*builder, loc, Type(),
                                 inCta(mailbox.wasRead(), 0), Value());
  return packed;
}

/// The item of this turn: taken and sent, or received; and of that the row
/// block of this CTA.
LogicalResult WorkItemLowering::lowerShareWork(ws::ShareWorkOp op) {
  auto declared = kernel.lookupSymbol<ws::MailboxOp>(op.getMailbox());
  ws::MailboxMemory mailbox = ws::memoryOf(declared);
  auto type = VectorType::get(4, builder->getI32Type());
  auto branch = scf::IfOp::create(*builder, loc, type, isFirstOfCluster(),
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(*builder);
    Block &body = op.getBody().front(), &first = *branch.thenBlock();
    Operation *yield = body.getTerminator();
    Value item = yield->getOperand(0);
    yield->erase();
    first.getOperations().splice(first.end(), body.getOperations());
    if (failed(lowerOps(first.begin(), first.end()))) {
      return failure();
    }
    builder->setInsertionPointToEnd(&first);
    Value packed = packItem(item);
    sendItem(mailbox, packed);
    scf::YieldOp::create(*builder, loc, packed);
    builder->setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(*builder, loc, receiveItem(mailbox));
  }
  unpackItem(op.getWork(), branch.getResult(0), hasVerdict());
  Value &block = works[op.getWork()][0];
  block = add(mul(block, clusterSize()), rankInCluster());
  Value parity = sharedWord(constant(mailbox.parity()));
  Value next = arith::XOrIOp::create(*builder, loc, load(parity), constant(1));
  LLVM::StoreOp::create(*builder, loc, next, parity);
  return success();
}
