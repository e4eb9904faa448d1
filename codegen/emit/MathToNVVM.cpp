// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers `math` ops for which LLVM's generic intrinsic does not select the
// single instruction, and reductions of vectors, which LLVM would expand too
// late.
#include "Lowering.h"
#include "attn/codegen/target/InlineAsm.h"
#include "attn/dialect/ScoreOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// Replaces op(x) on f32 by an intrinsic on one f32, element by element.
template <typename Op> struct LowerToIntrinsic : OpRewritePattern<Op> {
  LowerToIntrinsic(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<Op>(context), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32()) {
      return rewriter.notifyMatchFailure(op, "not f32");
    }
    Location loc = op.getLoc();
    SmallVector<Value> results;
    for (Value x : unpackElements(rewriter, loc, op.getOperand())) {
      results.push_back(LLVM::CallIntrinsicOp::create(
                            rewriter, loc, x.getType(),
                            rewriter.getStringAttr(intrinsic), ValueRange{x})
                            .getResults());
    }
    rewriter.replaceOp(op, packElements(rewriter, loc, op.getType(), results));
    return success();
  }

  std::string intrinsic;
};

Value makeSplat(OpBuilder &builder, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = builder.getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type)) {
    attr = SplatElementsAttr::get(vector, Attribute(attr));
  }
  return arith::ConstantOp::create(builder, loc, attr);
}

/// e^x = 2^(x * log2 e).
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Value scaled = arith::MulFOp::create(
        rewriter, op.getLoc(), op.getOperand(),
        makeSplat(rewriter, op.getLoc(), op.getType(), 1.4426950408889634),
        op.getFastmath());
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, scaled, op.getFastmath());
    return success();
  }
};

/// ln x = log2 x * ln 2.
struct ExpandLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    Value log2 = math::Log2Op::create(rewriter, op.getLoc(), op.getOperand(),
                                      op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        op, log2,
        makeSplat(rewriter, op.getLoc(), op.getType(), 0.6931471805599453),
        op.getFastmath());
    return success();
  }
};

/// tanh x = y * (c0 + c1 y^2) within a relative 2^-19 for y = 2x * log2 e in
/// [-kTanhSplit, kTanhSplit], fitted for the smallest relative error. One more
/// term would gain two bits, but needs registers that softcapped kernels do not
/// have.
constexpr double kTanhPoly[] = {0.346573025, -0.0138207236};
constexpr double kTanhSplit = 0.2885390081777927; // x = 0.1

/// tanh x = 1 - 2 / (1 + e^2x), and a polynomial near 0, where the difference
/// would lose digits: within 2^-18 of the result. With `afn` the op becomes the
/// single instruction, which is within 2^-11 of it.
struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (arith::bitEnumContainsAll(op.getFastmath(),
                                  arith::FastMathFlags::afn)) {
      return rewriter.notifyMatchFailure(op, "an approximation is asked for");
    }
    Location loc = op.getLoc();
    auto splat = [&](double value) {
      return makeSplat(rewriter, loc, op.getType(), value);
    };
    Value scaled = arith::MulFOp::create(rewriter, loc, op.getOperand(),
                                         splat(2 * 1.4426950408889634));
    Value power = math::Exp2Op::create(rewriter, loc, scaled);
    Value sum = arith::AddFOp::create(rewriter, loc, power, splat(1));
    Value part = arith::DivFOp::create(rewriter, loc, splat(2), sum);
    Value large = arith::SubFOp::create(rewriter, loc, splat(1), part);
    Value magnitude = math::AbsFOp::create(rewriter, loc, scaled);
    Value isSmall = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::OLT, magnitude, splat(kTanhSplit));
    Value square = arith::MulFOp::create(rewriter, loc, scaled, scaled);
    Value factor = math::FmaOp::create(
        rewriter, loc, square, splat(kTanhPoly[1]), splat(kTanhPoly[0]));
    Value small = arith::MulFOp::create(rewriter, loc, factor, scaled);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isSmall, small, large);
    return success();
  }
};

/// Replaces an op on f32 by `expand(x)`, element by element: a thread then
/// keeps the temporaries of one element, not of all.
struct ExpandElements : RewritePattern {
  using Expand = std::function<Value(ImplicitLocOpBuilder &, Value x)>;

  ExpandElements(MLIRContext *context, StringRef name, Expand expand)
      : RewritePattern(name, /*benefit=*/1, context),
        expand(std::move(expand)) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    SmallVector<Value> results;
    for (Value x : unpackElements(rewriter, op->getLoc(), op->getOperand(0))) {
      results.push_back(expand(b, x));
    }
    rewriter.replaceOp(op, packElements(rewriter, op->getLoc(),
                                        op->getResult(0).getType(), results));
    return success();
  }

  Expand expand;
};

Value makeF32(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value makeI32(ImplicitLocOpBuilder &b, uint32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
}

Value makeI64(ImplicitLocOpBuilder &b, uint64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(int64_t(value)));
}

/// Returns the polynomial with these coefficients, the constant one first.
Value makePolynomial(ImplicitLocOpBuilder &b, Value x,
                     ArrayRef<double> coefficients) {
  Value sum = makeF32(b, coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back())) {
    sum = math::FmaOp::create(b, sum, x, makeF32(b, c));
  }
  return sum;
}

/// 1 / (2 pi) times 2^-23, to 192 bits.
constexpr uint64_t kTurn[] = {0x000000517CC1B727, 0x220A94FE13ABE8FA,
                              0x9A6EE06DB14ACC9E};

/// Returns the fraction of |x| / (2 pi), times 2^32, for |x| >= 1. `bits` are
/// those of x = m 2^(e - 150). m times the 64 bits of 1 / (2 pi) from bit e -
/// 150 on is accurate to 2^-40: the bits before contribute whole turns.
Value makeTurns(ImplicitLocOpBuilder &b, Value bits, Value magnitude) {
  auto widen = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, b.getI64Type(), value);
  };
  // kTurn begins with the bit for e = 127. The first word contains it, or, from
  // 2^64 on, the second.
  Value exponent = arith::ShRUIOp::create(b, bits, makeI32(b, 23));
  Value bit = widen(arith::AndIOp::create(
      b, arith::AddIOp::create(b, exponent, makeI32(b, 1)), makeI32(b, 63)));
  Value isSecond = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE,
                                         magnitude, makeF32(b, 0x1p64));
  auto word = [&](unsigned n, unsigned right) -> Value {
    return arith::SelectOp::create(b, isSecond,
                                   makeI64(b, kTurn[n + 1] >> right),
                                   makeI64(b, kTurn[n] >> right));
  };
  Value window = arith::OrIOp::create(
      b, arith::ShLIOp::create(b, word(0, 0), bit),
      arith::ShRUIOp::create(b, word(1, 1),
                             arith::XOrIOp::create(b, bit, makeI64(b, 63))));
  Value m = widen(arith::OrIOp::create(
      b, arith::AndIOp::create(b, bits, makeI32(b, 0x7FFFFF)),
      makeI32(b, 0x800000)));
  Value turns = arith::MulIOp::create(b, window, m);
  return arith::TruncIOp::create(
      b, b.getI32Type(), arith::ShRUIOp::create(b, turns, makeI64(b, 32)));
}

/// The coefficients of (sin r - r) / r^3 in r^2: sin r is then within a
/// relative 2^-27 for r in [-pi/2, pi/2], fitted for the smallest relative
/// error.
constexpr double kSinPoly[] = {-0.166666595445814, 0.00833306608292774,
                               -0.000198095901172573, 2.60575073002157e-06};

/// Returns sin x or, with `quarter`, sin(|x| + pi/2) = cos x, for every finite
/// x within 2^-22, and sin x within a relative 2^-22 for |x| < 1; NaN for an
/// infinity. sin.approx is inaccurate beyond a few turns, so |x| becomes an
/// angle in turns, in fixed point; its difference from the nearest half turn is
/// r, and an odd half turn changes the sign. There are no branches, which would
/// separate the MMAs.
Value expandSine(ImplicitLocOpBuilder &b, Value x, bool quarter) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), x);
  Value magnitude = math::AbsFOp::create(b, x);
  Value turns = makeTurns(b, bits, magnitude);
  Value signBit = makeI32(b, 1u << 31);
  if (quarter) {
    turns = arith::AddIOp::create(b, turns, makeI32(b, 1u << 30));
  }
  Value sign = arith::AndIOp::create(
      b, arith::AddIOp::create(b, turns, makeI32(b, 1u << 30)), signBit);
  // Without the half turns, the highest bit is worth a quarter of a turn.
  Value rest = arith::ShLIOp::create(b, turns, makeI32(b, 1));
  Value r =
      arith::MulFOp::create(b, arith::SIToFPOp::create(b, b.getF32Type(), rest),
                            makeF32(b, 0x1p-32 * llvm::numbers::pi));

  // Below 1, x is more accurate than its turns.
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, magnitude,
                                        makeF32(b, 1));
  Value small = magnitude;
  if (quarter) {
    small = arith::SubFOp::create(b, makeF32(b, llvm::numbers::pi / 2), small);
  }
  r = arith::SelectOp::create(b, isSmall, small, r);
  sign = arith::SelectOp::create(b, isSmall, makeI32(b, 0), sign);
  if (!quarter) {
    Value signOfX = arith::AndIOp::create(b, bits, signBit);
    sign = arith::XOrIOp::create(b, sign, signOfX);
  }
  Value square = arith::MulFOp::create(b, r, r);
  Value sine = math::FmaOp::create(b, arith::MulFOp::create(b, square, r),
                                   makePolynomial(b, square, kSinPoly), r);
  Value signedBits = arith::XOrIOp::create(
      b, arith::BitcastOp::create(b, b.getI32Type(), sine), sign);
  // The integer arithmetic loses infinities and NaNs; x * 0 is 0 or a NaN.
  return math::FmaOp::create(
      b, x, makeF32(b, 0),
      arith::BitcastOp::create(b, b.getF32Type(), signedBits));
}

Value expandSin(ImplicitLocOpBuilder &b, Value x) {
  return expandSine(b, x, /*quarter=*/false);
}

Value expandCos(ImplicitLocOpBuilder &b, Value x) {
  return expandSine(b, x, /*quarter=*/true);
}

/// A sum or product is taken in order of the elements unless `reassoc` is
/// given; a minimum or maximum in four chains.
struct ExpandReduction : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> elements = unpackElements(rewriter, loc, op.getVector());
    vector::CombiningKind kind = op.getKind();
    auto combine = [&](Value a, Value b) {
      return vector::makeArithReduction(rewriter, loc, kind, a, b,
                                        op.getFastmathAttr());
    };
    bool ordered = (kind == vector::CombiningKind::ADD ||
                    kind == vector::CombiningKind::MUL) &&
                   isa<FloatType>(op.getType()) &&
                   !arith::bitEnumContainsAll(op.getFastmath(),
                                              arith::FastMathFlags::reassoc);
    size_t chains = std::min<size_t>(ordered ? 1 : 4, elements.size());
    SmallVector<Value> heads;
    if (op.getAcc() && ordered) {
      elements.insert(elements.begin(), op.getAcc());
    }
    for (auto [i, element] : llvm::enumerate(elements)) {
      if (i < chains) {
        heads.push_back(element);
      } else {
        heads[i % chains] = combine(heads[i % chains], element);
      }
    }
    if (op.getAcc() && !ordered) {
      heads.push_back(op.getAcc());
    }
    Value result = heads.front();
    for (Value head : ArrayRef(heads).drop_front()) {
      result = combine(result, head);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The ops that select to an instruction, beside those that regions may
/// contain.
bool isInstruction(Operation *op) {
  return isa<math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::RoundEvenOp, math::TruncOp>(
      op);
}

} // namespace

LogicalResult attn::codegen::verifyMath(gpu::GPUModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect())) {
      return WalkResult::advance();
    }
    const ScoreOp *function = lookUpScoreOp(op);
    if (!function && !isInstruction(op)) {
      return op->emitError("expected an operation that the target has an "
                           "instruction for, got '")
             << op->getName() << "'";
    }
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    if (function && function->isF32Only && !type.isF32()) {
      return op->emitError("expected '")
             << op->getName() << "' on f32, got " << type;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void attn::codegen::populateMathToNVVMPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerToIntrinsic<math::Log2Op>>(context,
                                               "llvm.nvvm.lg2.approx.ftz.f");
  patterns.add<LowerToIntrinsic<math::RsqrtOp>>(context,
                                                "llvm.nvvm.rsqrt.approx.ftz.f");
  patterns.add<ExpandExp, ExpandLog, ExpandReduction>(context);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
}

void attn::codegen::populatePreciseMathPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandTanh>(context);
  patterns.add<ExpandElements>(context, "math.sin", expandSin);
  patterns.add<ExpandElements>(context, "math.cos", expandCos);
  for (const ScoreOp &op : scoreOps()) {
    if (op.expansion) {
      patterns.add<ExpandElements>(context, op.name,
                                   [&op](ImplicitLocOpBuilder &b, Value x) {
                                     return expandScoreOp(op, b, x);
                                   });
    }
  }
}
