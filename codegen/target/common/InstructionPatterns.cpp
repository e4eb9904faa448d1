// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose values follow directly from the kernel's parameters, from shared
// memory or from other numbers.
#include "InstructionPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

void codegen::populateTypeConversions(TypeConverter &types) {
  types.addConversion([](Type type) { return type; });
  types.addConversion([](ws::SlotType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  types.addConversion(
      [](ws::TokenType, SmallVectorImpl<Type> &) { return success(); });
  types.addSourceMaterialization([](OpBuilder &builder, ws::SlotType type,
                                    ValueRange offset, Location loc) -> Value {
    return ws::SlotAtOp::create(builder, loc, type, offset.front());
  });
}

namespace {

/// A slot becomes the offset of its tile.
struct SlotAtPattern : OpConversionPattern<ws::SlotAtOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ws::SlotAtOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOffset());
    return success();
  }
};

struct SmemPattern : OpConversionPattern<ws::SmemOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ws::SmemOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = smemAddress(rewriter, op.getLoc(), adaptor.getOffset());
    rewriter.replaceOp(op, sharedPointer(rewriter, op.getLoc(), address));
    return success();
  }
};

/// The launch decides which items are cut.
struct CutPattern : ParamPattern<tile::CutOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::CutOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, {params.cut(0), params.cut(1)});
    return success();
  }
};

struct SkipPattern : OpConversionPattern<tile::SkipOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::SkipOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value isBefore =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                              adaptor.getIteration(), adaptor.getFrom());
    Value gap = arith::SelectOp::create(
        rewriter, loc, isBefore,
        arith::ConstantIntOp::create(rewriter, loc, 0, 32), adaptor.getGap());
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, adaptor.getIteration(), gap);
    return success();
  }
};

} // namespace

void codegen::populateValuePatterns(RewritePatternSet &patterns,
                                    const TypeConverter &types,
                                    const ParamValues &params) {
  patterns.add<SlotAtPattern, SmemPattern, SkipPattern>(types,
                                                        patterns.getContext());
  patterns.add<CutPattern>(types, patterns.getContext(), params);
}
