// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the number of a work item to its place.
#ifndef ATTN_CODEGEN_WORKORDER_H
#define ATTN_CODEGEN_WORKORDER_H

#include "attn/dialect/Tile.h"

namespace attn::codegen {

/// Sizes of the space of work items, i32. A plane is a head of a batch.
struct WorkExtents {
  mlir::Value blocks, heads, batches;
  mlir::Value section; // planes worked through together; null: all

  mlir::Value count(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// Row block, head and batch.
using WorkPlace = std::array<mlir::Value, 3>;

WorkPlace placeOfItem(mlir::OpBuilder &builder, mlir::Location loc,
                      WorkOrder order, mlir::Value item,
                      const WorkExtents &extents);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WORKORDER_H
