// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to elements of memory that several elements of a tile share. Where
// indices depend on the difference of row and column alone, all of a diagonal
// has one place: a thread loads it once, and a warp adds up what goes to it
// before it adds to memory. Where they depend on the column alone, the lanes of
// a warp load different columns.
#include "Patterns.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// Finds out which numbers of a tile are the same all along each diagonal, or
/// in all rows.
class PlaceAnalysis {
public:
  bool isSame(Value value) {
    // Without a layout it is one number for all of the tile.
    return !layoutOf(value.getType()) || courseOf(value).isSame;
  }
  /// How a number grows from column to column, if it is the same in all rows.
  std::optional<int64_t> stepOfColumns(Value value) {
    if (!layoutOf(value.getType())) {
      return 0;
    }
    Course course = courseOf(value);
    return course.isLinear && course.row == 0
               ? std::optional<int64_t>(course.column)
               : std::nullopt;
  }

private:
  /// How a number grows from row to row and from column to column, if known,
  /// and whether it stays the same on a diagonal.
  struct Course {
    bool isLinear = false;
    int64_t row = 0, column = 0;
    bool isSame = false;

    static Course linear(int64_t row, int64_t column) {
      return {true, row, column, row == -column};
    }
  };
  Course courseOf(Value value);
  Course compute(Operation *op);
  Course sumOf(Value a, Value b, int64_t sign);
  Course ofOperands(OperandRange operands);

  DenseMap<Value, Course> known;
};

} // namespace

PlaceAnalysis::Course PlaceAnalysis::courseOf(Value value) {
  if (auto found = known.find(value); found != known.end()) {
    return found->second;
  }
  Operation *op = value.getDefiningOp();
  Course course = op ? compute(op) : Course();
  known[value] = course;
  return course;
}

PlaceAnalysis::Course PlaceAnalysis::compute(Operation *op) {
  return llvm::TypeSwitch<Operation *, Course>(op)
      .Case([](tile::CoordsOp coords) {
        bool isRow = coords.getDim() == 0;
        return Course::linear(isRow, !isRow);
      })
      .Case<arith::ConstantOp, tensor::SplatOp>(
          [](auto) { return Course::linear(0, 0); })
      .Case([&](arith::AddIOp add) {
        return sumOf(add.getLhs(), add.getRhs(), 1);
      })
      .Case([&](arith::SubIOp sub) {
        return sumOf(sub.getLhs(), sub.getRhs(), -1);
      })
      // A position is no sum that may have wrapped.
      .Case([&](arith::ExtSIOp wide) {
        bool isPosition = bool(wide.getIn().getDefiningOp<tile::CoordsOp>());
        return isPosition ? courseOf(wide.getIn())
                          : ofOperands(wide->getOperands());
      })
      .Case([&](tile::GatherOp gather) {
        return ofOperands(gather.getIndices());
      })
      .Default([&](Operation *other) {
        return OpTrait::hasElementwiseMappableTraits(other)
                   ? ofOperands(other->getOperands())
                   : Course();
      });
}

PlaceAnalysis::Course PlaceAnalysis::sumOf(Value a, Value b, int64_t sign) {
  Course x = courseOf(a), y = courseOf(b);
  if (!x.isLinear || !y.isLinear) {
    return {false, 0, 0, x.isSame && y.isSame};
  }
  return Course::linear(x.row + sign * y.row, x.column + sign * y.column);
}

PlaceAnalysis::Course PlaceAnalysis::ofOperands(OperandRange operands) {
  return {false, 0, 0,
          llvm::all_of(operands, [&](Value each) { return isSame(each); })};
}

/// Returns the layout of the matrix that is read, or null if it is none.
static tile::LayoutAttr layoutOfMatrix(tile::GatherOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  return tile && tile.getRank() == 2 ? layoutOf(tile) : tile::LayoutAttr();
}

/// Returns whether all elements of a diagonal have the same indices.
static bool isOneOfDiagonal(OperandRange indices) {
  PlaceAnalysis diagonals;
  return llvm::all_of(indices,
                      [&](Value index) { return diagonals.isSame(index); });
}

/// Returns the elements of a thread that lie on one diagonal of the tile, for
/// each of its diagonals.
static SmallVector<SmallVector<int64_t>>
listDiagonals(tile::LayoutAttr layout) {
  llvm::MapVector<int64_t, SmallVector<int64_t>> diagonals;
  for (int64_t r = 0; r < layout.getElementsPerThread(); ++r) {
    diagonals[layout.getOffsetAlong(0, r) - layout.getOffsetAlong(1, r)]
        .push_back(r);
  }
  return llvm::map_to_vector(diagonals, [](auto &each) { return each.second; });
}

namespace {

/// Lane 4 r + q has row r and column 2 q, so that lanes 9 apart lie on one
/// diagonal: up to four of them.
class DiagonalLanes {
public:
  explicit DiagonalLanes(const Arithmetic &emit) : emit(emit) {
    Value lane = emit.lane(), inQuad = emit.bitAnd(lane, 3);
    hasNext = both(isBelow(inQuad, 3), isBelow(lane, 24));
    hasThird = both(isBelow(inQuad, 2), isBelow(lane, 16));
    isFirst = arith::OrIOp::create(emit.builder, emit.loc, isBelow(inQuad, 1),
                                   isBelow(lane, 8));
  }

  /// Adds up the values of each diagonal. Its first lane has the sum; the
  /// others have 0.
  Value add(Value value) const {
    value = addFrom(value, step, hasNext);
    value = addFrom(value, 2 * step, hasThird);
    return choose(isFirst, value);
  }

private:
  static constexpr int64_t step = 9;

  Value isBelow(Value value, int64_t end) const {
    return arith::CmpIOp::create(emit.builder, emit.loc,
                                 arith::CmpIPredicate::ult, value,
                                 emit.constant(end));
  }
  Value both(Value a, Value b) const {
    return arith::AndIOp::create(emit.builder, emit.loc, a, b);
  }
  /// Returns the value, or 0.
  Value choose(Value condition, Value value) const {
    Value zero = arith::ConstantOp::create(emit.builder, emit.loc,
                                           emit.builder.getF32FloatAttr(0));
    return arith::SelectOp::create(emit.builder, emit.loc, condition, value,
                                   zero);
  }
  Value addFrom(Value value, int64_t distance, Value has) const {
    Value other = NVVM::ShflOp::create(
        emit.builder, emit.loc, value.getType(), emit.constant(-1), value,
        emit.constant(distance), emit.constant(31), NVVM::ShflKind::down,
        UnitAttr());
    Value sum = arith::AddFOp::create(emit.builder, emit.loc, value, other);
    return arith::SelectOp::create(emit.builder, emit.loc, has, sum, value);
  }

  Arithmetic emit;
  Value hasNext, hasThird, isFirst;
};

/// Returns the indices of one element of each diagonal.
SmallVector<Value> indicesOf(ArrayRef<int64_t> elements, ValueRange indices,
                             const Arithmetic &emit) {
  return llvm::map_to_vector(indices, [&](Value index) -> Value {
    return isa<VectorType>(index.getType())
               ? vector::ShuffleOp::create(emit.builder, emit.loc, index, index,
                                           elements)
               : index;
  });
}

struct DiagonalPattern : OpConversionPattern<tile::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LayoutAttr layout = layoutOfMatrix(op);
    if (!layout || !isOneOfDiagonal(op.getIndices())) {
      return rewriter.notifyMatchFailure(op, "more than one place a diagonal");
    }
    Arithmetic emit{rewriter, op.getLoc()};
    SmallVector<int64_t> firsts, diagonalOf(layout.getElementsPerThread());
    for (auto [n, elements] : llvm::enumerate(listDiagonals(layout))) {
      firsts.push_back(elements.front());
      for (int64_t element : elements) {
        diagonalOf[element] = n;
      }
    }
    auto type = VectorType::get({int64_t(firsts.size())},
                                getElementTypeOrSelf(op.getResult()));
    Value loaded =
        tile::GatherOp::create(rewriter, op.getLoc(), type, op.getSource(),
                               indicesOf(firsts, adaptor.getIndices(), emit));
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, loaded, loaded,
                                                   diagonalOf);
    return success();
  }
};

/// Of indices that follow the columns alone, the eight rows of lanes would load
/// the same. Each loads the pairs of columns of one group of eight instead,
/// and hands them to the others.
struct ColumnPattern : OpConversionPattern<tile::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LayoutAttr layout = layoutOfMatrix(op);
    auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!layout || tile.getDimSize(1) < columnsOfLanes ||
        tile.getElementTypeBitWidth() != 32) {
      return rewriter.notifyMatchFailure(op, "no columns of 32 bits to share");
    }
    PlaceAnalysis analysis;
    SmallVector<int64_t> steps;
    for (Value index : op.getIndices()) {
      std::optional<int64_t> step = analysis.stepOfColumns(index);
      if (!step) {
        return rewriter.notifyMatchFailure(op, "more than one row of places");
      }
      steps.push_back(*step);
    }
    Arithmetic emit{rewriter, op.getLoc()};
    int64_t loads = 2 * llvm::divideCeil(tile.getDimSize(1), columnsOfLanes);
    SmallVector<Value> indices;
    for (auto [own, step] : llvm::zip(adaptor.getIndices(), steps)) {
      indices.push_back(step ? shareColumns(emit, own, step, loads) : own);
    }
    auto type = VectorType::get(loads, tile.getElementType());
    Value loaded = tile::GatherOp::create(rewriter, op.getLoc(), type,
                                          op.getSource(), indices);
    rewriter.replaceOp(op, spread(emit, loaded, layout));
    return success();
  }

private:
  static constexpr int64_t columnsOfLanes = 64;

  /// Returns the indices that a lane loads, of its own ones.
  static Value shareColumns(const Arithmetic &emit, Value own, int64_t step,
                            int64_t loads) {
    Value rowOfLane = emit.shiftRight(emit.lane(), 2);
    Value first = emit.add(emit.element(own, 0), emit.mul(rowOfLane, 8 * step));
    SmallVector<Value> indices;
    for (int64_t n = 0; n < loads; ++n) {
      indices.push_back(
          emit.add(first, step * (n / 2 * columnsOfLanes + n % 2)));
    }
    return vector::FromElementsOp::create(
        emit.builder, emit.loc, VectorType::get(loads, indices[0].getType()),
        indices);
  }

  /// Returns all elements of a thread. Lane 4 r + q has what lanes with q need
  /// of the group r of eight columns.
  static Value spread(const Arithmetic &emit, Value loaded,
                      tile::LayoutAttr layout) {
    constexpr int64_t keptBits = 3, lastLane = 31; // of the lane that reads
    Value segments = emit.constant(keptBits << 8 | lastLane);
    llvm::MapVector<int64_t, Value> columns;
    SmallVector<Value> elements;
    for (int64_t r = 0; r < layout.getElementsPerThread(); ++r) {
      int64_t column = layout.getOffsetAlong(1, r);
      Value &value = columns[column];
      if (!value) {
        int64_t load = column / columnsOfLanes * 2 + column % 2;
        Value source = emit.constant(column % columnsOfLanes / 8 * 4);
        Value own = emit.element(loaded, load);
        value = NVVM::ShflOp::create(emit.builder, emit.loc, own.getType(),
                                     emit.constant(-1), own, source, segments,
                                     NVVM::ShflKind::idx, UnitAttr());
      }
      elements.push_back(value);
    }
    return vector::FromElementsOp::create(
        emit.builder, emit.loc,
        VectorType::get(int64_t(elements.size()), elements[0].getType()),
        elements);
  }
};

struct ScatterPattern : OpConversionPattern<tile::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LayoutAttr layout = layoutOf(op.getTile().getType());
    if (!layout || !op.getAdd() || !isOneOfDiagonal(op.getIndices())) {
      return rewriter.notifyMatchFailure(op, "more than one place a diagonal");
    }
    Arithmetic emit{rewriter, op.getLoc()};
    DiagonalLanes lanes(emit);
    SmallVector<Value> sums;
    SmallVector<int64_t> firsts;
    for (ArrayRef<int64_t> elements : listDiagonals(layout)) {
      Value sum = emit.element(adaptor.getTile(), elements.front());
      for (int64_t element : elements.drop_front()) {
        sum = arith::AddFOp::create(rewriter, op.getLoc(), sum,
                                    emit.element(adaptor.getTile(), element));
      }
      sums.push_back(lanes.add(sum));
      firsts.push_back(elements.front());
    }
    auto type = VectorType::get({int64_t(sums.size())}, rewriter.getF32Type());
    Value tile =
        vector::FromElementsOp::create(rewriter, op.getLoc(), type, sums);
    rewriter.replaceOpWithNewOp<tile::ScatterOp>(
        op, tile, op.getDest(), indicesOf(firsts, adaptor.getIndices(), emit),
        op.getAdd());
    return success();
  }
};

} // namespace

void sm90::populateSharedElementPatterns(RewritePatternSet &patterns,
                                         const TypeConverter &types) {
  patterns.add<DiagonalPattern, ColumnPattern, ScatterPattern>(
      types, patterns.getContext(),
      /*benefit=*/2);
}
