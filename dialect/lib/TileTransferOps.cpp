// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the tile ops that move tiles and row vectors between tensors in
// memory and shared memory or registers.
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/Tile.h"

using namespace mlir;
using namespace attn::tile;

/// C1 to C3 of tile.load. `name` is the op's name of the tensor.
static LogicalResult verifyAccess(Operation *op, Type tileType, StringRef name,
                                  Value memory, Value part, AffineMap map) {
  auto tensor = cast<RankedTensorType>(memory.getType());
  int64_t rank = part ? 5 : 4;
  if (tensor.getRank() != rank || tensor.isDynamicDim(rank - 1)) { // C1
    return op->emitOpError("expected '")
           << name << "' to have rank " << rank
           << " and a static last dimension, got " << tensor;
  }
  if (!attn::AccessMap::parse(map)) { // C2
    return op->emitOpError("expected 'map' to be a permutation of 4 dimensions "
                           "that keeps the last, got ")
           << AffineMapAttr::get(map);
  }
  if (isa<VectorType>(tileType)) {
    return success(); // a thread's share of the tile
  }
  auto tile = dyn_cast<RankedTensorType>(tileType);
  if (!tile || tile.getRank() != 2 ||
      tile.getElementType() != tensor.getElementType() ||
      tile.getDimSize(1) < tensor.getDimSize(rank - 1)) { // C3
    return op->emitOpError("expected a tile of rank 2 with the element type "
                           "and at least the last dimension of '")
           << name << "', got " << tileType << " and " << tensor;
  }
  return success();
}

/// C1 of tile.load_row and tile.store_row.
static LogicalResult verifyRowAccess(Operation *op, Type rowType,
                                     StringRef rowName, StringRef name,
                                     Value memory, Value part) {
  auto tensor = cast<RankedTensorType>(memory.getType());
  auto row = dyn_cast<ShapedType>(rowType);
  int64_t rank = part ? 4 : 3;
  if (!row || row.getRank() != 1 || tensor.getRank() != rank ||
      row.getElementType() != tensor.getElementType()) {
    return op->emitOpError("expected ")
           << rowName << " of rank 1 and '" << name << "' of rank " << rank
           << " with one element type, got " << rowType << " and " << tensor;
  }
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getTile().getType(), "source", getSource(),
                      getPart(), getMap());
}

LogicalResult LoadRowOp::verify() {
  return verifyRowAccess(*this, getTile().getType(), "a result", "source",
                         getSource(), getPart());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getTile().getType(), "dest", getDest(),
                      /*part=*/Value(), getMap());
}

LogicalResult StoreRegOp::verify() {
  return verifyAccess(*this, getTile().getType(), "dest", getDest(), getPart(),
                      getMap());
}

LogicalResult StoreRowOp::verify() {
  if (auto pack = getPack(); // C2
      pack && (*pack < 2 || *pack > attn::AccessMap::mostPackedHeads ||
               !llvm::isPowerOf2_64(*pack))) {
    return emitOpError("expected 'pack' to be a power of two in 2..")
           << attn::AccessMap::mostPackedHeads << ", got " << *pack;
  }
  return verifyRowAccess(*this, getTile().getType(), "'tile'", "dest",
                         getDest(), getPart());
}

LogicalResult ReduceAddOp::verify() {
  Type element = getElementTypeOrSelf(getTile().getType());
  if (!element.isF32()) { // C4
    return emitOpError("expected 'tile' to have elements f32, got ") << element;
  }
  return verifyAccess(*this, getTile().getType(), "dest", getDest(),
                      /*part=*/Value(), getMap());
}
