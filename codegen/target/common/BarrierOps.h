// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrivals on barriers, and the threads that make them.
#ifndef ATTN_CODEGEN_BARRIEROPS_H
#define ATTN_CODEGEN_BARRIEROPS_H

#include "Arithmetic.h"
#include "BarrierPlan.h"

namespace attn::codegen {

/// Emits at the insertion point of its builder.
struct BarrierOps : Arithmetic {
  /// CTAs of a cluster.
  int64_t ctas = 1;

  /// Returns the address of a byte of shared memory.
  mlir::Value smem(mlir::Value offset) const;
  /// Returns the barrier of `slot` in the ring at `offset`, or its first
  /// barrier.
  mlir::Value barrierAt(int64_t offset, mlir::Value slot) const;
  /// Returns a value that is not zero if the item of this slot was rejected.
  mlir::Value verdictWord(const VerdictBarriers &verdict,
                          mlir::Value slot) const;

  /// Continues in a branch that runs if `condition` holds.
  void enterIf(mlir::Value condition) const;
  mlir::Value isLaneZero() const { return isEqual(lane(), 0); }
  /// Returns whether this lane arrives: one lane of each warp, or one for each
  /// CTA of the cluster.
  mlir::Value speaksForWarp(bool inCluster) const;

  /// Returns the address in CTA `rank` of the cluster that corresponds to
  /// `address`.
  mlir::Value inCta(mlir::Value address, mlir::Value rank) const;
  void arrive(mlir::Value barrier) const;
  void arriveAt(mlir::Value barrier, mlir::Value rank) const;
  void arriveInTurn(mlir::Value barrier) const;
  void arriveByWarp(mlir::Value barrier, bool inCluster,
                    bool isSingleThread) const;
  void arriveByLanes(mlir::Value barrier) const;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_BARRIEROPS_H
