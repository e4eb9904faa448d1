// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-differentiate: the derivatives that it writes, evaluated in float64,
// against quotients of small differences, and at kinks against torch.
#include "attn/dialect/ScoreOps.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
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

enum class By { Score, Capture };

/// A score region in float64: of the score `s`, with `%cap` = 1.5 and `%i` = 3;
/// or of the capture `s`, where `%cap` is the score.
class Derived {
public:
  /// `body` computes %z from %s.
  explicit Derived(const std::string &body, By by = By::Score) : by(by) {
    bool byScore = by == By::Score;
    std::string marked = byScore ? "" : " {attn.gradient}";
    std::string score = byScore ? "%s" : "%cap";
    std::string capture = byScore ? "%cap" : "%s";
    context
        .loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                     tensor::TensorDialect, AttnDialect>();
    std::string text = R"(
      !t = tensor<?x?x?x64xbf16>
      !l = tensor<?x?x?xf32>
      func.func @f(%q: !t, %k: !t, %v: !t, %scale: f32, %c: f32)" +
                       marked +
                       R"() -> (!t, !l) {
        %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
            captures(%c : f32)
            score_region {
            ^bb0()" + score +
                       ": f32, %b: i32, %h: i32, %i: i32, %j: i32, " + capture +
                       ": f32):\n" + body +
                       R"(
              attn.yield %z : f32
            } : (!t, !t, !t) -> (!t, !l)
        return %o, %lse : !t, !l
      })";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    PassManager manager(&context);
    manager.addPass(createDifferentiate());
    EXPECT_TRUE(succeeded(manager.run(*module))) << text;
    module->walk([&](AttentionBwdOp op) {
      if (op.isOfCapture() == (by == By::Capture)) {
        region = &op.getScoreRegion();
      }
    });
  }

  double score(double s) { return result(0, s); }
  double slope(double s) { return result(1, s); }

private:
  double result(unsigned number, double s) {
    Block &block = region->front();
    known.clear();
    known[block.getArgument(0)] = by == By::Score ? s : 1.5;
    known[block.getArgument(3)] = 3;
    known[block.getArgument(5)] = by == By::Score ? 1.5 : s;
    return evaluate(block.getTerminator()->getOperand(number));
  }

  double evaluate(Value value) {
    if (auto found = known.find(value); found != known.end()) {
      return found->second;
    }
    Operation *op = value.getDefiningOp();
    double numbers[3] = {};
    for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
      numbers[n] = evaluate(operand);
    }
    double number = compute(op, numbers);
    known[value] = number;
    return number;
  }

  static double compute(Operation *op, const double *numbers) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto number = dyn_cast<FloatAttr>(constant.getValue());
      return number ? number.getValueAsDouble()
                    : double(cast<IntegerAttr>(constant.getValue()).getInt());
    }
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      return arith::applyCmpPredicate(compare.getPredicate(),
                                      APFloat(numbers[0]), APFloat(numbers[1]));
    }
    if (isa<arith::SelectOp>(op)) {
      return numbers[0] != 0 ? numbers[1] : numbers[2];
    }
    if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op)) {
      return numbers[0];
    }
    StringRef name = op->getName().stripDialect();
    const FloatWord *word =
        llvm::find_if(FloatWordTable,
                      [&](const FloatWord &each) { return name == each.name; });
    EXPECT_NE(word, std::end(FloatWordTable)) << name.str();
    return word->value(numbers[0], numbers[1], numbers[2]);
  }

  By by;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Region *region = nullptr;
  llvm::DenseMap<Value, double> known;
};

void expectDifferences(const std::string &body, By by) {
  Derived derived(body, by);
  constexpr double step = 0x1p-16;
  for (double s : {-1.1, -0.3, 0.2, 0.9}) {
    double want =
        (derived.score(s + step) - derived.score(s - step)) / (2 * step);
    EXPECT_NEAR(derived.slope(s), want, 1e-6 * (1 + std::fabs(want)))
        << body << " at " << s;
  }
}

void expectDifferences(const std::string &body) {
  expectDifferences(body, By::Score);
  expectDifferences(body, By::Capture);
}

/// Of (s^2 + 0.75, 1.6 s, 0.75), where all functions are smooth and finite.
std::string applied(const ScoreOp &record, unsigned operands) {
  std::string op = record.name;
  const char *all[] = {"%a", "%t", "%c1"};
  std::string list;
  for (unsigned n = 0; n < operands; ++n) {
    list += (n == 0 ? " " : ", ") + std::string(all[n]);
  }
  return "%c1 = arith.constant 0.75 : f32\n"
         "%c2 = arith.constant 1.6 : f32\n"
         "%square = arith.mulf %s, %s : f32\n"
         "%a = arith.addf %square, %c1 : f32\n"
         "%t = arith.mulf %s, %c2 : f32\n"
         "%z = " +
         op + list + " : f32";
}

TEST(Differentiate, EachFunctionOfFloats) {
  int tried = 0;
  for (const ScoreOp &record : scoreOps()) {
    StringRef name = StringRef(record.name).split('.').second;
    const FloatWord *word =
        llvm::find_if(FloatWordTable,
                      [&](const FloatWord &each) { return name == each.name; });
    if (word != std::end(FloatWordTable)) {
      expectDifferences(applied(record, word->operands));
      ++tried;
    }
  }
  EXPECT_GE(tried, 20);
}

TEST(Differentiate, ScoreFunctions) {
  expectDifferences("%ratio = arith.divf %s, %cap : f32\n"
                    "%t = math.tanh %ratio : f32\n"
                    "%z = arith.mulf %t, %cap : f32");
  expectDifferences("%at = arith.sitofp %i : i32 to f32\n"
                    "%bias = arith.mulf %at, %cap : f32\n"
                    "%z = arith.addf %s, %bias : f32");
  expectDifferences("%wide = arith.extf %s : f32 to f64\n"
                    "%square = arith.mulf %wide, %wide : f64\n"
                    "%more = arith.maximumf %square, %wide : f64\n"
                    "%root = math.sqrt %more : f64\n"
                    "%narrow = arith.truncf %root : f64 to f32\n"
                    "%z = arith.subf %s, %narrow : f32");
  expectDifferences("%zero = arith.constant 0.0 : f32\n"
                    "%positive = arith.cmpf ogt, %s, %zero : f32\n"
                    "%e = math.exp %s : f32\n"
                    "%z = arith.select %positive, %s, %e : f32");
}

TEST(Differentiate, AScoreThatDependsOnNothing) {
  Derived derived("%z = arith.constant 2.0 : f32");
  EXPECT_EQ(derived.score(1), 2);
  EXPECT_EQ(derived.slope(1), 0);
  EXPECT_EQ(Derived("%z = arith.constant 2.0 : f32", By::Capture).slope(1), 0);
}

TEST(Differentiate, KinksLikeTorch) {
  for (const char *op : {"arith.maximumf", "arith.minimumf"}) {
    EXPECT_EQ(Derived(std::string("%z = ") + op + " %s, %cap : f32").slope(1.5),
              0.5);
  }
  for (const char *op : {"arith.maxnumf", "arith.minnumf"}) {
    std::string name = op;
    EXPECT_EQ(Derived("%z = " + name + " %s, %cap : f32").slope(1.5), 1);
    EXPECT_EQ(Derived("%z = " + name + " %cap, %s : f32").slope(1.5), 0);
  }
  Derived magnitude("%z = math.absf %s : f32");
  EXPECT_EQ(magnitude.slope(-2), -1);
  EXPECT_EQ(magnitude.slope(0), 0);
  EXPECT_EQ(magnitude.slope(2), 1);
}

TEST(Differentiate, ARoundingPassesSlopesOn) {
  Derived rounded("%half = arith.truncf %s : f32 to bf16\n"
                  "%back = arith.extf %half : bf16 to f32\n"
                  "%z = arith.mulf %back, %cap : f32");
  EXPECT_EQ(rounded.slope(0.3), 1.5);
  Derived chosen("%half = arith.truncf %s : f32 to f16\n"
                 "%true = arith.constant true\n"
                 "%one = arith.constant 1.0 : f16\n"
                 "%some = arith.select %true, %half, %one : f16\n"
                 "%z = arith.extf %some : f16 to f32");
  EXPECT_EQ(chosen.slope(0.3), 1);
}

/// A root is infinitely steep at 0, where these do not take it or take it of
/// something that does not depend on the score.
TEST(Differentiate, WhatIsNotChosenHasNoPart) {
  const std::string choose = "%zero = arith.constant 0.0 : f32\n"
                             "%positive = arith.cmpf ogt, %s, %zero : f32\n";
  Derived outside(choose + "%root = math.sqrt %s : f32\n"
                           "%z = arith.select %positive, %root, %zero : f32");
  EXPECT_EQ(outside.slope(0), 0);
  EXPECT_EQ(outside.slope(4), 0.25);
  Derived inside(choose + "%some = arith.select %positive, %s, %zero : f32\n"
                          "%z = math.sqrt %some : f32");
  EXPECT_EQ(inside.slope(-1), 0);
  EXPECT_EQ(inside.slope(4), 0.25);
  Derived relu("%zero = arith.constant 0.0 : f32\n"
               "%some = arith.maximumf %s, %zero : f32\n"
               "%z = math.sqrt %some : f32");
  EXPECT_EQ(relu.slope(-1), 0);
  Derived ofCapture(choose + "%root = math.sqrt %s : f32\n"
                             "%z = arith.select %positive, %root, %zero : f32",
                    By::Capture);
  EXPECT_EQ(ofCapture.slope(0), 0);
  EXPECT_EQ(ofCapture.slope(4), 0.25);
}

} // namespace
