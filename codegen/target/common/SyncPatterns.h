// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers channels, edges, turns, rendezvous, holds and verdicts to barriers,
// with one pattern for each op, for one role at a time. These are the same on
// all chips; Target.h has the ways in which chips signal that products are
// complete.
#ifndef ATTN_CODEGEN_SYNCPATTERNS_H
#define ATTN_CODEGEN_SYNCPATTERNS_H

#include "BarrierOps.h"
#include "RingCounters.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/dialect/Nvx.h"

namespace attn::codegen {

class Target;

/// Shared by the patterns of a role.
class RoleSync {
public:
  /// Inserts the counters of the role's rings, and the ids of its turns, at its
  /// begin.
  RoleSync(ws::KernelOp kernel, ws::RoleOp role, const BarrierPlan &plan);

  ws::KernelOp getKernel() const { return kernel; }
  ws::RoleOp getRole() const { return role; }
  const BarrierPlan &getPlan() const { return plan; }
  const RingCounters &getCounters() const { return counters; }
  bool isSingleThread() const { return singleThread; }
  BarrierOps at(mlir::OpBuilder &builder, mlir::Location loc) const {
    return {{builder, loc}, clusterOf(getKernel())};
  }
  int64_t replicasOf(llvm::StringRef name) const {
    return getKernel().lookupSymbol<ws::RoleOp>(name).getReplicas();
  }
  /// Threads of one replica.
  int64_t threadsOf(llvm::StringRef name) const {
    return warpThreads * getKernel().lookupSymbol<ws::RoleOp>(name).getWarps();
  }
  /// Returns the barrier on which the user of a slot finally arrives; null
  /// outside the block that waits for the slot.
  mlir::Value arrivalOf(mlir::Value slot) const {
    return arrivals.lookup(slot);
  }
  void setArrival(mlir::Value slot, mlir::Value barrier) {
    arrivals[slot] = barrier;
  }
  /// Returns the number of the last slot of a channel that was acquired or
  /// waited for before the op that is lowered now.
  mlir::Value lastSlot(llvm::StringRef channel) const {
    return lastSlots.lookup(channel);
  }
  void setLastSlot(llvm::StringRef channel, mlir::Value number) {
    lastSlots[channel] = number;
  }
  /// The id of the barrier of the next replica in a turn.
  mlir::Value nextTurn(llvm::StringRef turn) const {
    return nextTurns.lookup(turn);
  }

private:
  ws::KernelOp kernel;
  ws::RoleOp role;
  const BarrierPlan &plan;
  bool singleThread;
  RingCounters counters;
  llvm::StringMap<mlir::Value> nextTurns, lastSlots;
  llvm::DenseMap<mlir::Value, mlir::Value> arrivals;
};

/// Gives replica 0 the turn: makes the first arrival on its barrier.
void primeTurns(ws::RoleOp role, const BarrierPlan &plan);

/// A pattern for an op of the role, which always matches. A chip's pattern that
/// takes precedence over a common one has a higher benefit; one that leaves
/// some ops to the common one is a separate OpRewritePattern.
template <typename Op> struct SyncPattern : mlir::OpRewritePattern<Op> {
  SyncPattern(mlir::MLIRContext *context, RoleSync &sync,
              mlir::PatternBenefit benefit = 1)
      : mlir::OpRewritePattern<Op>(context, benefit), sync(sync) {}

  mlir::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const final {
    lower(op, sync.at(rewriter, op.getLoc()), rewriter);
    return mlir::success();
  }

protected:
  /// `emit` emits at `rewriter`: before the op.
  virtual void lower(Op op, const BarrierOps &emit,
                     mlir::PatternRewriter &rewriter) const = 0;

  RoleSync &sync;
};

void populateChannelPatterns(mlir::RewritePatternSet &patterns, RoleSync &sync);
void populateTurnPatterns(mlir::RewritePatternSet &patterns, RoleSync &sync);
void populateHoldPatterns(mlir::RewritePatternSet &patterns, RoleSync &sync);
void populateVerdictPatterns(mlir::RewritePatternSet &patterns, RoleSync &sync);

/// Emits a meeting of all threads of this replica.
void roleBarrier(const Arithmetic &emit, const RoleSync &sync);

/// Makes this thread's writes to shared memory visible to copies and products.
void fenceAsyncProxy(const Arithmetic &emit);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_SYNCPATTERNS_H
