// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V28: every work item writes all rows of its results. How many they are
// follows from the rows themselves: those of one item end where those of the
// next row block begin.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_WRITTENROWS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_WRITTENROWS_H

#include "SyncRun.h"
#include <map>

namespace attn {

class WrittenRows {
public:
  /// `tile` was written to `dest`, or added to it, from `row` on, which is
  /// `first` for this item.
  void note(mlir::Value dest, mlir::Value row, mlir::RankedTensorType tile,
            int item, int64_t first);

  /// After all agents of a trial.
  mlir::LogicalResult check(ws::KernelOp kernel,
                            llvm::ArrayRef<SyncItem> items) const;

private:
  /// Of one tensor and item.
  struct Rows {
    std::map<int64_t, int64_t> written; // from first to past the last
    /// How far the rows of the next row block, and of the next turn of a loop,
    /// lie from these.
    int64_t ofItem = 0, ofTurn = 0;
  };
  static mlir::LogicalResult
  checkRows(const Rows &rows, ArgumentAttr argument, int64_t blocks,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

  std::map<std::pair<void *, int>, Rows> all;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_WRITTENROWS_H
