// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the number of a work item to its place.
#ifndef ATTN_CODEGEN_WORKORDER_H
#define ATTN_CODEGEN_WORKORDER_H

#include "Divisor.h"
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

/// What the places of all items are computed from.
class ItemPlaces {
public:
  ItemPlaces() = default;
  /// `manyItems`: more than one item is looked up, so that what is the same for
  /// all of them is computed here, where `builder` stands.
  ItemPlaces(mlir::OpBuilder &builder, mlir::Location loc, WorkOrder order,
             const WorkExtents &extents, bool manyItems);

  WorkPlace of(mlir::OpBuilder &builder, mlir::Location loc,
               mlir::Value item) const;

private:
  Divisor widthFrom(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value firstPlane) const;

  WorkOrder order = WorkOrder::Linear;
  WorkExtents extents;
  bool manyItems = false;
  mlir::Value planes;
  Divisor blocks, heads;
  /// Of an order with sections: items of a section, planes of one and, with
  /// many items, of the last, which may be narrower. Without sections `wide` is
  /// all planes.
  Divisor items, wide, narrow;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WORKORDER_H
