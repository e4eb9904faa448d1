// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifier of the score and mask regions of attn.attention; labels are those
// of its description.
#include "AttentionChecks.h"
#include "attn/dialect/ScoreOps.h"

using namespace mlir;
using namespace attn;

Type attn::regionTypeOf(Type capture) {
  auto tensor = dyn_cast<RankedTensorType>(capture);
  if (!tensor || !tensor.getElementType().isUnsignedInteger()) {
    return capture;
  }
  auto signless =
      IntegerType::get(capture.getContext(), tensor.getElementTypeBitWidth());
  return tensor.clone(signless);
}

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

// C14
static LogicalResult verifyType(Operation &inner, StringRef name, Type type) {
  bool isInteger =
      llvm::any_of(ArrayRef{1, 8, 16, 32, 64},
                   [&](unsigned width) { return type.isInteger(width); });
  if (!isInteger && !type.isF32() && !type.isF64() && !isHalf(type) &&
      !type.isIndex()) {
    return inner.emitOpError("expected the values of the ")
           << name << " region to be f16, bf16, f32, f64, i1, i8, i16, i32, "
           << "i64 or index, got " << type;
  }
  return success();
}

// C15
static LogicalResult verifyIndex(Operation &inner, StringRef name) {
  if (auto cast = dyn_cast<arith::IndexCastOp>(inner)) {
    for (Type type : {cast.getIn().getType(), cast.getType()}) {
      if (type.isInteger(1)) {
        return inner.emitOpError("expected an index of the ")
               << name << " region to be cast from or to i8, i16, i32 or i64, "
               << "got i1";
      }
    }
  }
  auto constant = dyn_cast<arith::ConstantIndexOp>(inner);
  if (constant && !llvm::isInt<32>(constant.value())) {
    return inner.emitOpError("expected index constants of the ")
           << name << " region to fit i32, got " << constant.value();
  }
  return success();
}

// C19
static LogicalResult verifyFloats(Operation &inner, StringRef name) {
  Type result = inner.getResult(0).getType();
  if (auto truncate = dyn_cast<arith::TruncFOp>(inner)) {
    if (isHalf(result) && !truncate.getIn().getType().isF32()) {
      return inner.emitOpError("expected values of the ")
             << name << " region to be rounded to " << result
             << " from f32, got from " << truncate.getIn().getType();
    }
    if (truncate.getRoundingmode()) {
      return inner.emitOpError("expected no rounding mode in the ")
             << name << " region, which rounds to nearest even";
    }
  }
  bool isExact = isa<arith::ConstantOp, arith::SelectOp, arith::TruncFOp,
                     tensor::ExtractOp>(inner);
  if (isHalf(result) && !isExact) {
    return inner.emitOpError("expected arithmetic of the ")
           << name << " region on f32, which 'arith.extf' extends to and "
           << "'arith.truncf' rounds from, got " << result;
  }
  if (result.isF64() && lookUpScoreOp(&inner)->isF32Only) {
    return inner.emitOpError("expected to be on f32 in the ")
           << name << " region, got f64";
  }
  return success();
}

static LogicalResult verifyRegionOp(Operation &inner, StringRef name) {
  if (!isa<ScoreOpInterface>(inner)) { // C12
    return inner.emitOpError("expected one of the ops that the ")
           << name << " region may hold: " << listScoreOps();
  }
  for (Type type : inner.getResultTypes()) {
    if (failed(verifyType(inner, name, type))) {
      return failure();
    }
  }
  return success(succeeded(verifyIndex(inner, name)) &&
                 succeeded(verifyFloats(inner, name)));
}

// C9, C10, C20
static LogicalResult verifyRegion(Operation *op, const RegionRule &rule,
                                  TypeRange arguments) {
  if (rule.region.empty()) {
    return success();
  }
  Block &block = rule.region.front();
  StringRef name = rule.name;
  if (block.getArgumentTypes() != arguments) {
    return op->emitOpError("expected the ")
           << name << " region to take (" << arguments << "), got ("
           << TypeRange(block.getArgumentTypes()) << ")";
  }
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield) {
    return op->emitOpError("expected the ")
           << name << " region to end with 'attn.yield'";
  }
  if (yield.getOperandTypes() != TypeRange(rule.results)) {
    return yield.emitOpError("expected the ")
           << name << " region to yield " << TypeRange(rule.results) << ", got "
           << yield.getOperandTypes();
  }
  for (Operation &inner : block.without_terminator()) {
    if (failed(verifyRegionOp(inner, name))) {
      return failure();
    }
  }
  return success();
}

LogicalResult attn::verifyRegions(Operation *op, ValueRange captures,
                                  ArrayRef<RegionRule> rules) {
  for (const RegionRule &rule : rules) {
    SmallVector<Type> arguments(rule.leading);
    for (Value capture : captures) {
      arguments.push_back(regionTypeOf(capture.getType()));
    }
    if (failed(verifyRegion(op, rule, arguments))) {
      return failure();
    }
  }
  return success();
}

RegionRule attn::ruleOfRowKeys(Region &rowKeys) {
  Type i32 = IntegerType::get(rowKeys.getContext(), 32);
  return {rowKeys,
          "row_keys",
          {i32, i32, i32},
          SmallVector<Type>(hasPrefix(rowKeys) ? 3 : 2, i32)};
}

LogicalResult AttentionOp::verifyRegions() {
  Builder builder(getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  return attn::verifyRegions(
      *this, getCaptures(),
      {{getMaskRegion(), "mask", {i32, i32, i32, i32}, {builder.getI1Type()}},
       {getScoreRegion(), "score", {f32, i32, i32, i32, i32}, {f32}},
       ruleOfRowKeys(getRowKeys())});
}
