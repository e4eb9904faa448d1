// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrivals on barriers, and who makes them.
#ifndef ATTN_CODEGEN_BARRIEROPS_H
#define ATTN_CODEGEN_BARRIEROPS_H

#include "Arithmetic.h"
#include "BarrierPlan.h"

namespace attn::codegen {

/// Emits where its builder stands.
struct BarrierOps : Arithmetic {
  /// CTAs of a cluster.
  int64_t ctas = 1;

  /// A byte of shared memory.
  mlir::Value smem(mlir::Value offset) const;
  /// The barrier of a ring that begins at `offset`; without `slot`, its first.
  mlir::Value barrierAt(int64_t offset, mlir::Value slot) const;
  /// Not zero where the item of this slot was rejected.
  mlir::Value verdictWord(const VerdictBarriers &verdict,
                          mlir::Value slot) const;

  /// Goes on where `condition` holds.
  void enterIf(mlir::Value condition) const;
  mlir::Value isLaneZero() const { return isEqual(lane(), 0); }
  /// One lane of each warp, or one for each CTA of the cluster.
  mlir::Value speaksForWarp(bool inCluster) const;

  /// Where `address` lies in the shared memory of CTA `rank` of the cluster.
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
