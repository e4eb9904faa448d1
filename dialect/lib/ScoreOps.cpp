// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that score and mask regions may use, and their derivatives.
#include "attn/dialect/Attn.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

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

namespace {
/// Scalar f32 arithmetic for derivatives.
struct Calc {
  OpBuilder &builder;
  Location loc;

  Value constant(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  /// Returns 1 where `condition` holds, else 0.
  Value indicator(Value condition) {
    return arith::SelectOp::create(builder, loc, condition, constant(1.0),
                                   constant(0.0));
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
};
} // namespace

constexpr double kLn2 = 0.69314718055994530942;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

/// Returns the partial derivative of `op` by operand `n`; null if not
/// differentiable.
static Value derivative(Calc c, Operation *op, unsigned n) {
  auto operand = [&](unsigned i) { return op->getOperand(i); };
  auto result = [&] { return op->getResult(0); };
  using Case = llvm::TypeSwitch<Operation *, Value>;
  using arith::CmpFPredicate;
  return Case(op)
      .Case<arith::AddFOp>([&](auto) { return c.constant(1.0); })
      .Case<arith::SubFOp>([&](auto) { return c.constant(n ? -1.0 : 1.0); })
      .Case<arith::NegFOp>([&](auto) { return c.constant(-1.0); })
      .Case<arith::MulFOp>([&](auto) { return operand(1 - n); })
      .Case<arith::DivFOp>([&](auto) {
        Value inverse = c.div(c.constant(1.0), operand(1));
        return n ? c.neg(c.mul(result(), inverse)) : inverse;
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
        // For equal operands the first one counts.
        auto predicate = n ? CmpFPredicate::OGT : CmpFPredicate::OGE;
        return c.indicator(c.compare(predicate, operand(n), operand(1 - n)));
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
        auto predicate = n ? CmpFPredicate::OLT : CmpFPredicate::OLE;
        return c.indicator(c.compare(predicate, operand(n), operand(1 - n)));
      })
      .Case<arith::SelectOp>([&](auto) -> Value {
        if (n == 0) {
          return {};
        }
        Value taken = c.indicator(operand(0));
        return n == 1 ? taken
                      : arith::SubFOp::create(c.builder, c.loc, c.constant(1.0),
                                              taken);
      })
      .Case<math::FmaOp>(
          [&](auto) { return n == 2 ? c.constant(1.0) : operand(1 - n); })
      .Case<math::ExpOp>([&](auto) { return result(); })
      .Case<math::Exp2Op>(
          [&](auto) { return c.mul(result(), c.constant(kLn2)); })
      .Case<math::LogOp>(
          [&](auto) { return c.div(c.constant(1.0), operand(0)); })
      .Case<math::Log2Op>([&](auto) {
        return c.div(c.constant(1.0), c.mul(operand(0), c.constant(kLn2)));
      })
      .Case<math::SqrtOp>(
          [&](auto) { return c.div(c.constant(0.5), result()); })
      .Case<math::RsqrtOp>([&](auto) {
        return c.mul(c.constant(-0.5), c.div(result(), operand(0)));
      })
      .Case<math::SinOp>([&](auto) -> Value {
        return math::CosOp::create(c.builder, c.loc, operand(0));
      })
      .Case<math::CosOp>([&](auto) -> Value {
        return c.neg(math::SinOp::create(c.builder, c.loc, operand(0)));
      })
      .Case<math::ErfOp>([&](auto) -> Value {
        Value square = c.mul(operand(0), operand(0));
        Value bell = math::ExpOp::create(c.builder, c.loc, c.neg(square));
        return c.mul(c.constant(kTwoOverSqrtPi), bell);
      })
      .Case<math::TanhOp>([&](auto) -> Value {
        Value square = c.mul(result(), result());
        return arith::SubFOp::create(c.builder, c.loc, c.constant(1.0), square);
      })
      .Case<math::AbsFOp>([&](auto) -> Value {
        Value negative =
            c.compare(CmpFPredicate::OLT, operand(0), c.constant(0.0));
        return arith::SelectOp::create(c.builder, c.loc, negative,
                                       c.constant(-1.0), c.constant(1.0));
      })
      .Default([](Operation *) { return Value(); });
}

namespace {
template <typename Op>
struct ScoreModel : public ScoreOpInterface::ExternalModel<ScoreModel<Op>, Op> {
  FailureOr<Value> differentiate(Operation *op, OpBuilder &builder,
                                 unsigned number) const {
    if (number >= op->getNumOperands() || op->getNumResults() != 1 ||
        !op->getOperand(number).getType().isF32() ||
        !op->getResult(0).getType().isF32()) {
      return failure();
    }
    Value value = derivative({builder, op->getLoc()}, op, number);
    if (!value) {
      return failure();
    }
    return value;
  }
};
} // namespace

namespace {
template <typename... Ops> struct OpList {
  static void attach(MLIRContext &context) {
    (Ops::template attachInterface<ScoreModel<Ops>>(context), ...);
  }
  static SmallVector<StringRef> names() { return {Ops::getOperationName()...}; }
};

/// The allow-list.
using ScoreOps =
    OpList<arith::AddFOp, arith::AddIOp, arith::AndIOp, arith::CmpFOp,
           arith::CmpIOp, arith::ConstantOp, arith::DivFOp, arith::DivSIOp,
           arith::DivUIOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp,
           arith::FPToSIOp, arith::FPToUIOp, arith::IndexCastOp,
           arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp,
           arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp,
           arith::MulFOp, arith::MulIOp, arith::NegFOp, arith::OrIOp,
           arith::RemSIOp, arith::RemUIOp, arith::SelectOp, arith::ShLIOp,
           arith::ShRSIOp, arith::ShRUIOp, arith::SIToFPOp, arith::SubFOp,
           arith::SubIOp, arith::TruncFOp, arith::TruncIOp, arith::UIToFPOp,
           arith::XOrIOp, math::AbsFOp, math::CosOp, math::ErfOp, math::ExpOp,
           math::Exp2Op, math::FmaOp, math::LogOp, math::Log2Op, math::RsqrtOp,
           math::SinOp, math::SqrtOp, math::TanhOp, tensor::ExtractOp>;
} // namespace

void attn::attachScoreModels(MLIRContext &context) {
  ScoreOps::attach(context);
}

std::string attn::listScoreOps() { return llvm::join(ScoreOps::names(), ", "); }
