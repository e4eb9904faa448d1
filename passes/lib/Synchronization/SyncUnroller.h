// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls a role's program into its synchronization events, in program order.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H

#include "SyncEvents.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// A work item of a trial: its numbers of masked and of all blocks.
struct SyncItem {
  int64_t masked, total;
};

/// One unrolling, for given work items.
class SyncUnroller {
public:
  /// `later`: CTAs of the cluster whose rows follow those of this one.
  SyncUnroller(const SyncEvents &events, llvm::ArrayRef<SyncItem> items,
               int64_t replica, int64_t later)
      : events(events), items(items), replica(replica), later(later) {}

  mlir::LogicalResult unroll(ws::RoleOp role) {
    return run(role.getBody().front());
  }
  llvm::SmallVector<SyncEvent> take() { return std::move(unrolled); }

private:
  mlir::LogicalResult run(mlir::Block &block);
  mlir::LogicalResult runWork(ws::WorkLoopOp work);
  mlir::LogicalResult checkFetches(ws::WorkLoopOp work, int64_t expected);
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult runBranch(mlir::scf::IfOp branch);
  mlir::FailureOr<int64_t> evaluate(mlir::Value value, mlir::Operation *user);

  const SyncEvents &events;
  llvm::ArrayRef<SyncItem> items;
  int64_t replica, later;
  llvm::SmallVector<SyncEvent> unrolled;
  SyncItem item{0, 0};
  int64_t fetches = 0;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCUNROLLER_H
