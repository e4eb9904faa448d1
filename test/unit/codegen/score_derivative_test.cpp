// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivatives of score ops, against quotients of differences: of every op
// of the allow-list that takes f32 numbers and gives one.
#include "attn/dialect/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;

namespace {

class ScoreDerivative : public testing::Test {
protected:
  ScoreDerivative() {
    context.loadDialect<arith::ArithDialect, math::MathDialect, AttnDialect>();
    // What does not verify is no op of f32 numbers.
    context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }

  Value constant(double value) {
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                     builder.getF32FloatAttr(float(value)));
  }

  /// The op of some f32 numbers; null if it is none of them.
  Operation *create(StringRef name, ArrayRef<double> numbers) {
    SmallVector<Value> operands;
    for (double number : numbers) {
      operands.push_back(constant(number));
    }
    OperationState state(builder.getUnknownLoc(), name);
    state.addOperands(operands);
    state.addTypes(builder.getF32Type());
    Operation *op = builder.create(state);
    if (succeeded(verify(op))) {
      return op;
    }
    op->erase();
    return nullptr;
  }

  /// The constant that a value folds to.
  std::optional<double> fold(Value value) {
    Operation *op = value.getDefiningOp();
    Attribute known;
    if (matchPattern(value, m_Constant(&known))) {
      auto number = dyn_cast<FloatAttr>(known);
      return number ? number.getValueAsDouble()
                    : double(cast<IntegerAttr>(known).getInt());
    }
    // What has no folder.
    if (isa<math::FmaOp>(op)) {
      return *fold(op->getOperand(0)) * *fold(op->getOperand(1)) +
             *fold(op->getOperand(2));
    }
    if (isa<math::RsqrtOp>(op)) {
      return 1 / std::sqrt(*fold(op->getOperand(0)));
    }
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      std::optional<double> number = fold(operand);
      if (!number) {
        return std::nullopt;
      }
      operands.push_back(operand.getType().isF32()
                             ? Attribute(builder.getF32FloatAttr(*number))
                             : builder.getBoolAttr(*number != 0));
    }
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1) {
      return std::nullopt;
    }
    if (auto same = dyn_cast<Value>(results[0])) {
      return fold(same);
    }
    Attribute result = cast<Attribute>(results[0]);
    auto number = dyn_cast<FloatAttr>(result);
    return number ? number.getValueAsDouble()
                  : double(cast<IntegerAttr>(result).getInt() != 0);
  }

  std::optional<double> evaluate(StringRef name, ArrayRef<double> numbers) {
    Operation *op = create(name, numbers);
    return op ? fold(op->getResult(0)) : std::nullopt;
  }

  MLIRContext context;
  OpBuilder builder{&context};
  Block block;
};

TEST_F(ScoreDerivative, IsTheQuotientOfSmallDifferences) {
  builder.setInsertionPointToEnd(&block);
  const double points[][3] = {
      {0.7, 1.9, -0.4}, {-1.3, 0.6, 2.1}, {2.2, -1.5, 0.3}};
  std::string names = listScoreOps();
  int differentiated = 0;
  for (StringRef name : llvm::split(names, ", ")) {
    for (size_t arity = 1; arity <= 3; ++arity) {
      for (const double *point : points) {
        SmallVector<double> at(point, point + arity);
        Operation *op = create(name, at);
        std::optional<double> here = op ? fold(op->getResult(0)) : std::nullopt;
        if (!here || std::isnan(*here)) {
          continue; // no op of so many numbers, or not defined at the point
        }
        for (unsigned n = 0; n < arity; ++n) {
          FailureOr<Value> slope =
              cast<ScoreOpInterface>(op).differentiate(builder, n);
          ASSERT_TRUE(succeeded(slope)) << name.str() << " by " << n;
          constexpr double step = 1.0 / 128;
          SmallVector<double> above(at), below(at);
          above[n] += step;
          below[n] -= step;
          double quotient =
              (*evaluate(name, above) - *evaluate(name, below)) / (2 * step);
          std::optional<double> exact = fold(*slope);
          ASSERT_TRUE(exact) << name.str() << " by " << n;
          EXPECT_NEAR(*exact, quotient, 1e-3 * (1 + std::fabs(quotient)))
              << name.str() << " by " << n << " at " << at[n];
          ++differentiated;
        }
      }
    }
  }
  // Twelve functions of one number at a point each, and those of more.
  EXPECT_GT(differentiated, 40);
}

} // namespace
