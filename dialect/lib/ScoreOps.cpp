// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that score and mask regions may use, and their derivatives.
#include "attn/dialect/ScoreOps.h"
#include "Scalar.h"
#include "attn/dialect/Attn.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

std::optional<ConstantIntRanges>
attn::inferIntegerRange(Operation *op, ArrayRef<ConstantIntRanges> operands) {
  auto inferable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferable || op->getNumResults() != 1 ||
      operands.size() != op->getNumOperands()) {
    return std::nullopt;
  }
  std::optional<ConstantIntRanges> range;
  inferable.inferResultRanges(
      operands, [&](Value, const ConstantIntRanges &found) { range = found; });
  return range;
}

Type attn::slopeTypeOf(Type type) {
  return type.isF64() ? type : Float32Type::get(type.getContext());
}

bool attn::dependsOn(Value value, Value source) {
  llvm::SmallSetVector<Value, 16> values;
  values.insert(value);
  for (size_t next = 0; next < values.size(); ++next) {
    if (Operation *op = values[next].getDefiningOp()) {
      values.insert(op->operand_begin(), op->operand_end());
    }
  }
  return values.contains(source);
}

static FailureOr<Value> differentiate(Operation *op, OpBuilder &builder,
                                      unsigned number) {
  if (number >= op->getNumOperands() || op->getNumResults() != 1 ||
      !isa<FloatType>(op->getOperand(number).getType()) ||
      !isa<FloatType>(op->getResult(0).getType())) {
    return failure();
  }
  ScoreOp::Derivative derivative = lookUpScoreOp(op)->derivatives[number];
  if (!derivative) {
    return failure();
  }
  ImplicitLocOpBuilder b(op->getLoc(), builder);
  Type type = slopeTypeOf(op->getResult(0).getType());
  auto operand = [&](unsigned n) {
    return n < op->getNumOperands() ? Scalar(b, op->getOperand(n), type)
                                    : Scalar(0);
  };
  Scalar result(b, op->getResult(0), type);
  return derivative(operand(0), operand(1), operand(2), result).in(b, type);
}

namespace {
template <typename Op>
struct ScoreModel : public ScoreOpInterface::ExternalModel<ScoreModel<Op>, Op> {
  FailureOr<Value> differentiate(Operation *op, OpBuilder &builder,
                                 unsigned number) const {
    return ::differentiate(op, builder, number);
  }
};

template <typename Op> void attachModel(MLIRContext &context) {
  Op::template attachInterface<ScoreModel<Op>>(context);
}
} // namespace

// The records, whose formulas use C++'s names of constants.
namespace attn {
using namespace llvm::numbers;
#define GET_ScoreOpTable_IMPL
#include "attn/dialect/ScoreOps.inc"
} // namespace attn

ArrayRef<ScoreOp> attn::scoreOps() { return ScoreOpTable; }

const ScoreOp *attn::lookUpScoreOp(StringRef name) {
  const ScoreOp *found = llvm::find_if(
      scoreOps(), [&](const ScoreOp &each) { return name == each.name; });
  return found == scoreOps().end() ? nullptr : found;
}

Value attn::expandScoreOp(const ScoreOp &op, ImplicitLocOpBuilder &b,
                          Value operand) {
  return op.expansion(Scalar(b, operand)).in(b, operand.getType());
}

void attn::attachScoreModels(MLIRContext &context) {
  for (const ScoreOp &op : scoreOps()) {
    op.attach(context);
  }
}

std::string attn::listScoreOps() {
  auto names = llvm::map_to_vector(
      scoreOps(), [](const ScoreOp &op) { return StringRef(op.name); });
  llvm::sort(names);
  return llvm::join(names, ", ");
}
