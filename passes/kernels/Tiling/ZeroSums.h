// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The zeros to which shares of dQ are added, and the first turns of those who
// add, in a kernel whose work items are blocks of rows.
#ifndef ATTN_PASSES_KERNELS_TILING_ZEROSUMS_H
#define ATTN_PASSES_KERNELS_TILING_ZEROSUMS_H

#include "RowsWriter.h"

namespace attn {

/// The sizes of sums of dQ, in the order of batches, heads, rows and columns.
std::array<llvm::StringRef, 4> dimsOfSums();

/// Writes the arguments and steps of such a kernel.
class ZeroSums {
public:
  /// `sums` and `turns` are results of the op of the kernel, or null.
  ZeroSums(RowsWriter &w, mlir::Value sums, mlir::Value turns)
      : w(w), sums(sums), turns(turns) {}

  /// Adds the arguments of the kernel that it writes.
  void addArguments();
  /// Writes the steps st_zero and st_turns. Each is empty without its result.
  void writeSteps(mlir::Value work);

  mlir::Value sumsArgument, turnsArgument; // null without the result

private:
  /// Writes a step, which does nothing if `store` is null.
  void writeStep(llvm::StringRef name, mlir::Value work,
                 llvm::function_ref<void(RowsWriter::Place)> store);

  RowsWriter &w;
  mlir::Value sums, turns;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_ZEROSUMS_H
