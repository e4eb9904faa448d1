// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops on tiles in the layouts of wgmma (TileLayout.cpp): a row is in the lanes
// of a quad, a column in eight lanes of each warp.
#include "Patterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static Value slice(const Arithmetic &emit, Value vector, int64_t offset,
                   int64_t size) {
  return vector::ExtractStridedSliceOp::create(
      emit.builder, emit.loc, vector, ArrayRef<int64_t>{offset},
      ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
}

static Value shuffle(const Arithmetic &emit, Value vector,
                     ArrayRef<int64_t> elements) {
  return vector::ShuffleOp::create(emit.builder, emit.loc, vector, vector,
                                   elements);
}

static Value pair(const Arithmetic &emit, Value a, Value b) {
  auto type = VectorType::get({2}, a.getType());
  return vector::FromElementsOp::create(emit.builder, emit.loc, type,
                                        ValueRange{a, b});
}

static Value combine(const Arithmetic &emit, tile::ReduceKind kind, Value a,
                     Value b) {
  switch (kind) {
  case tile::ReduceKind::Add:
    return arith::AddFOp::create(emit.builder, emit.loc, a, b);
  case tile::ReduceKind::Max:
    return arith::MaxNumFOp::create(emit.builder, emit.loc, a, b);
  case tile::ReduceKind::MaxFloored: // of bits
    return arith::MaxSIOp::create(emit.builder, emit.loc, a, b);
  }
  llvm_unreachable("unknown reduction");
}

/// Combines a thread's two rows over the four lanes that hold them.
static Value reduceQuad(const Arithmetic &emit, tile::ReduceKind kind,
                        Value rows) {
  Value done[2];
  for (int64_t row : {0, 1}) {
    Value value = emit.element(rows, row);
    for (int64_t distance : {1, 2}) {
      Value other = NVVM::ShflOp::create(
          emit.builder, emit.loc, value.getType(), emit.constant(-1), value,
          emit.constant(distance), emit.constant(31), NVVM::ShflKind::bfly,
          UnitAttr());
      value = combine(emit, kind, value, other);
    }
    done[row] = value;
  }
  return pair(emit, done[0], done[1]);
}

/// Returns the elements as integers, which are ordered like non-negative
/// floats; a negative float is below 0.
static Value bitcast(const Arithmetic &emit, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType()).clone(element);
  return vector::BitCastOp::create(emit.builder, emit.loc, type, vector);
}

namespace {

struct ReducePattern : OpConversionPattern<tile::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Value source = adaptor.getSource();
    rewriter.replaceOp(op, op.getDim() == 0 ? reduceRows(op, emit, source)
                                            : reduceColumns(op, emit, source));
    return success();
  }

private:
  /// Reduces to a vector of columns: this thread's share of each, from its two
  /// rows.
  static Value reduceRows(tile::ReduceOp op, const Arithmetic &emit,
                          Value source) {
    tile::LayoutAttr layout = layoutOf(op.getSource().getType());
    SmallVector<int64_t> rows[2];
    for (int64_t r = 0; r < layout.getElementsPerThread(); ++r) {
      rows[layout.getIndexAlong(0, r)].push_back(r);
    }
    return combine(emit, op.getKind(), shuffle(emit, source, rows[0]),
                   shuffle(emit, source, rows[1]));
  }

  static Value reduceColumns(tile::ReduceOp op, const Arithmetic &emit,
                             Value source) {
    tile::ReduceKind kind = op.getKind();
    bool isFloored = kind == tile::ReduceKind::MaxFloored;
    if (isFloored) {
      source = bitcast(emit, source, emit.builder.getI32Type());
    }
    int64_t registers = cast<VectorType>(source.getType()).getNumElements();
    // Four chains, two for each row: register r belongs to chain r % 4.
    Value chains = slice(emit, source, 0, 4);
    for (int64_t r = 4; r < registers; r += 4) {
      chains = combine(emit, kind, chains, slice(emit, source, r, 4));
    }
    Value row0 =
        combine(emit, kind, emit.element(chains, 0), emit.element(chains, 1));
    Value row1 =
        combine(emit, kind, emit.element(chains, 2), emit.element(chains, 3));
    if (isFloored) {
      row0 = combine(emit, kind, row0, emit.constant(0));
      row1 = combine(emit, kind, row1, emit.constant(0));
    }
    Value rows = pair(emit, row0, row1);
    if (!op.getPartial()) {
      rows = reduceQuad(emit, kind, rows);
    }
    return isFloored ? bitcast(emit, rows, emit.builder.getF32Type()) : rows;
  }
};

struct CompletePattern : OpConversionPattern<tile::CompleteOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::CompleteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    rewriter.replaceOp(
        op, reduceQuad(emit, tile::ReduceKind::Add, adaptor.getSource()));
    return success();
  }
};

struct BroadcastPattern : OpConversionPattern<tile::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LayoutAttr layout = layoutOf(op.getResult().getType());
    SmallVector<int64_t> elements;
    for (int64_t r = 0; r < layout.getElementsPerThread(); ++r) {
      elements.push_back(layout.getIndexAlong(1 - op.getDim(), r));
    }
    Arithmetic emit{rewriter, op.getLoc()};
    rewriter.replaceOp(op, shuffle(emit, adaptor.getSource(), elements));
    return success();
  }
};

struct AnyPattern : OpConversionPattern<tile::AnyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::AnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Value source = adaptor.getSource();
    int64_t elements = cast<VectorType>(source.getType()).getNumElements();
    Value any = emit.element(source, 0);
    for (int64_t i = 1; i < elements; ++i) {
      any = arith::OrIOp::create(rewriter, op.getLoc(), any,
                                 emit.element(source, i));
    }
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(op, rewriter.getI1Type(),
                                                  emit.constant(-1), any,
                                                  NVVM::VoteSyncKind::any);
    return success();
  }
};

/// The layout is lost with the tile, so the op records which elements a thread
/// loads.
template <typename Op> struct RowPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LayoutAttr layout = layoutOf(op.getTile().getType());
    if (!layout || layout.getDroppedDim() != 0) {
      return rewriter.notifyMatchFailure(op, "an element a row");
    }
    OperationState state(
        op.getLoc(), op->getName(), adaptor.getOperands(),
        this->getTypeConverter()->convertType(op.getTile().getType()),
        op->getAttrs());
    state.addAttribute(sm90::ofColumnsAttr, rewriter.getUnitAttr());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// A thread's position in its warpgroup, computed where the role begins.
struct ThreadPosition {
  Value lane, warp;

  static ThreadPosition of(ws::RoleOp role) {
    OpBuilder builder = OpBuilder::atBlockBegin(&role.getBody().front());
    Arithmetic emit{builder, role.getLoc()};
    Value thread = emit.thread();
    Value lane = emit.bitAnd(thread, 31);
    return {lane, emit.bitAnd(emit.shiftRight(thread, 5), 3)};
  }
};

struct CoordsPattern : OpConversionPattern<tile::CoordsOp> {
  CoordsPattern(const TypeConverter &types, MLIRContext *context,
                ThreadPosition thread)
      : OpConversionPattern(types, context, /*benefit=*/2), thread(thread) {}

  LogicalResult
  matchAndRewrite(tile::CoordsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    tile::LayoutAttr layout = layoutOf(op.getResult().getType());
    // A vector's only dimension is the one of its tile that it kept.
    std::optional<int64_t> dropped = layout.getDroppedDim();
    int64_t dim = dropped ? 1 - *dropped : op.getDim();
    Value base =
        dim == 0 ? firstRow(emit) : emit.mul(emit.bitAnd(thread.lane, 3), 2);
    base = emit.add(base, adaptor.getOffset());
    SmallVector<int32_t> fixed;
    for (int64_t r = 0; r < layout.getElementsPerThread(); ++r) {
      fixed.push_back(layout.getOffsetAlong(dim, r));
    }
    auto type = cast<VectorType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    Value splat = vector::BroadcastOp::create(rewriter, loc, type, base);
    Value offsets = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(fixed)));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, splat, offsets);
    return success();
  }

private:
  Value firstRow(const Arithmetic &emit) const {
    Value row = emit.mul(thread.warp, 16);
    return emit.add(row, emit.shiftRight(thread.lane, 2));
  }

  ThreadPosition thread;
};

/// Pairs of 16-bit elements share a register; row vectors are not packed.
struct TruncatePattern : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getOut().getType());
    Type type = getTypeConverter()->convertType(op.getOut().getType());
    if (element == getElementTypeOrSelf(type)) {
      return rewriter.notifyMatchFailure(op, "not packed");
    }
    rewriter.replaceOpWithNewOp<nvx::PackOp>(
        op, type,
        element.isF16() ? nvx::ElementType::F16 : nvx::ElementType::BF16,
        adaptor.getIn());
    return success();
  }
};

/// The reverse of packing.
struct ExtendPattern : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getIn().getType());
    if (element == getElementTypeOrSelf(adaptor.getIn().getType())) {
      return rewriter.notifyMatchFailure(op, "not packed");
    }
    auto type = cast<VectorType>(
        getTypeConverter()->convertType(op.getOut().getType()));
    Value unpacked = vector::BitCastOp::create(
        rewriter, op.getLoc(), type.clone(element), adaptor.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, type, unpacked);
    return success();
  }
};

} // namespace

void sm90::populateTilePatterns(RewritePatternSet &patterns,
                                const TypeConverter &types, ws::RoleOp role) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ReducePattern, CompletePattern, BroadcastPattern, AnyPattern,
               RowPattern<tile::LoadRowOp>, RowPattern<ws::ReadRowOp>,
               TruncatePattern, ExtendPattern>(types, context,
                                               /*benefit=*/2);
  bool hasCoords =
      role->walk([](tile::CoordsOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (hasCoords) {
    patterns.add<CoordsPattern>(types, context, ThreadPosition::of(role));
  }
}
