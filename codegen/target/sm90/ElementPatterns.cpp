// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single elements of global memory: rows that are stored, and gathers.
#include "ThreadElements.h"

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
        arith::ExtSIOp::create(builder, emit.loc, builder.getI64Type(), index);
    Value stride = params.of(Param::Stride, tensor, dim);
    offset = emit.add(offset, emit.mul(wide, stride));
  }
  Value pointer = params.of(Param::Pointer, tensor);
  return LLVM::GEPOp::create(builder, emit.loc, pointer.getType(),
                             storedType(tensor), pointer, offset);
}

Value codegen::threadRow(const Arithmetic &emit, int64_t i) {
  Value thread = emit.thread();
  Value warp = emit.bitAnd(emit.shiftRight(thread, 5), 3);
  Value quad = emit.bitAnd(emit.shiftRight(thread, 2), 7);
  return emit.add(emit.add(emit.mul(warp, 16), quad), 8 * i);
}

Value codegen::threadColumn(const Arithmetic &emit, int64_t i) {
  Value first = emit.mul(emit.bitAnd(emit.thread(), 3), 2);
  return emit.add(first, 8 * (i / 2) + i % 2);
}

namespace {

/// One lane of each quad writes the rows that the quad shares.
struct StoreRowPattern : OpConversionPattern<tile::StoreRowOp> {
  StoreRowPattern(const TypeConverter &types, MLIRContext *context,
                  const ParamValues &params)
      : OpConversionPattern(types, context), params(params) {}

  LogicalResult
  matchAndRewrite(tile::StoreRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Value rows = params.of(Param::Dim, op.getDest(), op.getPart() ? 3 : 2);
    Value isFirst = emit.isEqual(emit.bitAnd(emit.thread(), 3), 0);
    for (int64_t i = 0; i < rowsPerThread; ++i) {
      Value row = emit.add(adaptor.getRow(), threadRow(emit, i));
      storeRow(op, adaptor, emit, {i, row}, rows, isFirst);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  struct Row {
    int64_t element; // of the thread's
    Value number;
  };

  void storeRow(tile::StoreRowOp op, OpAdaptor adaptor, const Arithmetic &emit,
                Row at, Value rows, Value isFirst) const {
    OpBuilder &builder = emit.builder;
    Value head = adaptor.getHead(), row = at.number;
    if (auto packed = op.getPack()) {
      Value within = emit.bitAnd(row, *packed - 1);
      head = emit.add(emit.mul(head, *packed), within);
      row = emit.shiftRight(row, llvm::Log2_64(*packed));
    }
    Value inside = arith::CmpIOp::create(builder, emit.loc,
                                         arith::CmpIPredicate::ult, row, rows);
    Value writes = arith::AndIOp::create(builder, emit.loc, isFirst, inside);
    Value value = vector::ExtractOp::create(
        builder, emit.loc, adaptor.getTile(), ArrayRef<int64_t>{at.element});
    // Outside of the branch, for both rows to share what they have in common.
    SmallVector<Value> indices{adaptor.getBatch(), head, row};
    if (op.getPart()) {
      indices.insert(indices.begin(), adaptor.getPart());
    }
    Value pointer = elementPointer(emit, params, op.getDest(), indices);
    auto branch =
        scf::IfOp::create(builder, emit.loc, writes, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(builder, emit.loc, value, pointer);
  }

  const ParamValues &params;
};

struct GatherPattern : OpConversionPattern<tile::GatherOp> {
  GatherPattern(const TypeConverter &types, MLIRContext *context,
                const ParamValues &params)
      : OpConversionPattern(types, context), params(params) {}

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    auto type = dyn_cast<VectorType>(op.getResult().getType());
    int64_t count = type ? type.getNumElements() : 1;
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> indices;
      for (Value index : adaptor.getIndices()) {
        if (isa<VectorType>(index.getType())) {
          index = vector::ExtractOp::create(rewriter, op.getLoc(), index,
                                            ArrayRef<int64_t>{i});
        }
        indices.push_back(index);
      }
      elements.push_back(gather(op, emit, indices));
    }
    if (type) {
      rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    } else {
      rewriter.replaceOp(op, elements.front());
    }
    return success();
  }

private:
  /// An element within bounds, or zero: the index is clamped, so that no
  /// address outside the tensor is formed.
  Value gather(tile::GatherOp op, const Arithmetic &emit,
               ValueRange indices) const {
    OpBuilder &builder = emit.builder;
    Location loc = emit.loc;
    Value inside;
    SmallVector<Value> clamped;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Value size = params.of(Param::Dim, op.getSource(), dim);
      Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       index, size);
      inside = inside ? arith::AndIOp::create(builder, loc, inside, ok) : ok;
      clamped.push_back(
          arith::SelectOp::create(builder, loc, ok, index, emit.constant(0)));
    }
    Type stored = storedType(op.getSource());
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
    Value loaded = LLVM::LoadOp::create(
        builder, loc, stored,
        elementPointer(emit, params, op.getSource(), clamped));
    Value value = arith::SelectOp::create(builder, loc, inside, loaded, zero);
    Type element = getElementTypeOrSelf(op.getResult());
    if (element.isInteger(1)) {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                   value, zero);
    }
    return element == stored
               ? value
               : arith::ExtFOp::create(builder, loc, element, value);
  }

  const ParamValues &params;
};

} // namespace

void sm90::populateElementPatterns(RewritePatternSet &patterns,
                                   const TypeConverter &types,
                                   const ParamValues &params) {
  patterns.add<StoreRowPattern, GatherPattern>(types, patterns.getContext(),
                                               params);
}
