// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreLifter.h"

using namespace mlir;
using namespace attn;

bool ScoreLifter::isTile(Value value) const { return tiles.contains(value); }

Type ScoreLifter::lifted(Type type, bool toTile) const {
  Type element = type.isIndex() ? builder.getI32Type() : type;
  return toTile ? Type(RankedTensorType::get(shape, element)) : element;
}

/// A constant as a scalar or a tile, index as i32.
static Value constantOf(OpBuilder &builder, arith::ConstantOp op, Type type) {
  TypedAttr value = op.getValue();
  Type element = getElementTypeOrSelf(type);
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    APInt bits = number.getValue().sextOrTrunc(element.getIntOrFloatBitWidth());
    value = IntegerAttr::get(element, bits);
  }
  if (auto tile = dyn_cast<ShapedType>(type)) {
    value = DenseElementsAttr::get(tile, Attribute(value));
  }
  return arith::ConstantOp::create(builder, op.getLoc(), value);
}

Value ScoreLifter::scalar(Value value) {
  Value &known = mapped[value];
  if (!known) {
    // Only constants are left to their first use.
    known = constantOf(builder, value.getDefiningOp<arith::ConstantOp>(),
                       lifted(value.getType(), false));
  }
  return known;
}

Value ScoreLifter::tile(Value value) {
  if (isTile(value)) {
    return mapped.lookup(value);
  }
  if (Value known = splats.lookup(value)) {
    return known;
  }
  Type type = lifted(value.getType(), true);
  Value splat;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    splat = constantOf(builder, constant, type);
  } else {
    splat = tensor::SplatOp::create(builder, value.getLoc(), scalar(value),
                                    cast<RankedTensorType>(type));
  }
  return splats[value] = splat;
}

void ScoreLifter::liftExtract(tensor::ExtractOp op) {
  bool toTile =
      llvm::any_of(op.getIndices(), [&](Value i) { return isTile(i); });
  SmallVector<Value> indices;
  for (Value index : op.getIndices()) {
    indices.push_back(isTile(index) ? tile(index) : scalar(index));
  }
  mapped[op.getResult()] =
      tile::GatherOp::create(builder, op.getLoc(), lifted(op.getType(), toTile),
                             scalar(op.getTensor()), indices);
  if (toTile) {
    tiles.insert(op.getResult());
  }
}

void ScoreLifter::liftOp(Operation &op) {
  if (isa<arith::ConstantOp>(op)) {
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    return liftExtract(extract);
  }
  bool toTile =
      llvm::any_of(op.getOperands(), [&](Value v) { return isTile(v); });
  Value result = op.getResult(0);
  if (toTile) {
    tiles.insert(result);
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    operands.push_back(toTile ? tile(operand) : scalar(operand));
  }
  if (isa<arith::IndexCastOp>(op)) {
    mapped[result] = operands[0];
    return;
  }
  Operation *copy = builder.clone(op);
  copy->setOperands(operands);
  copy->getResult(0).setType(lifted(result.getType(), toTile));
  mapped[result] = copy->getResult(0);
}

Value ScoreLifter::lift(Region &region, ValueRange arguments) {
  Block &block = region.front();
  for (auto [formal, actual] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    if (!actual) {
      continue;
    }
    mapped[formal] = actual;
    if (isa<ShapedType>(actual.getType()) &&
        !isa<ShapedType>(formal.getType())) {
      tiles.insert(formal);
    }
  }
  for (Operation &op : block.without_terminator()) {
    liftOp(op);
  }
  return tile(block.getTerminator()->getOperand(0));
}
