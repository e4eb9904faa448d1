// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BarrierOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Value BarrierOps::smem(Value offset) const {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  return ws::SmemOp::create(builder, loc, type, offset);
}

Value BarrierOps::barrierAt(int64_t offset, Value slot) const {
  Value address = constant(offset);
  if (slot) {
    address = add(address, mul(slot, ws::barrierBytes));
  }
  return smem(address);
}

Value BarrierOps::verdictWord(const VerdictBarriers &verdict,
                              Value slot) const {
  Value words = constant(verdict.memory.word(0));
  return smem(add(words, mul(slot, ws::wordBytes)));
}

void BarrierOps::enterIf(Value condition) const {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
}

Value BarrierOps::speaksForWarp(bool inCluster) const {
  if (!inCluster) {
    return isLaneZero();
  }
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane(),
                               constant(ctas));
}

Value BarrierOps::inCta(Value address, Value rank) const {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), 7);
  return NVVM::MapaOp::create(builder, loc, type, address, rank);
}

void BarrierOps::arrive(Value barrier) const {
  NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value());
}

/// Arrives on the barrier of CTA `rank` that corresponds to `barrier`, in the
/// form without a scope: the form with cluster scope waits for all of the
/// thread's writes.
void BarrierOps::arriveAt(Value barrier, Value rank) const {
  arrive(inCta(barrier, rank));
}

/// One thread arrives at its own CTA, then at the others of the cluster.
void BarrierOps::arriveInTurn(Value barrier) const {
  arrive(barrier);
  Value own = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  for (int64_t i = 1; i < ctas; ++i) {
    arriveAt(barrier, bitAnd(add(own, i), ctas - 1));
  }
}

/// Arrives once per warp: the lanes of a warp have run together since their
/// last access, which was a matrix instruction or a warp-wide op.
void BarrierOps::arriveByWarp(Value barrier, bool inCluster,
                              bool isSingleThread) const {
  OpBuilder::InsertionGuard guard(builder);
  if (!isSingleThread) {
    enterIf(isLaneZero());
  }
  if (inCluster) {
    arriveInTurn(barrier);
  } else {
    arrive(barrier);
  }
}

/// Arrives at all CTAs of the cluster, with one lane for each, in one
/// instruction.
void BarrierOps::arriveByLanes(Value barrier) const {
  OpBuilder::InsertionGuard guard(builder);
  enterIf(speaksForWarp(/*inCluster=*/true));
  arriveAt(barrier, lane());
}
