// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SlopeWriter.h"
#include "attn/dialect/ScoreOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

Value SlopeWriter::constant(Location loc, Type type, double number) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, number));
}

/// Returns a derivative in the type of another one.
Value SlopeWriter::inType(Location loc, Value slope, Type type) {
  if (slope.getType() == type) {
    return slope;
  }
  return type.isF64() ? b.createOrFold<arith::ExtFOp>(loc, type, slope)
                      : b.createOrFold<arith::TruncFOp>(loc, type, slope);
}

/// The slope of a select is that of the selected value; the other slope may be
/// infinite or NaN.
SlopeWriter::Slope SlopeWriter::slopeOfChoice(arith::SelectOp op) {
  Slope a = slopes.lookup(op.getTrueValue()),
        c = slopes.lookup(op.getFalseValue());
  if (!a.value && !c.value) {
    return {};
  }
  Location loc = op.getLoc();
  Type type = slopeTypeOf(op.getType());
  auto orZero = [&](Slope slope) {
    return slope.value ? slope.value : constant(loc, type, 0);
  };
  Value first = orZero(a), second = orZero(c);
  return {arith::SelectOp::create(b, loc, op.getCondition(), first, second),
          /*mayVanish=*/true};
}

/// Returns what operand `number` contributes to the derivative of an op: the
/// derivative of the operand times that of the op by the operand.
FailureOr<SlopeWriter::Slope> SlopeWriter::slopeByOperand(Operation &op,
                                                          unsigned number) {
  FailureOr<Value> partial =
      cast<ScoreOpInterface>(op).differentiate(b, number);
  if (failed(partial)) {
    return op.emitOpError("attn-differentiate: expected a derivative by "
                          "operand #")
           << number << ", got none";
  }
  Location loc = op.getLoc();
  Slope outer = slopes.lookup(op.getOperand(number));
  Value factor = inType(loc, outer.value, partial->getType());
  Value product = b.createOrFold<arith::MulFOp>(loc, factor, *partial);
  Operation *source = partial->getDefiningOp();
  bool isConstant = matchPattern(*partial, m_Constant());
  if (outer.mayVanish && !isConstant) {
    // The derivative of the op may be infinite where that of the operand is 0.
    Value zero = constant(loc, factor.getType(), 0);
    Value vanishes =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, factor, zero);
    product = arith::SelectOp::create(b, loc, vanishes, zero, product);
  }
  bool chooses = source && llvm::any_of(source->getOperands(), [](Value each) {
                   return each.getDefiningOp<arith::SelectOp>();
                 });
  return Slope{product, outer.mayVanish || chooses ||
                            isa_and_present<arith::SelectOp>(source)};
}

FailureOr<SlopeWriter::Slope> SlopeWriter::slopeOf(Operation &op) {
  if (!isa<FloatType>(op.getResult(0).getType())) {
    return Slope();
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    return slopeOfChoice(choice);
  }
  Slope sum;
  for (unsigned number : llvm::seq(op.getNumOperands())) {
    if (!slopes.lookup(op.getOperand(number)).value) {
      continue;
    }
    FailureOr<Slope> part = slopeByOperand(op, number);
    if (failed(part)) {
      return failure();
    }
    sum.value =
        sum.value
            ? b.createOrFold<arith::AddFOp>(op.getLoc(), sum.value, part->value)
            : part->value;
    sum.mayVanish |= part->mayVanish;
  }
  return sum;
}

LogicalResult SlopeWriter::run() {
  Operation *yield = block.getTerminator();
  Location loc = yield->getLoc();
  Type f32 = b.getF32Type();
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  for (Value source : sources) {
    slopes[source] = {constant(loc, f32, 1)};
  }
  for (Operation *op : ops) {
    if (llvm::is_contained(sources, op->getResult(0))) {
      continue;
    }
    FailureOr<Slope> slope = slopeOf(*op);
    if (failed(slope)) {
      return failure();
    }
    slopes[op->getResult(0)] = *slope;
  }
  Value result = slopes.lookup(yield->getOperand(0)).value;
  yield->insertOperands(1, result ? result : constant(loc, f32, 0));
  ops = llvm::map_to_vector(block.without_terminator(),
                            [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op)) {
      op->erase();
    }
  }
  return success();
}
