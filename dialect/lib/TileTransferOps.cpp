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
  if (tensor.getRank() != rank) { // C1
    return op->emitOpError("expected '")
           << name << "' to have rank " << rank << (part ? " with" : " without")
           << " 'part', got " << tensor;
  }
  if (!attn::AccessMap::parse(map)) { // C2
    return op->emitOpError("expected 'map' to be a permutation of 4 dimensions "
                           "that keeps the last, got ")
           << AffineMapAttr::get(map);
  }
  if (isa<VectorType>(tileType)) {
    return success(); // a thread's share of the tile
  }
  auto tile = cast<RankedTensorType>(tileType);
  if (tile.getElementType() != tensor.getElementType() ||
      tile.getDimSize(1) < tensor.getDimSize(rank - 1)) { // C3
    return op->emitOpError("expected a tile with the element type and at "
                           "least the last dimension of '")
           << name << "', got " << tileType << " and " << tensor;
  }
  return success();
}

/// C1 of tile.load_row and tile.store_row.
static LogicalResult verifyRowAccess(Operation *op, StringRef name,
                                     Value memory, Value part) {
  auto tensor = cast<RankedTensorType>(memory.getType());
  int64_t rank = part ? 4 : 3;
  if (tensor.getRank() != rank) {
    return op->emitOpError("expected '")
           << name << "' to have rank " << rank << (part ? " with" : " without")
           << " 'part', got " << tensor;
  }
  return success();
}

/// C4 of tile.load.
static LogicalResult verifyGrouped(Operation *op, Type type, bool transposed,
                                   Value memory) {
  auto tensor = cast<RankedTensorType>(memory.getType());
  if (!tensor.getElementType().isF32() ||
      tensor.getShape().back() % attn::kColumnsOfSums != 0) {
    return op->emitOpError("expected 'grouped' only with f32 elements and a "
                           "multiple of ")
           << attn::kColumnsOfSums << " columns, got " << tensor;
  }
  auto tile = dyn_cast<RankedTensorType>(type);
  if (tile && !transposed && tile.getDimSize(0) % attn::kRowsOfSums != 0) {
    return op->emitOpError("expected 'grouped' without 'transposed' only with "
                           "a tile of a multiple of ")
           << attn::kRowsOfSums << " rows, got " << tile;
  }
  return success();
}

/// C5 of tile.load.
static LogicalResult verifyTransposed(Operation *op, bool transposed,
                                      bool grouped, Value memory) {
  auto tensor = cast<RankedTensorType>(memory.getType());
  if (!transposed) {
    return success();
  }
  if (!grouped) {
    return op->emitOpError("expected 'transposed' only with 'grouped'");
  }
  return tensor.getShape().back() % attn::kRowsOfSums == 0
             ? success()
             : op->emitOpError("expected 'transposed' only with a multiple of ")
                   << attn::kRowsOfSums << " columns, got " << tensor;
}

LogicalResult LoadOp::verify() {
  std::optional<int64_t> rows = getTransposed();
  if (failed(verifyTransposed(*this, rows.has_value(), getGrouped(),
                              getSource()))) {
    return failure();
  }
  if (rows && (*rows <= 0 || *rows % attn::kColumnsOfSums != 0)) {
    return emitOpError("expected 'transposed' of a multiple of ")
           << attn::kColumnsOfSums << " rows, got " << *rows;
  }
  if (getGrouped() && failed(verifyGrouped(*this, getTile().getType(),
                                           rows.has_value(), getSource()))) {
    return failure();
  }
  return verifyAccess(*this, getTile().getType(), "source", getSource(),
                      getPart(), getMap());
}

LogicalResult LoadRowOp::verify() {
  return verifyRowAccess(*this, "source", getSource(), getPart());
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
      pack && (*pack < 2 || *pack > attn::AccessMap::mostPackedHeads)) {
    return emitOpError("expected 'pack' to be in 2..")
           << attn::AccessMap::mostPackedHeads << ", got " << *pack;
  }
  return verifyRowAccess(*this, "dest", getDest(), getPart());
}

LogicalResult ReduceAddOp::verify() {
  if ((getGrouped() && failed(verifyGrouped(*this, getTile().getType(),
                                            getTransposed(), getDest()))) ||
      failed(
          verifyTransposed(*this, getTransposed(), getGrouped(), getDest()))) {
    return failure();
  }
  auto tile = dyn_cast<RankedTensorType>(getTile().getType());
  if (tile && getTransposed()) {
    if (tile.getDimSize(1) % attn::kColumnsOfSums != 0) {
      return emitOpError("expected 'transposed' only with a tile of a multiple "
                         "of ")
             << attn::kColumnsOfSums << " columns, got " << tile;
    }
    tile = tile.clone({tile.getDimSize(1), tile.getDimSize(0)});
  }
  if (getColumn() && tile) {
    int64_t all = cast<RankedTensorType>(getDest().getType()).getShape().back();
    if (ShapedType::isDynamic(all) || all % tile.getDimSize(1) != 0) {
      return emitOpError("expected a tile with 'column' to have columns that "
                         "divide those of 'dest', got ")
             << tile << " and " << getDest().getType();
    }
    if (getGrouped() && tile.getDimSize(1) % attn::kColumnsOfSums != 0) {
      return emitOpError("expected 'grouped' with 'column' only with a tile of "
                         "a multiple of ")
             << attn::kColumnsOfSums << " columns, got " << tile;
    }
    tile = tile.clone({tile.getDimSize(0), all});
    return verifyAccess(*this, tile, "dest", getDest(), /*part=*/Value(),
                        getMap());
  }
  return verifyAccess(*this, tile ? tile : getTile().getType(), "dest",
                      getDest(), /*part=*/Value(), getMap());
}

/// C1 of tile.turn_wait and tile.turn_pass.
static LogicalResult verifyTurns(Operation *op, Value turns) {
  auto type = cast<RankedTensorType>(turns.getType());
  return type.getElementType().isInteger(32)
             ? success()
             : op->emitOpError("expected turns of i32, got ") << type;
}

LogicalResult TurnWaitOp::verify() { return verifyTurns(*this, getTurns()); }

LogicalResult TurnPassOp::verify() { return verifyTurns(*this, getTurns()); }
