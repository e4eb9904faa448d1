// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreLifter.h"
#include "attn/dialect/RegionProgram.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

void attn::eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
    }
  }
}

bool ScoreLifter::isTile(Value value) const { return tiles.contains(value); }

Type ScoreLifter::lifted(Type type, bool toTile) const {
  Type element =
      type.isIndex() ? builder.getI32Type() : tile::gatheredType(type);
  return toTile ? Type(RankedTensorType::get(shape, element)) : element;
}

/// Creates a constant as a scalar or a tile; an index becomes i32.
static Value constantOf(OpBuilder &builder, arith::ConstantOp op, Type type) {
  TypedAttr value = op.getValue();
  Type element = getElementTypeOrSelf(type);
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    APInt bits = number.getValue().sextOrTrunc(element.getIntOrFloatBitWidth());
    value = IntegerAttr::get(element, bits);
  } else if (auto number = dyn_cast<FloatAttr>(value)) {
    value = FloatAttr::get(element, number.getValueAsDouble());
  }
  if (auto tile = dyn_cast<ShapedType>(type)) {
    value = DenseElementsAttr::get(tile, Attribute(value));
  }
  return arith::ConstantOp::create(builder, op.getLoc(), value);
}

Value ScoreLifter::scalar(Value value) {
  Value &known = mapped[value];
  if (!known) {
    // Constants are created at their first use.
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

/// Creates an integer constant of `type`, a scalar or a tile.
static Value integer(OpBuilder &builder, Location loc, Type type,
                     const APInt &value) {
  TypedAttr attr = IntegerAttr::get(getElementTypeOrSelf(type), value);
  if (auto tile = dyn_cast<ShapedType>(type)) {
    attr = DenseElementsAttr::get(tile, Attribute(attr));
  }
  return arith::ConstantOp::create(builder, loc, attr);
}

static unsigned widthOf(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
}

/// Drops the flags that make a result undefined, so that all arithmetic is
/// defined: those of overflow and exactness, and of floats all except the one
/// that has a word in the region's program.
static void dropFlags(Operation *op) {
  MLIRContext *context = op->getContext();
  if (auto integer = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op)) {
    op->setAttr(integer.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    context, arith::IntegerOverflowFlags::none));
  }
  if (auto number = dyn_cast<arith::ArithFastMathInterface>(op)) {
    auto kept = mayApproximate(*op) ? arith::FastMathFlags::afn
                                    : arith::FastMathFlags::none;
    op->setAttr(number.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(context, kept));
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [](auto exact) { exact.setIsExact(false); });
}

Value ScoreLifter::cloneAs(Operation &op, ValueRange operands, Type type) {
  Operation *copy = builder.clone(op);
  dropFlags(copy);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Casts from or to the i32 that represents an index. Wider integers saturate,
/// so that an index out of bounds stays out of bounds.
Value ScoreLifter::castIndex(Location loc, Value value, Type type) {
  unsigned from = widthOf(value.getType()), to = widthOf(type);
  if (from == to) {
    return value;
  }
  if (from < to) {
    return arith::ExtSIOp::create(builder, loc, type, value);
  }
  auto limit = [&](const APInt &bound) {
    return integer(builder, loc, value.getType(), bound.sext(from));
  };
  if (to == 32) {
    value = arith::MaxSIOp::create(builder, loc, value,
                                   limit(APInt::getSignedMinValue(to)));
    value = arith::MinSIOp::create(builder, loc, value,
                                   limit(APInt::getSignedMaxValue(to)));
  }
  return arith::TruncIOp::create(builder, loc, type, value);
}

/// A shift by the width or more shifts all bits out.
Value ScoreLifter::shift(Operation &op, ValueRange operands, Type type) {
  unsigned width = widthOf(type);
  APInt count;
  if (matchPattern(op.getOperand(1), m_ConstantInt(&count)) &&
      count.ult(width)) {
    return cloneAs(op, operands, type);
  }
  auto number = [&](uint64_t value) {
    return integer(builder, op.getLoc(), type, APInt(width, value));
  };
  if (isa<arith::ShRSIOp>(op)) {
    Value most = arith::MinUIOp::create(builder, op.getLoc(), operands[1],
                                        number(width - 1));
    return cloneAs(op, {operands[0], most}, type);
  }
  Value inside =
      arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ult,
                            operands[1], number(width));
  Value by = operands[1];
  if (width > 32) {
    // From a select that guards a shift by a wide count, LLVM makes an
    // instruction that reads only the low 32 bits of the count.
    by = arith::AndIOp::create(builder, op.getLoc(), by, number(width - 1));
  }
  Value shifted = cloneAs(op, {operands[0], by}, type);
  return arith::SelectOp::create(builder, op.getLoc(), inside, shifted,
                                 number(0));
}

/// Divides by 1 if the quotient does not exist.
Value ScoreLifter::divide(Operation &op, ValueRange operands, Type type) {
  Location loc = op.getLoc();
  unsigned width = widthOf(type);
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  APInt divisor;
  if (matchPattern(op.getOperand(1), m_ConstantInt(&divisor)) &&
      !divisor.isZero() && !(isSigned && divisor.isAllOnes())) {
    return cloneAs(op, operands, type);
  }
  auto isEqual = [&](Value value, const APInt &number) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 integer(builder, loc, type, number));
  };
  Value bad = isEqual(operands[1], APInt::getZero(width));
  if (isSigned) {
    Value isLowest = isEqual(operands[0], APInt::getSignedMinValue(width));
    Value isMinusOne = isEqual(operands[1], APInt::getAllOnes(width));
    Value overflows = arith::AndIOp::create(builder, loc, isLowest, isMinusOne);
    bad = arith::OrIOp::create(builder, loc, bad, overflows);
  }
  Value one = integer(builder, loc, type, APInt(width, 1));
  Value by = arith::SelectOp::create(builder, loc, bad, one, operands[1]);
  return cloneAs(op, {operands[0], by}, type);
}

Value ScoreLifter::liftPure(Operation &op, ValueRange operands, Type type) {
  using Case = llvm::TypeSwitch<Operation *, Value>;
  Type result = op.getResult(0).getType();
  return Case(&op)
      .Case([&](arith::IndexCastOp) {
        return castIndex(op.getLoc(), operands[0], type);
      })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) { return shift(op, operands, type); })
      .Case<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(
          [&](auto) { return divide(op, operands, type); })
      .Case([&](arith::ExtFOp) {
        return operands[0].getType() == type ? operands[0]
                                             : cloneAs(op, operands, type);
      })
      .Case([&](arith::TruncFOp) -> Value {
        return result.isF32()
                   ? cloneAs(op, operands, type)
                   : tile::RoundOp::create(builder, op.getLoc(), type,
                                           operands[0], TypeAttr::get(result));
      })
      .Default([&](Operation *) { return cloneAs(op, operands, type); });
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
  mapped[result] = liftPure(op, operands, lifted(result.getType(), toTile));
}

SmallVector<Value> ScoreLifter::lift(Region &region, ValueRange arguments) {
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
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(), [&](Value result) {
        return shape.empty() ? scalar(result) : tile(result);
      });
}
