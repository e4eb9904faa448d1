// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the `ws` ops that copy and compute; labels are those of
// WsOps.td.
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/Ws.h"

using namespace mlir;
using namespace attn::ws;

//===----------------------------------------------------------------------===//
// Copies.
//===----------------------------------------------------------------------===//

/// C2 of ws.copy, ws.store and ws.reduce_add.
static LogicalResult verifyMap(Operation *op, AffineMap map) {
  if (!attn::AccessMap::parse(map)) {
    return op->emitOpError("expected 'map' to be a permutation of 4 dimensions "
                           "that keeps the last, got ")
           << AffineMapAttr::get(map);
  }
  return success();
}

LogicalResult CopyOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  RankedTensorType tile = getSlot().getType().getTile();
  bool isTile = source.getRank() == 4;
  if (isTile != bool(getMap()) || isTile != (tile.getRank() == 2)) { // C1, C3
    return emitOpError("expected a map for a tile of a tensor of rank 4, or "
                       "none for a row vector of one of rank 3, got ")
           << (getMap() ? "one" : "none") << " for " << tile << " of "
           << source;
  }
  if (!isTile) {
    return tile.getElementType() == source.getElementType()
               ? success()
               : emitOpError("expected the slot's row vector to have the "
                             "element type of 'source', got ")
                     << tile << " and " << source;
  }
  if (failed(verifyMap(*this, *getMap()))) {
    return failure();
  }
  if (tile.getElementType() != source.getElementType() ||
      tile.getDimSize(1) < source.getDimSize(3)) { // C3
    return emitOpError("expected the slot's tile to have the element type and "
                       "at least the last dimension of 'source', got ")
           << tile << " and " << source;
  }
  return success();
}

LogicalResult ReadRowOp::verify() {
  auto row = dyn_cast<RankedTensorType>(getTile().getType());
  RankedTensorType slot = getSlot().getType().getTile();
  if (row && (row.getShape() != slot.getShape() ||
              row.getElementType() != slot.getElementType())) { // C1
    return emitOpError("expected the row vector of the slot, ")
           << slot << ", got " << row;
  }
  return success();
}

LogicalResult StoreOp::verify() { return verifyMap(*this, getMap()); }

LogicalResult ReduceAddOp::verify() {
  auto dest = cast<RankedTensorType>(getDest().getType());
  if (!dest.getElementType().isF32()) { // C1
    return emitOpError("expected 'dest' of elements f32, got ") << dest;
  }
  return verifyMap(*this, getMap());
}

//===----------------------------------------------------------------------===//
// Matrix instructions.
//===----------------------------------------------------------------------===//

/// Returns the tile of operand A; null for a vector.
static RankedTensorType getTileA(MmaOp op) {
  Type type = op.getA().getType();
  if (auto slot = dyn_cast<SlotType>(type)) {
    return slot.getTile();
  }
  return dyn_cast<RankedTensorType>(type);
}

/// C1 and C2 of ws.mma, where types do not say it.
static LogicalResult verifyOperands(MmaOp op) {
  if (op.getPiece() && !isa<SlotType>(op.getA().getType())) {
    return op.emitOpError("expected 'piece' only with a slot as 'a', got ")
           << op.getA().getType();
  }
  if (op.getTransposeA() && !isa<SlotType>(op.getA().getType())) {
    return op.emitOpError(
               "expected 'transpose_a' only with a slot as 'a', got ")
           << op.getA().getType();
  }
  if (op.getColumns() && op.getTransposeB()) {
    return op.emitOpError("expected 'columns' without 'transpose_b'");
  }
  if (op.getFresh() && !op.getAcc()) {
    return op.emitOpError("expected 'fresh' only with 'acc', got no 'acc'");
  }
  return success();
}

/// C3 of ws.mma.
static LogicalResult verifyShapes(MmaOp op) {
  constexpr int64_t pieceRows = 64;
  RankedTensorType a = getTileA(op), b = op.getB().getType().getTile();
  if (!a) {
    return success();
  }
  bool transposed = op.getTransposeB();
  int64_t n = b.getDimSize(transposed ? 0 : 1);
  int64_t k = b.getDimSize(transposed ? 1 : 0);
  unsigned rowsOfA = op.getTransposeA() ? 1 : 0;
  if (a.getElementType() != b.getElementType() ||
      a.getDimSize(1 - rowsOfA) != k) {
    return op.emitOpError("expected 'a' and 'b' to agree in element type and "
                          "in the contracted dimension, got ")
           << a << " and " << b;
  }
  int64_t m = op.getPiece() ? pieceRows : a.getDimSize(rowsOfA);
  auto result = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (op.getPiece() && a.getDimSize(rowsOfA) % pieceRows != 0) {
    return op.emitOpError("expected 'a' to be pieces of ")
           << pieceRows << (rowsOfA == 0 ? " rows" : " columns") << ", got "
           << a;
  }
  if (result && op.getColumns()) {
    int64_t columns = std::max<int64_t>(1, result.getDimSize(1));
    n = n % columns == 0 ? columns : n;
  }
  if (result && result.getShape() != ArrayRef<int64_t>({m, n})) {
    return op.emitOpError("expected a result of ")
           << m << " x " << n << ", got " << result;
  }
  return success();
}

/// C4 of ws.mma: the one await, in its block.
static FailureOr<AwaitOp> verifyToken(MmaOp op) {
  Value token = op.getToken();
  auto await =
      token.hasOneUse() ? dyn_cast<AwaitOp>(*token.user_begin()) : AwaitOp();
  if (!await || await->getBlock() != op->getBlock()) {
    InFlightDiagnostic error = op.emitOpError(
        "expected one use of the token, by a 'ws.await' in the same block");
    for (Operation *user : token.getUsers()) {
      error.attachNote(user->getLoc()) << "a use";
    }
    if (token.use_empty()) {
      error << ", got none";
    }
    return error;
  }
  return await;
}

/// C5 and C6 of ws.mma.
static LogicalResult verifyInFlight(MmaOp op, AwaitOp await) {
  for (OpOperand &use : op.getResult().getUses()) {
    bool accumulates =
        isa<MmaOp>(use.getOwner()) && use.getOperandNumber() != 0;
    if (use.getOwner() != await && !accumulates) {
      InFlightDiagnostic error = op.emitOpError(
          "expected the result to be used by its 'ws.await' alone while in "
          "flight");
      error.attachNote(use.getOwner()->getLoc())
          << "used by '" << use.getOwner()->getName() << "'";
      return error;
    }
  }
  if (isa<SlotType>(op.getA().getType())) {
    return success();
  }
  for (Operation *user : op.getA().getUsers()) { // C6
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (inBlock && !isa<MmaOp>(user) && op->isBeforeInBlock(inBlock) &&
        inBlock->isBeforeInBlock(await)) {
      InFlightDiagnostic error = op.emitOpError(
          "expected 'a' to be used by 'ws.mma' alone while in flight");
      error.attachNote(user->getLoc()) << "used by '" << user->getName() << "'";
      return error;
    }
  }
  return success();
}

LogicalResult MmaOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyShapes(*this))) {
    return failure();
  }
  if (isa_and_present<EntryOp>((*this)->getParentOp())) {
    if (getToken().use_empty()) {
      return success();
    }
    return emitOpError("expected no use of the token in a 'ws.entry', where "
                       "'attn-pipeline' places the await");
  }
  FailureOr<AwaitOp> await = verifyToken(*this);
  return failed(await) ? failure() : verifyInFlight(*this, *await);
}

LogicalResult AwaitOp::verify() {
  auto mma = getToken().getDefiningOp<MmaOp>();
  if (!mma || getToken() != mma.getToken()) { // C1
    return emitOpError("expected the token of a 'ws.mma'");
  }
  if (getValue() != mma.getResult()) {
    InFlightDiagnostic error =
        emitOpError("expected the result of the 'ws.mma' whose token it takes");
    error.attachNote(mma.getLoc()) << "the 'ws.mma'";
    return error;
  }
  return success();
}
