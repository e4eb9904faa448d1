// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verdicts on work items: barriers on which every warp that may reject an item
// arrives, each with a word that is not zero once some warp has rejected it.
// The CTAs of a cluster run an item together and share its verdict.
#include "SyncPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns whether this run may be rejected: not if it is computed with care.
static Value mayReject(const Arithmetic &emit, Value work) {
  Value careful = tile::WithCareOp::create(emit.builder, emit.loc, work);
  Value yes = arith::ConstantIntOp::create(emit.builder, emit.loc, 1, 1);
  return arith::XOrIOp::create(emit.builder, emit.loc, careful, yes);
}

namespace {

/// One lane of each warp, or one for each CTA of the cluster, publishes the
/// warp's decision in the first run, and arrives. If items are handed out, each
/// run is a phase of the barriers. Otherwise only the first run is: the barrier
/// must stay in the phase that a late role waits for.
struct GiveVerdictPattern : SyncPattern<ws::GiveVerdictOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::GiveVerdictOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const VerdictBarriers &verdict = *sync.getPlan().getVerdict();
    Value slot = emit.constant(0), first = mayReject(emit, op.getWork());
    // The first CTA of a cluster reads the verdicts if it hands out items;
    // otherwise every CTA does.
    Value rank = emit.lane();
    Value arrives = emit.speaksForWarp(verdict.cluster && !verdict.handedOut);
    if (verdict.handedOut) {
      slot = ws::VerdictSlotOp::create(rewriter, loc, rewriter.getI32Type(),
                                       op.getWork());
    } else {
      arrives = arith::AndIOp::create(rewriter, loc, first, arrives);
    }
    emit.enterIf(arrives);
    reject(op, emit, first, slot, rank);
    Value barrier = emit.barrierAt(verdict.memory.begin, slot);
    if (verdict.cluster) {
      emit.arriveAt(barrier, rank);
    } else {
      emit.arrive(barrier);
    }
    rewriter.eraseOp(op);
  }

private:
  void reject(ws::GiveVerdictOp op, const BarrierOps &emit, Value first,
              Value slot, Value rank) const {
    const VerdictBarriers &verdict = *sync.getPlan().getVerdict();
    OpBuilder &builder = emit.builder;
    OpBuilder::InsertionGuard guard(builder);
    emit.enterIf(
        arith::AndIOp::create(builder, emit.loc, first, op.getRejected()));
    Value word = emit.verdictWord(verdict, slot);
    LLVM::AtomicRMWOp::create(builder, emit.loc, LLVM::AtomicBinOp::_or,
                              verdict.cluster ? emit.inCta(word, rank) : word,
                              emit.constant(1),
                              LLVM::AtomicOrdering::monotonic);
    if (verdict.cluster) {
      // The arrival orders the word only for threads of this CTA.
      LLVM::FenceOp::create(builder, emit.loc, LLVM::AtomicOrdering::acq_rel,
                            "cluster");
    }
  }
};

/// The only item of a CTA uses the first verdict of the ring, and reads it in
/// its first run.
struct SecondRunPattern : SyncPattern<ws::SecondRunOp> {
  using SyncPattern::SyncPattern;

  void lower(ws::SecondRunOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value second = tile::WithCareOp::create(rewriter, loc, op.getWork());
    auto branch = scf::IfOp::create(rewriter, loc, rewriter.getI1Type(), second,
                                    /*withElseRegion=*/true);
    rewriter.modifyOpInPlace(
        op, [&] { op.getRejectedMutable().assign(branch.getResult(0)); });
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value no = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
    scf::YieldOp::create(rewriter, loc, no);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, takeVerdict(emit));
  }

private:
  Value takeVerdict(const BarrierOps &emit) const {
    const VerdictBarriers &verdict = *sync.getPlan().getVerdict();
    nvx::MbarrierWaitOp::create(emit.builder, emit.loc,
                                emit.barrierAt(verdict.memory.barrier(0), {}),
                                emit.constant(0));
    Value word =
        LLVM::LoadOp::create(emit.builder, emit.loc, emit.builder.getI32Type(),
                             emit.verdictWord(verdict, emit.constant(0)));
    return arith::CmpIOp::create(emit.builder, emit.loc,
                                 arith::CmpIPredicate::ne, word,
                                 emit.constant(0));
  }
};

} // namespace

void codegen::populateVerdictPatterns(RewritePatternSet &patterns,
                                      RoleSync &sync) {
  patterns.add<GiveVerdictPattern, SecondRunPattern>(patterns.getContext(),
                                                     sync);
}
