// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of a tile that the queries of a kernel take, as far as they are
// known before a launch.
#ifndef ATTN_DIALECT_QUERYROWS_H
#define ATTN_DIALECT_QUERYROWS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// The facts about the queries of a kernel: its attributes, and the types of
/// its arguments.
struct QueryRows {
  ArgumentsAttr args;
  mlir::TypeRange types;
  ProblemAttr problem;
  ConfigAttr config;

  template <typename KernelOp> static QueryRows of(KernelOp kernel) {
    return {kernel.getArgs(), kernel.getBody().getArgumentTypes(),
            kernel.getProblem(), kernel.getConfig()};
  }

  /// Returns how many rows of a tile have queries: all, unless the number of
  /// queries is static and all of them are in one tile.
  int64_t inTile() const;
  /// Whether one work item of a forward kernel has all queries of a head of K
  /// and V, so that no other one reads it.
  bool areInOneItem() const;

private:
  /// Returns a size of an argument; none if it is not static.
  std::optional<int64_t> sizeOf(ArgumentRole role, bool ofHeads) const;
  /// Returns the rows of all queries of a head; none if it is not static.
  std::optional<int64_t> ofHead() const;
};

} // namespace attn

#endif // ATTN_DIALECT_QUERYROWS_H
