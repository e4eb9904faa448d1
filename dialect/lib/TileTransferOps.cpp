// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the tile ops that move rows and partial results.
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/Tile.h"

using namespace mlir;
using namespace attn::tile;

/// C1 to C3 of `tile.load`, for a tile written to `dest`.
static LogicalResult verifyWrite(Operation *op, Type tileType, Type destType,
                                 AffineMap map) {
  auto tile = cast<RankedTensorType>(tileType);
  auto dest = cast<RankedTensorType>(destType);
  if (dest.getRank() != 4 || dest.isDynamicDim(3)) {
    return op->emitOpError("expected 'dest' to have rank 4 and a static last "
                           "dimension, got ")
           << dest;
  }
  if (!attn::AccessMap::parse(map)) {
    return op->emitOpError("expected 'map' to be a permutation of 4 dimensions "
                           "that keeps the last, got ")
           << AffineMapAttr::get(map);
  }
  if (tile.getRank() != 2 || tile.getElementType() != dest.getElementType() ||
      tile.getDimSize(1) != dest.getDimSize(3)) {
    return op->emitOpError("expected 'tile' to have rank 2 and the element "
                           "type and last dimension of 'dest', got ")
           << tile << " and " << dest;
  }
  return success();
}

LogicalResult LoadRowOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto tile = cast<RankedTensorType>(getTile().getType());
  if (source.getRank() != 3 || tile.getRank() != 1 ||
      source.getElementType() != tile.getElementType()) {
    return emitOpError("expected a result of rank 1 and a 'source' of rank 3 "
                       "with its element type, got ")
           << tile << " and " << source;
  }
  return success();
}

LogicalResult ReduceAddOp::verify() {
  Type element = cast<RankedTensorType>(getTile().getType()).getElementType();
  if (!element.isF32()) {
    return emitOpError("expected 'tile' to have elements f32, got ") << element;
  }
  return verifyWrite(*this, getTile().getType(), getDest().getType(), getMap());
}

LogicalResult StoreRegOp::verify() {
  return verifyWrite(*this, getTile().getType(), getDest().getType(), getMap());
}
