// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of ScoreOps.td: derivatives against quotients of differences, and
// expansions against values.
#include "attn/dialect/Attn.h"
#include "attn/dialect/ScoreOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;

namespace {

struct FloatWord {
  const char *name;
  unsigned operands;
  double (*value)(double a, double b, double c);
  double (*error)(double a, double y);
};
#define GET_FloatWordTable_IMPL
#include "attn/dialect/ScoreOps.inc"

double compute(const FloatWord &word, ArrayRef<double> numbers) {
  return word.value(numbers[0], numbers[1], numbers[2]);
}

class ScoreOps : public testing::Test {
protected:
  ScoreOps() {
    context.loadDialect<arith::ArithDialect, math::MathDialect, AttnDialect>();
    builder.setInsertionPointToEnd(&block);
  }

  Value constant(double value) {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  }

  Operation *create(StringRef name, ArrayRef<double> numbers) {
    OperationState state(builder.getLoc(), name);
    state.addOperands(llvm::map_to_vector(
        numbers, [&](double number) { return constant(number); }));
    state.addTypes(builder.getF32Type());
    return builder.create(state);
  }

  static const FloatWord *findWord(StringRef name) {
    const FloatWord *found =
        llvm::find_if(FloatWordTable, [&](const FloatWord &word) {
          return name.split('.').second == word.name;
        });
    return found == std::end(FloatWordTable) ? nullptr : found;
  }

  /// What ops compute of constants, in float64. A truth value is 0 or 1.
  double evaluate(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto number = dyn_cast<FloatAttr>(constant.getValue());
      return number ? number.getValueAsDouble()
                    : cast<BoolAttr>(constant.getValue()).getValue();
    }
    double numbers[3] = {};
    for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
      numbers[n] = evaluate(operand);
    }
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      return arith::applyCmpPredicate(compare.getPredicate(),
                                      APFloat(numbers[0]), APFloat(numbers[1]));
    }
    if (isa<arith::SelectOp>(op)) {
      return numbers[0] != 0 ? numbers[1] : numbers[2];
    }
    if (isa<math::CopySignOp>(op)) {
      return std::copysign(numbers[0], numbers[1]);
    }
    return compute(*findWord(op->getName().getStringRef()), numbers);
  }

  MLIRContext context;
  ImplicitLocOpBuilder builder{UnknownLoc::get(&context), &context};
  Block block;
};

TEST_F(ScoreOps, DerivativesAreQuotientsOfSmallDifferences) {
  constexpr float points[] = {-7.3f, -0.7f, -0.3f, 0.2f, 0.6f, 1.9f, 5.1f};
  constexpr double step = 0x1p-16;
  for (const ScoreOp &record : scoreOps()) {
    const FloatWord *word = findWord(record.name);
    for (unsigned n = 0; word && n < word->operands; ++n) {
      int tried = 0;
      for (size_t first = 0; first < std::size(points); ++first) {
        double at[3], above[3], below[3];
        for (size_t i = 0; i < 3; ++i) {
          at[i] = points[(first + 2 * i) % std::size(points)];
          above[i] = at[i] + (i == n ? step : 0);
          below[i] = at[i] - (i == n ? step : 0);
        }
        double quotient =
            (compute(*word, above) - compute(*word, below)) / (2 * step);
        if (!std::isfinite(quotient)) {
          continue; // outside of the domain
        }
        ++tried;
        Operation *op =
            create(record.name, ArrayRef(at).take_front(word->operands));
        FailureOr<Value> slope =
            cast<ScoreOpInterface>(op).differentiate(builder, n);
        ASSERT_TRUE(succeeded(slope)) << record.name << " by " << n;
        EXPECT_NEAR(evaluate(*slope), quotient,
                    1e-6 * (1 + std::fabs(quotient)))
            << record.name << " by " << n << " at " << at[n];
      }
      EXPECT_GE(tried, 2) << record.name;
    }
  }
}

TEST_F(ScoreOps, ASelectIsDifferentiatedByItsNumbers) {
  Value isTrue = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  auto op = arith::SelectOp::create(builder, isTrue, constant(2), constant(3));
  auto score = cast<ScoreOpInterface>(op.getOperation());
  EXPECT_TRUE(failed(score.differentiate(builder, 0)));
  EXPECT_EQ(evaluate(*score.differentiate(builder, 1)), 1);
  EXPECT_EQ(evaluate(*score.differentiate(builder, 2)), 0);
}

/// Values of all sizes, both signs, and those at the edges.
std::vector<double> samples() {
  std::vector<double> points = {0, INFINITY, NAN, FLT_MAX};
  for (double size = 0x1p-40; size < 0x1p40; size *= 1.01) {
    points.push_back(float(size));
  }
  for (size_t n = 0, count = points.size(); n < count; ++n) {
    points.push_back(-points[n]);
  }
  return points;
}

TEST_F(ScoreOps, ExpansionsAreAsCloseAsTheyShouldBe) {
  int expanded = 0;
  for (const ScoreOp &record : scoreOps()) {
    if (!record.expansion) {
      continue;
    }
    ++expanded;
    const FloatWord &word = *findWord(record.name);
    for (double point : samples()) {
      double want = word.value(point, 0, 0);
      double got = evaluate(expandScoreOp(record, builder, constant(point)));
      block.clear();
      if (!std::isfinite(want)) {
        EXPECT_EQ(std::isnan(got), std::isnan(want))
            << record.name << " of " << point;
        EXPECT_TRUE(std::isnan(want) || got == want)
            << record.name << " of " << point;
        continue;
      }
      EXPECT_LE(std::fabs(got - want), std::fabs(word.error(point, want)))
          << record.name << " of " << point << ", " << got;
    }
  }
  EXPECT_GT(expanded, 0);
}

} // namespace
