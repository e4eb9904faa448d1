// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves tiles and vectors between global memory and the threads that hold them.
#include "MovePattern.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using namespace attn::codegen::sm90;

namespace {

/// Pairs of columns of a thread's row, from `begin` to `end`, of which
/// `together` are moved by one instruction.
struct PairsOfRow {
  int64_t begin, end, together;
};

} // namespace

/// The bytes that one instruction moves of a thread.
static constexpr int64_t bytesOfMove = 16;

/// Calls `move` for the pairs of a tensor's row: first for those that are moved
/// together, if the op leaves it open which columns a thread has.
static void forEachWidth(Operation *op, Value tensor,
                         function_ref<void(PairsOfRow)> move) {
  int64_t all = pairsOf(tensor), done = 0;
  if (op->hasAttr(sm90::anyColumnsAttr)) {
    Type element = elementOf(tensor);
    int64_t together = bytesOfMove * 4 / element.getIntOrFloatBitWidth();
    done = all / together * together;
    if (done != 0) {
      move({0, done, together});
    }
  }
  if (done != all) {
    move({done, all, 1});
  }
}

namespace {

struct StoreRegPattern : MovePattern<tile::StoreRegOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(tile::StoreRegOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    Access access = accessOf(adaptor, op.getDest(), adaptor.getPart(),
                             *AccessMap::parse(op.getMap()));
    forEachWidth(op, op.getDest(), [&](PairsOfRow pairs) {
      access.columnsOfLane = 2 * pairs.together;
      writeRows(emit, access, [&](int64_t i, Value first) {
        for (int64_t n = pairs.begin; n < pairs.end; n += pairs.together) {
          Value pointer =
              pointerAfter(emit, first, elementOf(op.getDest()), 8 * n);
          LLVM::StoreOp::create(rewriter, op.getLoc(),
                                joinPairs(emit, op.getDest(), adaptor.getTile(),
                                          n, i, pairs.together),
                                pointer);
        }
      });
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Returns `together` pairs of row `i`, from pair `n` on.
  static Value joinPairs(const Arithmetic &emit, Value dest, Value tile,
                         int64_t n, int64_t i, int64_t together) {
    bool packed = isPacked(elementOf(dest));
    if (together == 1) {
      return pairOf(emit, tile, rowsPerThread * n + i, packed);
    }
    SmallVector<int64_t> elements;
    for (int64_t pair = n; pair < n + together; ++pair) {
      int64_t first = rowsPerThread * pair + i;
      if (packed) {
        elements.push_back(first);
      } else {
        elements.append({2 * first, 2 * first + 1});
      }
    }
    return vector::ShuffleOp::create(emit.builder, emit.loc, tile, tile,
                                     elements);
  }

  static Value pairOf(const Arithmetic &emit, Value tile, int64_t pair,
                      bool packed) {
    if (packed) {
      return emit.element(tile, pair);
    }
    return vector::ExtractStridedSliceOp::create(
        emit.builder, emit.loc, tile, ArrayRef<int64_t>{2 * pair},
        ArrayRef<int64_t>{2}, ArrayRef<int64_t>{1});
  }
};

/// Rows and columns out of bounds are zero.
struct LoadPattern : MovePattern<tile::LoadOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    Value source = op.getSource();
    auto type = cast<VectorType>(op.getTile().getType());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    SmallVector<Value> elements(type.getNumElements(), zero);
    Access access = accessOf(adaptor, source, adaptor.getPart(),
                             *AccessMap::parse(op.getMap()));
    access.isGrouped = op.getGrouped();
    access.transposed = op.getTransposed().value_or(0);
    if (op.getTransposed()) {
      loadTransposed(emit, access, elements);
      rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
      return success();
    }
    forEachWidth(op, source, [&](PairsOfRow pairs) {
      access.columnsOfLane = 2 * pairs.together;
      for (int64_t i = 0; i < rowsPerThread; ++i) {
        ThreadRow row = op.getGrouped()
                            ? groupOf(emit, access)
                            : rowOf(emit, access, threadRow(emit, i),
                                    /*isTile=*/true);
        for (int64_t n = pairs.begin; n < pairs.end; n += pairs.together) {
          int64_t column = op.getGrouped() ? perWarpgroup * n + 2 * i : 8 * n;
          loadPairs(emit, row,
                    pointerAfter(emit, row.pointer, elementOf(source), column),
                    rowsPerThread * n + i, pairs.together, elements);
        }
      }
    });
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }

private:
  /// Loads `together` pairs of a row into those of `elements` from pair `first`
  /// on, of which every second one is of the row.
  static void loadPairs(const Arithmetic &emit, ThreadRow row, Value pointer,
                        int64_t first, int64_t together,
                        MutableArrayRef<Value> elements) {
    Type type = elements.front().getType();
    int64_t perPair = type.isInteger() ? 1 : 2;
    int64_t count = perPair * together;
    Value loaded = LLVM::LoadOp::create(
        emit.builder, emit.loc,
        count == 1 ? type : VectorType::get({count}, type), pointer);
    for (int64_t i = 0; i < count; ++i) {
      Value value = count == 1 ? loaded : emit.element(loaded, i);
      Value &element =
          elements[perPair * (first + rowsPerThread * (i / perPair)) +
                   i % perPair];
      element = arith::SelectOp::create(emit.builder, emit.loc, row.inside,
                                        value, element);
    }
  }

  /// Row r and column c of eight rows and 16 columns are in lane
  /// c % 8 * 4 + r / 2, as its element c / 8 * 2 + r % 2.
  void loadTransposed(const Arithmetic &emit, const Access &access,
                      MutableArrayRef<Value> elements) const {
    OpBuilder &builder = emit.builder;
    Type type = elementOf(access.tensor);
    Value warp = emit.bitAnd(emit.shiftRight(emit.thread(), 5), 3);
    ThreadRow first =
        rowOf(emit, access, emit.mul(warp, GroupOrder::rows), /*isTile=*/true);
    // Of the same 64 columns, the rows before come first.
    constexpr int64_t rows = GroupOrder::rows, together = perWarpgroup / 8;
    Value group = arith::RemUIOp::create(
        builder, emit.loc,
        emit.add(emit.shiftRight(access.row, llvm::Log2_64(rows)), warp),
        emit.constant(access.transposed / rows));
    // A row out of bounds has the address of row 0.
    group = arith::SelectOp::create(builder, emit.loc, first.inside, group,
                                    emit.constant(0));
    int64_t columns =
        cast<RankedTensorType>(access.tensor.getType()).getDimSize(3);
    Value row = emit.shiftRight(emit.lane(), 2);
    Value column = emit.mul(emit.bitAnd(emit.lane(), 3), 2);
    Value ofLane = emit.add(emit.mul(emit.shiftRight(row, 1), perLane),
                            emit.bitAnd(row, 1));
    ofLane = emit.add(ofLane, emit.mul(column, 4 * perLane));
    ofLane = emit.add(ofLane, emit.mul(group, rows * (together - columns)));
    Value pointer = pointerAfter(emit, first.pointer, ofLane);
    for (auto [i, element] : llvm::enumerate(elements)) {
      int64_t n = i / perLane, half = i / 2 % 2, odd = i % 2;
      int64_t after = n / 8 * together * access.transposed +
                      n / 2 % 4 * perGroup + half * perWarpgroup +
                      odd * 4 * perLane + n % 2 * 2;
      Value loaded = LLVM::LoadOp::create(
          builder, emit.loc, type, pointerAfter(emit, pointer, type, after));
      element = arith::SelectOp::create(builder, emit.loc, first.inside, loaded,
                                        element);
    }
  }
};

/// Loads a thread's elements of a vector from a slot in shared memory.
struct ReadRowPattern : OpConversionPattern<ws::ReadRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ws::ReadRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    auto type = cast<VectorType>(op.getTile().getType());
    bool ofColumns = op->hasAttr(sm90::ofColumnsAttr);
    int64_t step = ofColumns ? 2 : 1; // elements of a load
    auto loaded = VectorType::get(step, type.getElementType());
    Value slot = smemAddress(rewriter, loc, adaptor.getSlot());
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); i += step) {
      Value ofTile = ofColumns ? threadColumn(emit, i) : threadRow(emit, i);
      Value address = emit.add(slot, emit.mul(ofTile, elementBytes));
      Value values = LLVM::LoadOp::create(rewriter, loc, loaded,
                                          sharedPointer(rewriter, loc, address),
                                          /*alignment=*/step * elementBytes);
      for (int64_t j = 0; j < step; ++j) {
        elements.push_back(emit.element(values, j));
      }
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }

private:
  static constexpr int64_t elementBytes = 4;
};

/// All lanes of a quad load the rows that they share, and all quads the
/// columns, in pairs where the tensor has all of them.
struct LoadRowPattern : MovePattern<tile::LoadRowOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(tile::LoadRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    auto type = cast<VectorType>(op.getTile().getType());
    Type element = type.getElementType();
    Value zero =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
    Access access = accessOf(adaptor, op.getSource(), adaptor.getPart(),
                             {{AccessMap::Batch, AccessMap::Head,
                               AccessMap::Position, AccessMap::Dim}});
    auto loadEach = [&](bool ofColumns) -> Value {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < type.getNumElements(); ++i) {
        Value ofTile = ofColumns ? threadColumn(emit, i) : threadRow(emit, i);
        ThreadRow row = rowOf(emit, access, ofTile, /*isTile=*/false);
        Value value = LLVM::LoadOp::create(rewriter, loc, element, row.pointer);
        elements.push_back(
            arith::SelectOp::create(rewriter, loc, row.inside, value, zero));
      }
      return vector::FromElementsOp::create(rewriter, loc, type, elements);
    };
    if (!op->hasAttr(sm90::ofColumnsAttr) || !element.isF32()) {
      rewriter.replaceOp(op, loadEach(op->hasAttr(sm90::ofColumnsAttr)));
      return success();
    }
    ThreadRow first = rowOf(emit, access, threadColumn(emit, 0), false);
    auto whole = scf::IfOp::create(rewriter, loc, TypeRange{type},
                                   isWhole(emit, access, type, first.pointer),
                                   /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    auto yieldIn = [&](Block *block, function_ref<Value()> load) {
      rewriter.setInsertionPointToStart(block);
      scf::YieldOp::create(rewriter, loc, load());
    };
    yieldIn(whole.thenBlock(),
            [&] { return loadPairs(emit, first.pointer, type); });
    yieldIn(whole.elseBlock(), [&] { return loadEach(/*ofColumns=*/true); });
    rewriter.replaceOp(op, whole.getResult(0));
    return success();
  }

private:
  /// Whether the tensor has all columns, and each pair is aligned.
  Value isWhole(const Arithmetic &emit, const Access &access, VectorType type,
                Value pointer) const {
    OpBuilder &builder = emit.builder;
    Value end = emit.add(access.row, 4 * type.getNumElements());
    Value rows = params.of(Param::Dim, access.tensor,
                           access.map.dimOf(AccessMap::Position) +
                               (access.part ? 1 : 0));
    Value fits = arith::CmpIOp::create(builder, emit.loc,
                                       arith::CmpIPredicate::ule, end, rows);
    Value address = LLVM::PtrToIntOp::create(builder, emit.loc,
                                             builder.getI64Type(), pointer);
    Value low = arith::TruncIOp::create(builder, emit.loc, builder.getI32Type(),
                                        address);
    Value isAligned = emit.isEqual(emit.bitAnd(low, 7), 0);
    return arith::AndIOp::create(builder, emit.loc, fits, isAligned);
  }

  static Value loadPairs(const Arithmetic &emit, Value first, VectorType type) {
    OpBuilder &builder = emit.builder;
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); i += 2) {
      Value pair = LLVM::LoadOp::create(
          builder, emit.loc, VectorType::get({2}, type.getElementType()),
          pointerAfter(emit, first, type.getElementType(), 4 * i));
      elements.append({emit.element(pair, 0), emit.element(pair, 1)});
    }
    return vector::FromElementsOp::create(builder, emit.loc, type, elements);
  }
};

/// One lane of each quad stores the rows that the quad shares.
struct StoreRowPattern : ParamPattern<tile::StoreRowOp> {
  using ParamPattern::ParamPattern;

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
    unpackRow(emit, op.getPack().value_or(1), head, row);
    Value inside = arith::CmpIOp::create(builder, emit.loc,
                                         arith::CmpIPredicate::ult, row, rows);
    Value writes = arith::AndIOp::create(builder, emit.loc, isFirst, inside);
    Value value = emit.element(adaptor.getTile(), at.element);
    // Outside of the branch, so that both rows share common values.
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
};

} // namespace

void sm90::populateRegisterTilePatterns(RewritePatternSet &patterns,
                                        const TypeConverter &types,
                                        const ParamValues &params) {
  patterns.add<StoreRegPattern, LoadPattern, LoadRowPattern, StoreRowPattern>(
      types, patterns.getContext(), params);
  patterns.add<ReadRowPattern>(types, patterns.getContext());
}
