// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the number of a work item to its coordinates.
#ifndef ATTN_CODEGEN_WORKORDER_H
#define ATTN_CODEGEN_WORKORDER_H

#include "Divisor.h"
#include "attn/dialect/Tile.h"

namespace attn::codegen {

/// The extents of the work items, i32. A plane is a head of a batch.
struct WorkExtents {
  mlir::Value blocks, heads, batches;
  mlir::Value section; // planes worked through together, or as the last ones;
                       // null: all

  mlir::Value count(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// The coordinates of an item: row block, head and batch.
using WorkCoords = std::array<mlir::Value, 3>;

/// Computes the coordinates of items from their numbers.
class WorkNumbering {
public:
  WorkNumbering() = default;
  /// `manyItems`: more than one item is looked up, so that common values are
  /// computed here, at `builder`.
  WorkNumbering(mlir::OpBuilder &builder, mlir::Location loc, WorkOrder order,
                bool startsAtFirstBlock, const WorkExtents &extents,
                bool manyItems);

  WorkCoords coordsOf(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value item) const;

private:
  /// A plane and a row block.
  using Place = std::pair<mlir::Value, mlir::Value>;

  /// Whether all planes come one by one, from their first row block on.
  bool isLinear() const {
    return order == WorkOrder::Linear && !extents.section;
  }
  Place placeOf(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Value item) const;
  Place placeInSections(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value item) const;
  Place placeWithLastSection(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value item) const;
  mlir::Value blockAfter(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value others) const;
  Divisor widthFrom(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value firstPlane) const;

  WorkOrder order = WorkOrder::Linear;
  bool startsAtFirstBlock = true;
  WorkExtents extents;
  bool manyItems = false;
  mlir::Value planes;
  Divisor blocks, heads;
  /// For an order with sections: the number of items of a section, of its
  /// planes, and, with many items, of the planes of the last section, which may
  /// be narrower. Without sections `wide` is all planes.
  Divisor items, wide, narrow;
  /// For `shortest_last`: the first plane and item of the last section, of
  /// `wide` planes. `items` and `narrow` are not set.
  mlir::Value firstLastPlane, firstLastItem;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WORKORDER_H
