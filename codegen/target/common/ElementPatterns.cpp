// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses single elements of global memory, at any index of a tensor.
#include "InstructionPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Type codegen::storedType(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
         : element.isInteger()
             ? IntegerType::get(element.getContext(),
                                element.getIntOrFloatBitWidth())
             : element;
}

Value codegen::elementPointer(const Arithmetic &emit, const ParamValues &params,
                              Value tensor, ValueRange indices) {
  OpBuilder &builder = emit.builder;
  Value offset = arith::ConstantIntOp::create(builder, emit.loc, 0, 64);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value wide =
        arith::ExtUIOp::create(builder, emit.loc, builder.getI64Type(), index);
    Value stride = params.of(Param::Stride, tensor, dim);
    offset = emit.add(offset, emit.mul(wide, stride));
  }
  Value pointer = params.of(Param::Pointer, tensor);
  return LLVM::GEPOp::create(builder, emit.loc, pointer.getType(),
                             storedType(tensor), pointer, offset);
}

namespace {

struct GatherPattern : ParamPattern<tile::GatherOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Bounds bounds = boundsOf(op, emit, adaptor.getIndices());
    auto type = dyn_cast<VectorType>(op.getResult().getType());
    int64_t count = type ? type.getNumElements() : 1;
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> indices;
      for (Value index : bounds.indices) {
        if (isa<VectorType>(index.getType())) {
          index = emit.element(index, i);
        }
        indices.push_back(index);
      }
      elements.push_back(gather(op, emit, bounds, indices));
    }
    if (type) {
      rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    } else {
      rewriter.replaceOp(op, elements.front());
    }
    return success();
  }

private:
  /// What is tested once for all elements: the indices that they share, and
  /// whether there are elements at all. If not, they are 0, and the dimensions
  /// of the others have size 0. One element has its indices as they
  /// are: its address is chosen instead, which takes fewer registers.
  struct Bounds {
    SmallVector<Value> indices, sizes; // no size: shared, and tested
    Value shared;                      // whether the shared are in bounds
  };

  Bounds boundsOf(tile::GatherOp op, const Arithmetic &emit,
                  ValueRange indices) const {
    Bounds bounds{llvm::to_vector(indices), {}, nullptr};
    for (auto [dim, index] : llvm::enumerate(indices)) {
      bool isShared = !isa<VectorType>(index.getType());
      Value size = params.of(Param::Dim, op.getSource(), dim);
      bounds.sizes.push_back(isShared ? Value() : size);
      if (isShared || indices.size() > 1) {
        Value tested = isShared ? index : emit.constant(0);
        bounds.shared = both(emit, bounds.shared, isBelow(emit, tested, size));
      }
    }
    bool isOne = llvm::none_of(bounds.sizes, [](Value size) { return size; });
    for (auto [index, size] : llvm::zip(bounds.indices, bounds.sizes)) {
      if (!size) {
        index = isOne ? index : choose(emit, bounds.shared, index);
      } else if (bounds.shared) {
        size = choose(emit, bounds.shared, size);
      }
    }
    return bounds;
  }

  static Value choose(const Arithmetic &emit, Value condition, Value value) {
    return arith::SelectOp::create(emit.builder, emit.loc, condition, value,
                                   emit.constant(0));
  }
  static Value isBelow(const Arithmetic &emit, Value index, Value size) {
    return arith::CmpIOp::create(emit.builder, emit.loc,
                                 arith::CmpIPredicate::ult, index, size);
  }
  static Value both(const Arithmetic &emit, Value known, Value more) {
    return known ? arith::AndIOp::create(emit.builder, emit.loc, known, more)
                 : more;
  }

  /// Loads an element, or zero if it is out of bounds. Each index is clamped on
  /// its own, so that all elements of a row or column share it, and no address
  /// outside the tensor is read.
  Value gather(tile::GatherOp op, const Arithmetic &emit, const Bounds &bounds,
               ArrayRef<Value> indices) const {
    OpBuilder &builder = emit.builder;
    Location loc = emit.loc;
    Value inside;
    SmallVector<Value> clamped;
    for (auto [index, size] : llvm::zip_equal(indices, bounds.sizes)) {
      if (!size) {
        clamped.push_back(index);
        continue;
      }
      Value ok = isBelow(emit, index, size);
      inside = both(emit, inside, ok);
      clamped.push_back(choose(emit, ok, index));
    }
    Value pointer = elementPointer(emit, params, op.getSource(), clamped);
    if (!inside && bounds.shared) {
      inside = bounds.shared;
      pointer =
          arith::SelectOp::create(builder, loc, inside, pointer,
                                  params.of(Param::Pointer, op.getSource()));
    }
    Type stored = storedType(op.getSource());
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
    Value value = LLVM::LoadOp::create(builder, loc, stored, pointer);
    if (inside) {
      value = arith::SelectOp::create(builder, loc, inside, value, zero);
    }
    Type element = getElementTypeOrSelf(op.getResult());
    if (element.isInteger(1)) {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                   value, zero);
    }
    return element == stored
               ? value
               : arith::ExtFOp::create(builder, loc, element, value);
  }
};

/// Stores or adds each element whose index is in bounds. Zeros are not added.
struct ScatterPattern : ParamPattern<tile::ScatterOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    auto tile = cast<VectorType>(adaptor.getTile().getType());
    for (int64_t i = 0; i < tile.getNumElements(); ++i) {
      SmallVector<Value> indices;
      for (Value index : adaptor.getIndices()) {
        indices.push_back(
            isa<VectorType>(index.getType()) ? emit.element(index, i) : index);
      }
      scatter(op, emit, emit.element(adaptor.getTile(), i), indices);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void scatter(tile::ScatterOp op, const Arithmetic &emit, Value value,
               ValueRange indices) const {
    OpBuilder &builder = emit.builder;
    Location loc = emit.loc;
    Value inside = arith::ConstantIntOp::create(builder, loc, 1, 1);
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Value size = params.of(Param::Dim, op.getDest(), dim);
      Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       index, size);
      inside = arith::AndIOp::create(builder, loc, inside, ok);
    }
    if (op.getAdd()) {
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
      Value isOther = arith::CmpFOp::create(
          builder, loc, arith::CmpFPredicate::UNE, value, zero);
      inside = arith::AndIOp::create(builder, loc, inside, isOther);
    }
    auto branch =
        scf::IfOp::create(builder, loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Type stored = storedType(op.getDest());
    if (!stored.isF32()) {
      value = arith::TruncFOp::create(builder, loc, stored, value);
    }
    Value pointer = elementPointer(emit, params, op.getDest(), indices);
    if (op.getAdd()) {
      LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::fadd, pointer,
                                value, LLVM::AtomicOrdering::monotonic,
                                "device");
    } else {
      LLVM::StoreOp::create(builder, loc, value, pointer);
    }
  }
};

} // namespace

void codegen::populateElementPatterns(RewritePatternSet &patterns,
                                      const TypeConverter &types,
                                      const ParamValues &params) {
  patterns.add<GatherPattern, ScatterPattern>(types, patterns.getContext(),
                                              params);
}
