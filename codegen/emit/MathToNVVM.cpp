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
constexpr uint32_t kTurn[] = {0x00000051, 0x7CC1B727, 0x220A94FE,
                              0x13ABE8FA, 0x9A6EE06D, 0xB14ACC9E};

/// Returns the fraction of |x| / (2 pi), times 2^32, for |x| >= 1. `bits` are
/// those of x = m 2^(e - 150). m times the 64 bits of 1 / (2 pi) from bit e -
/// 150 on is accurate to 2^-40: the bits before contribute whole turns. The
/// arithmetic is on 32 bits: on 64 bits the assembler would need twice the
/// time.
Value makeTurns(ImplicitLocOpBuilder &b, Value bits, Value magnitude) {
  // kTurn begins with the bit for e = 127.
  Value place = arith::AddIOp::create(
      b, arith::ShRUIOp::create(b, bits, makeI32(b, 23)), makeI32(b, 1));
  Value isBy64 = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, magnitude,
                                       makeF32(b, 0x1p64));
  Value isBy32 = arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt,
      arith::ShLIOp::create(b, place, makeI32(b, 31 - 5)), makeI32(b, 0));
  SmallVector<Value> words;
  for (unsigned n = 0; n < 4; ++n) {
    words.push_back(arith::SelectOp::create(b, isBy64, makeI32(b, kTurn[n + 2]),
                                            makeI32(b, kTurn[n])));
  }
  for (unsigned n = 0; n < 3; ++n) {
    words[n] = arith::SelectOp::create(b, isBy32, words[n + 1], words[n]);
  }
  Value high = LLVM::FshlOp::create(b, words[0], words[1], place);
  Value low = LLVM::FshlOp::create(b, words[1], words[2], place);
  Value m = arith::OrIOp::create(
      b, arith::AndIOp::create(b, bits, makeI32(b, 0x7FFFFF)),
      makeI32(b, 0x800000));
  Value carry = arith::MulUIExtendedOp::create(b, low, m).getHigh();
  return arith::AddIOp::create(b, arith::MulIOp::create(b, high, m), carry);
}

/// The coefficients of (sin r - r) / r^3 in r^2: sin r is then within a
/// relative 2^-27 for r in [-pi/2, pi/2], fitted for the smallest relative
/// error.
constexpr double kSinPoly[] = {-0.166666595445814, 0.00833306608292774,
                               -0.000198095901172573, 2.60575073002157e-06};

/// Returns sin x or, with `quarter`, sin(|x| + pi/2) = cos x, for every finite
/// x within 2^-22, and sin x within a relative 2^-22 for |x| < 1; NaN for an
/// infinity. sin.approx is inaccurate beyond a few turns, so |x| becomes an
/// angle in turns, in fixed point, which is then reflected into [-1/4, 1/4].
/// There are no branches, which would separate the MMAs.
Value expandSine(ImplicitLocOpBuilder &b, Value x, bool quarter) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), x);
  Value magnitude = math::AbsFOp::create(b, x);
  Value turns = makeTurns(b, bits, magnitude);
  if (quarter) {
    turns = arith::AddIOp::create(b, turns, makeI32(b, 1u << 30));
  }
  // An angle t beyond 1/4 or -1/4, whose two highest bits differ, has the sine
  // of 1/2 - t or -1/2 - t: but for 2^-32, all bits are inverted except the
  // sign.
  Value differ = arith::XOrIOp::create(
      b, arith::ShLIOp::create(b, turns, makeI32(b, 1)), turns);
  Value isBeyond = arith::ShRSIOp::create(b, differ, makeI32(b, 31));
  turns = arith::XOrIOp::create(
      b, turns, arith::AndIOp::create(b, isBeyond, makeI32(b, 0x7FFFFFFF)));
  Value angle = arith::MulFOp::create(
      b, arith::SIToFPOp::create(b, b.getF32Type(), turns),
      makeF32(b, 0x1p-31 * llvm::numbers::pi));

  // Below 1, x is more accurate than its turns.
  Value small = magnitude;
  Value isSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, small, makeF32(b, 1));
  if (quarter) {
    small = arith::SubFOp::create(b, makeF32(b, llvm::numbers::pi / 2), small);
  }
  Value r = arith::SelectOp::create(b, isSmall, small, angle);
  Value square = arith::MulFOp::create(b, r, r);
  Value sine = math::FmaOp::create(b, arith::MulFOp::create(b, square, r),
                                   makePolynomial(b, square, kSinPoly), r);
  if (!quarter) {
    Value sign = arith::AndIOp::create(b, bits, makeI32(b, 1u << 31));
    sine = arith::BitcastOp::create(b, b.getI32Type(), sine);
    sine = arith::BitcastOp::create(b, b.getF32Type(),
                                    arith::XOrIOp::create(b, sine, sign));
  }
  // The integer arithmetic loses infinities and NaNs; x * 0 is 0 or a NaN.
  return math::FmaOp::create(b, x, makeF32(b, 0), sine);
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

/// The ops that become one instruction, besides those that regions may contain.
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
