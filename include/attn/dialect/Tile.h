// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tile` dialect: types, attributes and ops.
#ifndef ATTN_DIALECT_TILE_H
#define ATTN_DIALECT_TILE_H

#include "attn/dialect/Attn.h"
#include "attn/dialect/TileDialect.h.inc"
#include "attn/dialect/TileEnums.h.inc"
#include "attn/support/mlir_pch.h"

namespace attn::tile {
/// The work items of a launch, and the verdicts on them.
struct WorkItemsResource
    : mlir::SideEffects::Resource::Base<WorkItemsResource> {
  llvm::StringRef getName() final { return "tile.work_items"; }
};
} // namespace attn::tile

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/dialect/TileOps.h.inc"

namespace attn::tile {
/// Returns the type of a value that is read from memory as `element`: f32 for
/// 16-bit floats, signless for integers.
mlir::Type gatheredType(mlir::Type element);
/// Checks the number and the direction of a loop's bounds.
llvm::LogicalResult verifyRanges(mlir::Operation *loop, RangesAttr ranges,
                                 mlir::ValueRange bounds);
/// Returns the type of a step's result in one sub-tile's memory: the type of
/// the rows that a sub-tile gives if the step shares a tile, otherwise the
/// result's own type.
mlir::RankedTensorType pieceTypeOf(mlir::Value result);

} // namespace attn::tile

#endif // ATTN_DIALECT_TILE_H
