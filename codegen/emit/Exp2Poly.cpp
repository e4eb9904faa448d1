// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands `nvx.exp2_poly`: Cody-Waite, Horner, exponent by integer addition.
#include "attn/dialect/Exp2Poly.h"
#include "Lowering.h"
#include "attn/dialect/Nvx.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

struct ExpandExp2Poly : OpRewritePattern<nvx::Exp2PolyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::Exp2PolyOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    auto constant = [&](float value) {
      return makeConstant(rewriter, loc, type, rewriter.getF32FloatAttr(value));
    };
    // The additions round to an integer. No operand of them is a product, so
    // contraction cannot undo that.
    Value round = constant(exp2poly::kRound);
    Value x = arith::MaximumFOp::create(rewriter, loc, op.getX(),
                                        constant(exp2poly::kClampBelow));
    x = arith::MinimumFOp::create(rewriter, loc, x,
                                  constant(exp2poly::kClampAbove));
    Value shifted = arith::AddFOp::create(rewriter, loc, x, round);
    Value whole = arith::SubFOp::create(rewriter, loc, shifted, round);
    Value fraction = arith::SubFOp::create(rewriter, loc, x, whole);

    const float *c =
        exp2poly::kCoefficients[op.getDegree() - exp2poly::kMinDegree];
    Value sum = constant(c[op.getDegree()]);
    for (int i = op.getDegree() - 1; i >= 0; --i) {
      sum = math::FmaOp::create(rewriter, loc, sum, fraction, constant(c[i]));
    }
    // The integer arithmetic loses a NaN; x * 0, which is 0 or NaN, restores
    // it.
    Value result = addExponent(rewriter, loc, sum, shifted);
    rewriter.replaceOpWithNewOp<math::FmaOp>(op, x, constant(0), result);
    return success();
  }

private:
  static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                            TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type)) {
      return arith::ConstantOp::create(
          builder, loc, SplatElementsAttr::get(vector, Attribute(element)));
    }
    return arith::ConstantOp::create(builder, loc, element);
  }

  /// Returns `sum` times 2 to the power of the integer in the low bits of
  /// `shifted`.
  static Value addExponent(OpBuilder &builder, Location loc, Value sum,
                           Value shifted) {
    Type type = sum.getType();
    Type bits = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type)) {
      bits = vector.clone(bits);
    }
    Value left = makeConstant(
        builder, loc, bits, builder.getI32IntegerAttr(exp2poly::kMantissaBits));
    Value exponent = arith::ShLIOp::create(
        builder, loc, arith::BitcastOp::create(builder, loc, bits, shifted),
        left);
    Value result = arith::AddIOp::create(
        builder, loc, arith::BitcastOp::create(builder, loc, bits, sum),
        exponent);
    return arith::BitcastOp::create(builder, loc, type, result);
  }
};

} // namespace

void attn::codegen::populateExp2PolyPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExp2Poly>(patterns.getContext());
}
