// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-distribute: turns tiles into the values that one thread holds.
#include "Target.h"
#include "TilePatterns.h"
#include "attn/codegen/target/Passes.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace attn::codegen {
#define GEN_PASS_DEF_DISTRIBUTE
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// A packed tile: two 16-bit elements in a register.
bool isPackedTile(Type type) {
  tile::LayoutAttr layout = layoutOf(type);
  return layout && !layout.getDroppedDim() &&
         isPacked(getElementTypeOrSelf(type));
}

//===----------------------------------------------------------------------===//
// What has a lowering.
//===----------------------------------------------------------------------===//

/// Checks that the shape of a layout is that of the tile.
LogicalResult checkLayout(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    return success();
  }
  tile::LayoutAttr layout = layoutOf(tensor);
  if (!layout) {
    return op->emitOpError(
               "attn-distribute: expected a tile with a layout, got ")
           << tensor;
  }
  if (tensor.getShape() != ArrayRef<int64_t>(layout.getShape())) {
    return op->emitOpError("attn-distribute: expected a tile of the shape of "
                           "its layout, got ")
           << tensor;
  }
  return success();
}

/// Checks that the layout of a vector is that of its tile without a dimension.
LogicalResult checkVector(Operation *op, Type vector, Type whole, int64_t dim) {
  tile::LayoutAttr layout = layoutOf(whole);
  if (!layout || layoutOf(vector) == layout.without(dim)) {
    return success();
  }
  return op->emitOpError("attn-distribute: expected the vector's layout to be ")
         << layout.without(dim) << ", got " << vector;
}

/// Whether a tile is rounded to take fewer registers: no other op reads it
/// than those that extend it.
bool isOnlyUnpacked(Operation *op) {
  return isa<arith::TruncFOp>(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(),
                      [](auto *user) { return isa<arith::ExtFOp>(user); });
}

LogicalResult checkPackedTiles(Operation *op) {
  auto unsupported = [&](Type type) {
    return op->emitOpError("attn-distribute: no lowering for arithmetic on "
                           "packed elements, ")
           << type;
  };
  Type dtype = op->getParentOfType<ws::KernelOp>().getProblem().getDtype();
  bool reads = isa<arith::ExtFOp, tile::ConvertLayoutOp, tile::StoreRegOp,
                   ws::PutOp, ws::MmaOp, scf::ForOp, scf::YieldOp>(op);
  for (Type type : op->getOperandTypes()) {
    if (isPackedTile(type) && !reads) {
      return unsupported(type);
    }
  }
  bool packs = isa<arith::TruncFOp, tile::ConvertLayoutOp, tile::LoadOp,
                   scf::IfOp, scf::ForOp>(op);
  for (Type type : op->getResultTypes()) {
    if (isPackedTile(type) && !packs) {
      return unsupported(type);
    }
    if (isPackedTile(type) && getElementTypeOrSelf(type) != dtype &&
        !isOnlyUnpacked(op)) {
      return op->emitOpError("attn-distribute: expected packed elements to be ")
             << dtype << ", got " << type;
    }
  }
  return success();
}

LogicalResult checkOp(Operation *op, const Target &chip) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op);
      reduce &&
      failed(checkVector(op, reduce.getResult().getType(),
                         reduce.getSource().getType(), reduce.getDim()))) {
    return failure();
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op);
      broadcast && failed(checkVector(op, broadcast.getSource().getType(),
                                      broadcast.getResult().getType(),
                                      broadcast.getDim()))) {
    return failure();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && layoutOf(constant.getType()) &&
      !isa<SplatElementsAttr>(constant.getValue())) {
    return op->emitOpError("attn-distribute: expected a splat constant");
  }
  if (failed(chip.checkTileOp(
          op, [&] { return op->emitOpError("attn-distribute: "); }))) {
    return failure();
  }
  return checkPackedTiles(op);
}

LogicalResult checkTilesOf(ws::RoleOp role, const Target &chip) {
  WalkResult result = role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool fits = succeeded(checkOp(op, chip)) &&
                llvm::all_of(op->getResultTypes(), [&](Type type) {
                  return succeeded(checkLayout(op, type));
                });
    for (Region &region : op->getRegions()) {
      fits = fits && llvm::all_of(region.getArgumentTypes(), [&](Type type) {
               return succeeded(checkLayout(op, type));
             });
    }
    return fits ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Ops that work on vectors as they do on tiles.
//===----------------------------------------------------------------------===//

struct AnyOpPattern : ConversionPattern {
  AnyOpPattern(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> results;
    if (failed(
            getTypeConverter()->convertTypes(op->getResultTypes(), results))) {
      return failure();
    }
    OperationState state(op->getLoc(), op->getName(), operands, results,
                         op->getAttrs(), op->getSuccessors());
    for (Region &region : op->getRegions()) {
      Region *moved = state.addRegion();
      rewriter.inlineRegionBefore(region, *moved, moved->begin());
      if (failed(rewriter.convertRegionTypes(moved, *getTypeConverter()))) {
        return failure();
      }
    }
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct ConstantPattern : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto splat = cast<SplatElementsAttr>(op.getValue());
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    return success();
  }
};

struct SplatPattern : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()), adaptor.getInput());
    return success();
  }
};

/// The elements stay in their registers.
struct ConvertLayoutPattern : OpConversionPattern<tile::ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

struct RoundPattern : OpConversionPattern<tile::RoundOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::RoundOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = adaptor.getSource().getType(), narrow = op.getTo();
    if (auto vector = dyn_cast<VectorType>(type)) {
      narrow = vector.clone(narrow);
    }
    Value rounded = arith::TruncFOp::create(rewriter, op.getLoc(), narrow,
                                            adaptor.getSource());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, type, rounded);
    return success();
  }
};

struct AccumulatePattern : OpConversionPattern<tile::AccumulateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::AccumulateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(adaptor.getSum().getType()));
    Value sum = arith::SelectOp::create(rewriter, loc, adaptor.getFirst(), zero,
                                        adaptor.getSum());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, sum, adaptor.getTile());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass.
//===----------------------------------------------------------------------===//

LogicalResult distribute(ws::KernelOp kernel, ws::RoleOp role,
                         const Target &chip) {
  MLIRContext *context = kernel.getContext();
  TypeConverter types;
  types.addConversion([](Type type) { return type; });
  types.addConversion([](RankedTensorType type) -> std::optional<Type> {
    return distributedType(type);
  });
  RewritePatternSet patterns(context);
  patterns.add<AnyOpPattern>(types, context);
  patterns.add<ConstantPattern, SplatPattern, ConvertLayoutPattern,
               RoundPattern, AccumulatePattern>(types, context, /*benefit=*/2);
  populateDropoutPatterns(patterns, types);
  chip.populateTilePatterns(patterns, types, kernel, role);
  scf::populateSCFStructuralTypeConversions(types, patterns, /*benefit=*/2);
  ConversionTarget target(*context);
  target.addIllegalOp<tile::RoundOp, tile::ConvertLayoutOp, tile::AccumulateOp,
                      tile::DropoutKeyOp, tile::KeepOp>();
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return types.isLegal(op) &&
           llvm::all_of(op->getRegions(),
                        [&](Region &region) { return types.isLegal(&region); });
  });
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return applyPartialConversion(role, target, std::move(patterns), config);
}

/// Checks the postcondition: no tile is left in a role.
LogicalResult checkNoTiles(ws::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      if (tensor && tensor.hasStaticShape()) {
        op->emitOpError("attn-distribute: expected no tile to be left, got ")
            << tensor;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

class DistributePass
    : public attn::codegen::impl::DistributeBase<DistributePass> {
public:
  using DistributeBase::DistributeBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      const Target *chip = findTarget(kernel, "attn-distribute");
      if (!chip) {
        return signalPassFailure();
      }
      for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
        hoistDropoutKeys(role);
        if (failed(checkTilesOf(role, *chip))) {
          return signalPassFailure();
        }
        chip->markTileOps(role);
        if (failed(distribute(kernel, role, *chip))) {
          return signalPassFailure();
        }
      }
      if (failed(checkNoTiles(kernel))) {
        return signalPassFailure();
      }
      recordConsumed(kernel, getArgument());
    }
  }
};

} // namespace

bool codegen::isPacked(Type element) {
  return element.isBF16() || element.isF16();
}

tile::LayoutAttr codegen::layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<tile::LayoutAttr>(tensor.getEncoding())
                : tile::LayoutAttr();
}

Type codegen::distributedType(RankedTensorType type) {
  tile::LayoutAttr layout = layoutOf(type);
  if (!layout) {
    return type;
  }
  int64_t elements = layout.getElementsPerThread();
  if (isPackedTile(type)) {
    return VectorType::get({elements / 2},
                           IntegerType::get(type.getContext(), 32));
  }
  return VectorType::get({elements}, type.getElementType());
}
