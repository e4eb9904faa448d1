// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to elements of memory whose indices depend on the difference of row
// and column alone: all elements of a diagonal have one place. A thread loads
// it once, and a warp adds up what goes to it before it adds to memory.
#include "Patterns.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// Finds out which numbers of a tile are the same all along each diagonal.
class DiagonalAnalysis {
public:
  bool isSame(Value value) {
    // Without a layout it is one number for all of the tile.
    return !layoutOf(value.getType()) || courseOf(value).isSame;
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

DiagonalAnalysis::Course DiagonalAnalysis::courseOf(Value value) {
  if (auto found = known.find(value); found != known.end()) {
    return found->second;
  }
  Operation *op = value.getDefiningOp();
  Course course = op ? compute(op) : Course();
  known[value] = course;
  return course;
}

DiagonalAnalysis::Course DiagonalAnalysis::compute(Operation *op) {
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

DiagonalAnalysis::Course DiagonalAnalysis::sumOf(Value a, Value b,
                                                 int64_t sign) {
  Course x = courseOf(a), y = courseOf(b);
  if (!x.isLinear || !y.isLinear) {
    return {false, 0, 0, x.isSame && y.isSame};
  }
  return Course::linear(x.row + sign * y.row, x.column + sign * y.column);
}

DiagonalAnalysis::Course DiagonalAnalysis::ofOperands(OperandRange operands) {
  return {false, 0, 0,
          llvm::all_of(operands, [&](Value each) { return isSame(each); })};
}

/// Returns whether all elements of a diagonal have the same indices.
static bool isOneOfDiagonal(OperandRange indices) {
  DiagonalAnalysis diagonals;
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

struct GatherPattern : OpConversionPattern<tile::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
    tile::LayoutAttr layout = tile ? layoutOf(tile) : nullptr;
    if (!layout || tile.getRank() != 2 || !isOneOfDiagonal(op.getIndices())) {
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
    auto type =
        VectorType::get({int64_t(firsts.size())}, tile.getElementType());
    Value loaded =
        tile::GatherOp::create(rewriter, op.getLoc(), type, op.getSource(),
                               indicesOf(firsts, adaptor.getIndices(), emit));
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, loaded, loaded,
                                                   diagonalOf);
    return success();
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

void sm90::populateDiagonalPatterns(RewritePatternSet &patterns,
                                    const TypeConverter &types) {
  patterns.add<GatherPattern, ScatterPattern>(types, patterns.getContext(),
                                              /*benefit=*/2);
}
