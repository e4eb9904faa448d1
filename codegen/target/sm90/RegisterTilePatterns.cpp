// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves tiles and vectors between global memory and the threads that hold them.
// A thread has the pairs of columns 8 n + 2 (lane % 4) of each of its rows.
#include "Patterns.h"
#include "SmemTile.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::codegen::sm90::GroupOrder;

/// A thread has two rows of a tile of 64, eight apart, which it shares with its
/// quad.
static constexpr int64_t rowsPerThread = 2;

/// The elements of a group of a `grouped` tensor, and those of a lane in it.
static constexpr int64_t perGroup = GroupOrder::rows * GroupOrder::columns,
                         perLane = perGroup / 32;

/// The elements of eight rows and 64 columns of a transposed tensor, which the
/// warps of a warpgroup have together.
static constexpr int64_t perRows = GroupOrder::warps * perGroup;

/// Returns the columns of a tile of 64 rows of which each thread holds
/// `elements`.
static int64_t columnsOf(int64_t elements) { return 2 * elements; }

/// Returns the number of this thread's row `i` in its warpgroup's tile.
static Value threadRow(const Arithmetic &emit, int64_t i) {
  Value thread = emit.thread();
  Value warp = emit.bitAnd(emit.shiftRight(thread, 5), 3);
  Value quad = emit.bitAnd(emit.shiftRight(thread, 2), 7);
  return emit.add(emit.add(emit.mul(warp, 16), quad), 8 * i);
}

/// Returns the column of this thread's element `i` of a vector of columns: it
/// has two of every eight.
static Value threadColumn(const Arithmetic &emit, int64_t i) {
  Value first = emit.mul(emit.bitAnd(emit.thread(), 3), 2);
  return emit.add(first, 8 * (i / 2) + i % 2);
}

/// With packed heads, the rows of a position are consecutive heads: computes
/// the head and the position of a row. An empty row gets a position beyond all
/// others.
static void unpackRow(const Arithmetic &emit, int64_t packed, Value &head,
                      Value &row) {
  int64_t rows = AccessMap::rowsOfPosition(packed);
  if (rows == 1) {
    return;
  }
  Value within = emit.bitAnd(row, rows - 1);
  head = emit.add(emit.mul(head, packed), within);
  row = emit.shiftRight(row, llvm::Log2_64(rows));
  if (rows != packed) {
    Value isEmpty =
        arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::uge,
                              within, emit.constant(packed));
    row = arith::SelectOp::create(emit.builder, emit.loc, isEmpty,
                                  emit.constant(-1), row);
  }
}

namespace {

/// The operands of an op that describe its tensor and the position in it.
struct Access {
  Value tensor, batch, head, row, part; // part may be null
  AccessMap map;
  Value column = {}; // the first, if it is not the tensor's
  bool isGrouped = false;
  int64_t transposed = 0;    // rows of a block of a transposed tensor, or 0
  int64_t columnsOfLane = 2; // one after the other, of those of its quad
};

/// A row of this thread: whether the tensor has it, and the address of the
/// thread's first column. A row out of bounds has the address of row 0.
struct ThreadRow {
  Value inside, pointer;
};

/// A pattern for an op that moves the elements of each thread.
template <typename Op> struct MovePattern : ParamPattern<Op> {
  using ParamPattern<Op>::ParamPattern;

protected:
  using ParamPattern<Op>::params;

  static Access accessOf(typename Op::Adaptor adaptor, Value tensor, Value part,
                         AccessMap map) {
    return {
        tensor, adaptor.getBatch(), adaptor.getHead(), adaptor.getRow(), part,
        map};
  }

  /// Returns row `ofTile`, counted from the op's first row.
  ThreadRow rowOf(const Arithmetic &emit, const Access &access, Value ofTile,
                  bool isTile) const;
  /// Returns this thread's part of the first group of its warp: of 16 x 16
  /// elements of the warp's 16 rows; in a transposed tensor, of eight rows and
  /// the warp's 16 columns.
  ThreadRow groupOf(const Arithmetic &emit, const Access &access) const;
  /// Returns an element of the first group of a row, or of some columns of it.
  ThreadRow groupAt(const Arithmetic &emit, const Access &access, Value row,
                    Value element) const;

  /// Writes each of the thread's rows that is in bounds: row `i`, whose first
  /// column is at `pointer`.
  void writeRows(const Arithmetic &emit, const Access &access,
                 function_ref<void(int64_t i, Value pointer)> write) const;
};

} // namespace

template <typename Op>
ThreadRow MovePattern<Op>::rowOf(const Arithmetic &emit, const Access &access,
                                 Value ofTile, bool isTile) const {
  OpBuilder &builder = emit.builder;
  Value row = emit.add(access.row, ofTile);
  Value head = access.head;
  unpackRow(emit, access.map.packedHeads, head, row);
  int64_t leading = access.part ? 1 : 0;
  unsigned position = access.map.dimOf(AccessMap::Position);
  Value rows = params.of(Param::Dim, access.tensor, leading + position);
  Value inside = arith::CmpIOp::create(builder, emit.loc,
                                       arith::CmpIPredicate::ult, row, rows);
  Value known =
      arith::SelectOp::create(builder, emit.loc, inside, row, emit.constant(0));
  SmallVector<Value> indices(leading + (isTile ? 4 : 3));
  if (access.part) {
    indices[0] = access.part;
  }
  indices[leading + access.map.dimOf(AccessMap::Batch)] = access.batch;
  indices[leading + access.map.dimOf(AccessMap::Head)] = head;
  indices[leading + position] = known;
  if (isTile && access.isGrouped) {
    indices.back() = emit.constant(0);
  } else if (isTile) {
    indices.back() =
        emit.mul(emit.bitAnd(emit.thread(), 3), access.columnsOfLane);
    if (access.column) {
      indices.back() = emit.add(indices.back(), access.column);
    }
  }
  return {inside, elementPointer(emit, params, access.tensor, indices)};
}

/// Returns the address `elements` f32 after `pointer`.
static Value pointerAfter(const Arithmetic &emit, Value pointer,
                          Value elements) {
  return LLVM::GEPOp::create(
      emit.builder, emit.loc, pointer.getType(), emit.builder.getF32Type(),
      pointer, ArrayRef<LLVM::GEPArg>{elements}, LLVM::GEPNoWrapFlags::none);
}

template <typename Op>
ThreadRow MovePattern<Op>::groupAt(const Arithmetic &emit, const Access &access,
                                   Value row, Value element) const {
  ThreadRow first = rowOf(emit, access, row, /*isTile=*/true);
  if (access.column) {
    int64_t perColumn =
        access.transposed ? access.transposed : GroupOrder::rows;
    element = emit.add(element, emit.mul(access.column, perColumn));
  }
  return {first.inside, pointerAfter(emit, first.pointer, element)};
}

template <typename Op>
ThreadRow MovePattern<Op>::groupOf(const Arithmetic &emit,
                                   const Access &access) const {
  Value warp = emit.bitAnd(emit.shiftRight(emit.thread(), 5), 3);
  if (access.transposed) {
    return groupAt(
        emit, access, emit.constant(0),
        emit.add(emit.mul(emit.lane(), perLane), emit.mul(warp, perGroup)));
  }
  return groupAt(emit, access, emit.mul(warp, GroupOrder::rows),
                 emit.mul(emit.lane(), perLane));
}

template <typename Op>
void MovePattern<Op>::writeRows(
    const Arithmetic &emit, const Access &access,
    function_ref<void(int64_t i, Value pointer)> write) const {
  for (int64_t i = 0; i < rowsPerThread; ++i) {
    ThreadRow row = rowOf(emit, access, threadRow(emit, i), /*isTile=*/true);
    auto branch = scf::IfOp::create(emit.builder, emit.loc, row.inside,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
    write(i, row.pointer);
  }
}

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Returns the number of pairs of columns in the tensor: a thread's registers
/// hold two columns of each of its rows in turn.
static int64_t pairsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape().back() / 8;
}

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

/// Returns the address `elements` elements after another.
static Value pointerAfter(const Arithmetic &emit, Value pointer, Type element,
                          int64_t elements) {
  return LLVM::GEPOp::create(emit.builder, emit.loc, pointer.getType(), element,
                             pointer, ArrayRef<LLVM::GEPArg>{int32_t(elements)},
                             LLVM::GEPNoWrapFlags::none);
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

/// Adds to memory in any order, a pair of columns at a time, or those of both
/// rows.
struct ReduceAddPattern : MovePattern<tile::ReduceAddOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(tile::ReduceAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    Access access = accessOf(adaptor, op.getDest(), Value(),
                             *AccessMap::parse(op.getMap()));
    access.column = adaptor.getColumn();
    access.isGrouped = op.getGrouped();
    Type element = rewriter.getF32Type();
    int64_t elements =
        cast<VectorType>(adaptor.getTile().getType()).getNumElements();
    access.transposed = op.getTransposed() ? columnsOf(elements) : 0;
    int64_t pairs = op.getColumn() || op.getTransposed()
                        ? elements / 2 / rowsPerThread
                        : pairsOf(op.getDest());
    auto addElements = [&](int64_t first, int64_t count, Value pointer) {
      Value values = vector::ExtractStridedSliceOp::create(
          rewriter, loc, adaptor.getTile(), ArrayRef<int64_t>{first},
          ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
      nvx::ReduceAddOp::create(rewriter, loc, values, pointer);
    };
    if (!access.isGrouped) {
      writeRows(emit, access, [&](int64_t i, Value first) {
        for (int64_t n = 0; n < pairs; ++n) {
          addElements(2 * (rowsPerThread * n + i), 2,
                      pointerAfter(emit, first, element, 8 * n));
        }
      });
      rewriter.eraseOp(op);
      return success();
    }
    ThreadRow part = groupOf(emit, access);
    auto branch = scf::IfOp::create(rewriter, loc, part.inside,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    for (int64_t n = 0; n < pairs; ++n) {
      int64_t after = access.transposed ? perRows * n : perGroup * n;
      addElements(perLane * n, perLane,
                  pointerAfter(emit, part.pointer, element, after));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// One lane adds the rows of its warp, which are consecutive in a hold and in
/// memory. A role of one thread adds the rows of all warps.
struct BulkReduceAddPattern : MovePattern<ws::ReduceAddOp> {
  using MovePattern::MovePattern;

  LogicalResult
  matchAndRewrite(ws::ReduceAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    Access access = accessOf(adaptor, op.getDest(), Value(),
                             *AccessMap::parse(op.getMap()));
    access.column = adaptor.getColumn();
    access.isGrouped = true;
    auto kernel = op->getParentOfType<ws::KernelOp>();
    auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
    int64_t columns = cast<RankedTensorType>(hold.getType()).getDimSize(1);
    access.transposed = op.getTransposed() ? columns : 0;
    int64_t bytes = GroupOrder::warpBytes(columns);
    Value piece =
        smemAddress(rewriter, loc, pieceOffset(emit, hold, adaptor.getPiece()));
    if (op->getParentOfType<ws::RoleOp>().isSingleThread()) {
      int64_t all =
          cast<RankedTensorType>(op.getDest().getType()).getDimSize(3);
      bool isOne = op.getTransposed() || columns == all;
      Value zero = emit.constant(0);
      addRows(emit, groupAt(emit, access, zero, zero), piece,
              isOne ? warps * bytes : bytes, isOne ? 1 : warps,
              GroupOrder::rows * all);
    } else {
      Value warp = emit.bitAnd(emit.shiftRight(emit.thread(), 5), 3);
      addRows(emit, groupOf(emit, access),
              emit.add(piece, emit.mul(warp, bytes)), bytes, 1, 0);
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static constexpr int64_t warps = GroupOrder::warps;

  /// Adds `count` times `bytes` of shared memory, which are `stride` elements
  /// apart in the tensor. All rows of a tile are in it, or none.
  static void addRows(const Arithmetic &emit, ThreadRow part, Value source,
                      int64_t bytes, int64_t count, int64_t stride) {
    OpBuilder &builder = emit.builder;
    auto branch = scf::IfOp::create(builder, emit.loc, part.inside,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    for (int64_t n = 0; n < count; ++n) {
      nvx::BulkReduceAddOp::create(
          builder, emit.loc, bytes,
          sharedPointer(builder, emit.loc, emit.add(source, n * bytes)),
          pointerAfter(emit, part.pointer, builder.getF32Type(), n * stride));
    }
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
          int64_t column = op.getGrouped() ? perGroup * n + 2 * i : 8 * n;
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
    constexpr int64_t rows = GroupOrder::rows, together = perRows / 8;
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
    Value pointer = LLVM::GEPOp::create(
        builder, emit.loc, first.pointer.getType(), type, first.pointer,
        ArrayRef<LLVM::GEPArg>{ofLane}, LLVM::GEPNoWrapFlags::none);
    for (auto [i, element] : llvm::enumerate(elements)) {
      int64_t n = i / perLane, half = i / 2 % 2, odd = i % 2;
      int64_t after = n / 8 * together * access.transposed +
                      n / 2 % 4 * perGroup + half * perRows +
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

/// Returns the address of a turn, with few registers: a thread beside the load
/// has 24. Offsets have 32 bits, as there are fewer turns than bytes of sums by
/// a factor of hundreds.
template <typename Op, typename Adaptor>
static Value turnPointer(ConversionPatternRewriter &rewriter,
                         const ParamValues &params, Op op, Adaptor adaptor) {
  Location loc = op.getLoc();
  Value turns = op.getTurns(), offset;
  Value indices[] = {adaptor.getBatch(), adaptor.getHead(), adaptor.getRow()};
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value stride =
        LLVM::TruncOp::create(rewriter, loc, rewriter.getI32Type(),
                              params.of(Param::Stride, turns, int64_t(dim)));
    Value part = arith::MulIOp::create(rewriter, loc, index, stride);
    offset = offset ? arith::AddIOp::create(rewriter, loc, offset, part) : part;
  }
  Value pointer = params.of(Param::Pointer, turns);
  return LLVM::GEPOp::create(
      rewriter, loc, pointer.getType(), storedType(turns), pointer,
      LLVM::ZExtOp::create(rewriter, loc, rewriter.getI64Type(), offset)
          .getResult());
}

struct TurnWaitPattern : ParamPattern<tile::TurnWaitOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::TurnWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<nvx::TurnWaitOp>(
        op, adaptor.getTurn(), turnPointer(rewriter, params, op, adaptor),
        adaptor.getWaits());
    return success();
  }
};

struct TurnPassPattern : ParamPattern<tile::TurnPassOp> {
  using ParamPattern::ParamPattern;

  LogicalResult
  matchAndRewrite(tile::TurnPassOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<nvx::TurnPassOp>(
        op, adaptor.getTurn(), turnPointer(rewriter, params, op, adaptor));
    return success();
  }
};

} // namespace

void sm90::populateRegisterTilePatterns(RewritePatternSet &patterns,
                                        const TypeConverter &types,
                                        const ParamValues &params) {
  patterns
      .add<StoreRegPattern, ReduceAddPattern, BulkReduceAddPattern, LoadPattern,
           LoadRowPattern, StoreRowPattern, TurnWaitPattern, TurnPassPattern>(
          types, patterns.getContext(), params);
  patterns.add<ReadRowPattern>(types, patterns.getContext());
}
