// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile: a function around attn.attention becomes one CTA's program.
#include "ScoreLifter.h"
#include "attn/dialect/AccessMap.h"
#include "attn/passes/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_TILE
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

constexpr StringLiteral kWindowLeft = "window_left";
constexpr StringLiteral kWindowRight = "window_right";

namespace {

/// The two dimensions of the score matrix. A CTA owns one block of one of
/// them and streams the blocks of the other: forward owns queries.
enum class Side { Query, Key };

/// One dimension of the score matrix in the kernel.
struct Axis {
  int64_t tile;   // positions a block
  Value tileSize; // the same, i32
  Value length;   // positions in all, i32
};

/// A work item's place: which row block, which query head (of K and V where
/// heads are packed), which batch; and
/// the positions of a score tile's elements once they are asked for.
struct Place {
  Value block, head, batch;
  Value queries, keys;
};

/// Writes the kernel of one attention.
class KernelWriter {
public:
  KernelWriter(OpBuilder &builder, AttentionOp attention, Side owned)
      : builder(builder), loc(attention.getLoc()), attention(attention),
        config(*attention.getConfig()), packed(config.getPackGqa()),
        owned(owned) {}

  tile::KernelOp write(StringRef name, ArrayRef<std::string> captureNames);

private:
  using Body = function_ref<SmallVector<Value>(ValueRange)>;

  void createKernel(StringRef name, ArrayRef<std::string> captureNames);
  void writeScalars();
  void writeWork();
  void writeLoopBody(tile::ForOp loop, Value work, Value q);
  void writeResults(Value state, Value work);

  Value writeNext();
  Value writeSection();
  Value writeLoad(StringRef name, Value source, Side side, Value work);
  SmallVector<Value> writeBounds(Value work);
  SmallVector<Value> writeQueryOwnedBounds(Value work);
  Value writeScore(Value s, Value work);
  Value writeMask(Value s, Value work);
  Value builtinMask(Value queries, Value keys);
  /// What needs a mask among the key blocks of a block of queries, from the
  /// right. With a mask region all of them do.
  SmallVector<StringRef> rangeKinds() {
    if (attention.hasMaskRegion()) {
      return {"masked"};
    }
    if (windowLeft) {
      return {"masked", "full", "masked"};
    }
    return {"masked", "full"};
  }
  bool hasRightBound() { return attention.isCausal() || windowRight; }
  Value toDiagonal(Value queries);
  Value moveByWindow(Value keys, Value bound, bool left);
  Value lastKey(Value queries);
  Value firstKey(Value queries);

  SmallVector<Value> step(StringRef name, ValueRange operands,
                          TypeRange results, Body body, bool masked = false);
  /// Runs `body` at the end of `block`, which starts with arguments of `types`.
  void fill(Block &block, TypeRange types, Body body);
  Place place(Value work);
  /// The first position of this iteration's block along `side`.
  Value start(Side side, const Place &at);
  /// The position along `side` of each element of a score tile.
  Value coords(Side side, Place &at);
  Value toPosition(Value row);
  Value liftRegion(Region &region, ValueRange leading, Place &at);

  Axis &axis(Side side) { return side == Side::Query ? query : key; }
  Side streamed() const {
    return owned == Side::Query ? Side::Key : Side::Query;
  }
  int64_t dimOf(Side side) const { return side == owned ? 0 : 1; }
  RankedTensorType scoreType(Type element) {
    return RankedTensorType::get({axis(owned).tile, axis(streamed()).tile},
                                 element);
  }
  RankedTensorType tileType(Side side, int64_t dim, Type element) {
    return RankedTensorType::get({axis(side).tile, dim}, element);
  }
  Value i32(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }
  Value f32(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  }
  Value splat(Value scalar) {
    return tensor::SplatOp::create(builder, loc, scalar,
                                   scoreType(scalar.getType()));
  }
  /// `scalar`, as a tile where `other` is one.
  Value like(Value scalar, Value other) {
    return isa<ShapedType>(other.getType()) ? splat(scalar) : scalar;
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  Value min(Value a, Value b) {
    return arith::MinSIOp::create(builder, loc, a, b);
  }
  Value max(Value a, Value b) {
    return arith::MaxSIOp::create(builder, loc, a, b);
  }
  /// Columns of the tiles of Q and K, and of V and O.
  int64_t columns() {
    return config.getTileD() ? config.getTileD() : attention.getHeadDim();
  }
  int64_t columnsV() {
    return config.getTileDv() ? config.getTileDv() : attention.getHeadDimV();
  }
  Type f32Type() { return builder.getF32Type(); }
  Type elementType() { return attention.getQuery().getType().getElementType(); }

  OpBuilder &builder;
  Location loc;
  AttentionOp attention;
  ConfigAttr config;
  int64_t packed; // query heads that share the rows of a tile
  Side owned;

  tile::KernelOp kernel;
  Value q, k, v, scale, windowLeft, windowRight, o, lse;
  SmallVector<Value> captures;
  // (batch, head, position, dim) to the tensor's dimensions
  AffineMap layout, queryLayout;
  Axis query, key;
  Value batches, heads, group, softmaxScale;
  Value iteration; // block number in the loop
};

} // namespace

//===----------------------------------------------------------------------===//
// Pieces of a kernel.
//===----------------------------------------------------------------------===//

void KernelWriter::fill(Block &block, TypeRange types, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  block.addArguments(types, SmallVector<Location>(types.size(), loc));
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> results = body(block.getArguments());
  tile::YieldOp::create(builder, loc, results);
}

SmallVector<Value> KernelWriter::step(StringRef name, ValueRange operands,
                                      TypeRange results, Body body,
                                      bool masked) {
  auto op = tile::StepOp::create(builder, loc, results, name, operands, masked);
  fill(op.getBody().emplaceBlock(), operands.getTypes(), body);
  return llvm::to_vector_of<Value>(op.getResults());
}

Place KernelWriter::place(Value work) {
  auto op = tile::CoordsOfOp::create(builder, loc, work);
  return {op.getBlock(), op.getHead(), op.getBatch(), {}, {}};
}

Value KernelWriter::start(Side side, const Place &at) {
  return mul(side == owned ? at.block : iteration, axis(side).tileSize);
}

/// The query of a row: several heads of it follow one another where packed.
Value KernelWriter::toPosition(Value row) {
  if (packed == 1) {
    return row;
  }
  Value shift = like(i32(llvm::Log2_64(packed)), row);
  return arith::ShRUIOp::create(builder, loc, row, shift);
}

Value KernelWriter::coords(Side side, Place &at) {
  Value &known = side == Side::Query ? at.queries : at.keys;
  if (!known) {
    known =
        tile::CoordsOp::create(builder, loc, scoreType(builder.getI32Type()),
                               start(side, at), dimOf(side));
    if (side == Side::Query) {
      known = toPosition(known);
    }
  }
  return known;
}

/// Query heads whose K and V take the share of the L2 cache that the config
/// sets aside, in sections of one size.
Value KernelWriter::writeSection() {
  if (config.getSectionMib() == 0) {
    return {};
  }
  auto ceilDiv = [&](Value a, Value b) -> Value {
    return arith::CeilDivSIOp::create(builder, loc, a, b);
  };
  auto rowBytesOf = [&](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getDimSize(3) * type.getElementTypeBitWidth() / 8;
  };
  int64_t rows =
      (config.getSectionMib() << 20) / (rowBytesOf(k) + rowBytesOf(v));
  Value one = i32(1);
  Value most =
      arith::DivSIOp::create(builder, loc, i32(rows), max(key.length, one));
  Value keyHeads =
      mul(batches, arith::DivSIOp::create(builder, loc, heads, group));
  Value sections = max(ceilDiv(keyHeads, max(most, one)), one);
  return mul(ceilDiv(keyHeads, sections), group);
}

Value KernelWriter::writeNext() {
  Type type = tile::WorkType::get(builder.getContext());
  // Work items count blocks of the owned dimension; a cluster takes one for
  // each of its CTAs.
  Axis &side = axis(owned);
  Value rows = packed > 1 ? mul(side.length, i32(packed)) : side.length;
  Value size = config.getCluster() == 1 ? side.tileSize
                                        : i32(side.tile * config.getCluster());
  Value blocks = arith::CeilDivSIOp::create(builder, loc, rows, size);
  Value section = writeSection();
  tile::WorkOp region = tile::WorkOp::create(builder, loc);
  builder.setInsertionPointToStart(&region.getBody().emplaceBlock());
  return step("next", {}, type, [&](ValueRange) -> SmallVector<Value> {
    return {tile::NextWorkOp::create(builder, loc, type, blocks, heads, batches,
                                     section)};
  })[0];
}

/// A step that loads the block of `side` of this work item and iteration.
Value KernelWriter::writeLoad(StringRef name, Value source, Side side,
                              Value work) {
  Type type =
      tileType(side, source == v ? columnsV() : columns(), elementType());
  return step(name, work, type, [&](ValueRange args) -> SmallVector<Value> {
    Place at = place(args[0]);
    Value head = at.head;
    if (side == Side::Key && packed == 1) {
      head = arith::DivUIOp::create(builder, loc, head, group);
    }
    return {tile::LoadOp::create(builder, loc, type, source, at.batch, head,
                                 start(side, at),
                                 side == Side::Query ? queryLayout : layout)};
  })[0];
}

//===----------------------------------------------------------------------===//
// Bounds of the streamed ranges.
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelWriter::writeBounds(Value work) {
  SmallVector<Type> types(rangeKinds().size() + 1, builder.getI32Type());
  auto op = tile::BoundsOp::create(builder, loc, types, work);
  fill(op.getBody().emplaceBlock(), work.getType(),
       [&](ValueRange args) { return writeQueryOwnedBounds(args[0]); });
  return llvm::to_vector_of<Value>(op.getResults());
}

/// The key on the diagonal of each query; positions are scalars or tiles.
Value KernelWriter::toDiagonal(Value queries) {
  if (!attention.isBottomRight()) {
    return queries;
  }
  Value offset = sub(key.length, query.length);
  return add(queries, like(offset, queries));
}

/// `keys` moved by a bound of the window. One beyond all keys is no bound, and
/// could overflow.
Value KernelWriter::moveByWindow(Value keys, Value bound, bool left) {
  Value amount = like(min(bound, max(query.length, key.length)), keys);
  return left ? sub(keys, amount) : add(keys, amount);
}

/// The last key that each query may see.
Value KernelWriter::lastKey(Value queries) {
  Value diagonal = toDiagonal(queries);
  return windowRight ? moveByWindow(diagonal, windowRight, /*left=*/false)
                     : diagonal;
}

/// The first key that each query may see.
Value KernelWriter::firstKey(Value queries) {
  return moveByWindow(toDiagonal(queries), windowLeft, /*left=*/true);
}

/// Key blocks of a block of queries, from the right: [mid, hi) need a mask for
/// their ends on the right, [left, mid) none, [lo, left) for those on the left;
/// without a left bound left = lo = 0. Some row sees the keys up to the last
/// row's last, every row those up to the first row's, and so on the left.
/// Counts are clamped to 0..length, so that lo <= left <= mid <= hi.
SmallVector<Value> KernelWriter::writeQueryOwnedBounds(Value work) {
  Value zero = i32(0), some = key.length, first, rows, last;
  if (hasRightBound() || windowLeft) {
    auto owned = tile::OwnedRowsOp::create(builder, loc, work);
    first = toPosition(owned.getFirst());
    rows = toPosition(owned.getRows());
  }
  auto clamp = [&](Value count) { return max(min(key.length, count), zero); };
  auto blocksUpTo = [&](Value count) -> Value {
    return arith::CeilDivSIOp::create(builder, loc, count, key.tileSize);
  };
  auto wholeBlocks = [&](Value count) -> Value {
    return arith::DivSIOp::create(builder, loc, count, key.tileSize);
  };
  if (hasRightBound()) {
    last = lastKey(first);
    some = clamp(add(last, rows));
  }
  Value hi = blocksUpTo(some);
  Value lo = windowLeft ? wholeBlocks(clamp(firstKey(first))) : zero;
  if (attention.hasMaskRegion()) {
    return {hi, lo};
  }
  Value every = last ? clamp(add(last, i32(1))) : key.length;
  Value mid = wholeBlocks(every);
  if (!windowLeft) {
    return {hi, mid, lo};
  }
  Value lastRow = add(first, sub(rows, i32(1)));
  Value left = min(blocksUpTo(clamp(firstKey(lastRow))), mid);
  return {hi, mid, left, lo};
}

//===----------------------------------------------------------------------===//
// Score and mask.
//===----------------------------------------------------------------------===//

/// Inlines a region of the user on tiles: (leading..., b, h, i, j,
/// captures...).
Value KernelWriter::liftRegion(Region &region, ValueRange leading, Place &at) {
  ValueRange formal = region.getArguments();
  size_t n = leading.size();
  SmallVector<Value> actual(leading);
  actual.push_back(at.batch);
  actual.push_back(at.head);
  // Coordinates only where the region reads them.
  actual.push_back(formal[n + 2].use_empty() ? Value()
                                             : coords(Side::Query, at));
  actual.push_back(formal[n + 3].use_empty() ? Value() : coords(Side::Key, at));
  llvm::append_range(actual, captures);
  return ScoreLifter(builder, scoreType(f32Type()).getShape())
      .lift(region, actual);
}

/// Without a score region the scale is left to the softmax.
Value KernelWriter::writeScore(Value s, Value work) {
  Type type = s.getType();
  return step("score", {s, work}, type,
              [&](ValueRange args) -> SmallVector<Value> {
                if (!attention.hasScoreRegion()) {
                  return {args[0]};
                }
                Value scaled =
                    arith::MulFOp::create(builder, loc, args[0], splat(scale));
                Place at = place(args[1]);
                return {liftRegion(attention.getScore(), scaled, at)};
              })[0];
}

/// Which pairs the built-in mask admits; it also ends the keys.
Value KernelWriter::builtinMask(Value queries, Value keys) {
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  // One comparison an element: all else depends on the row alone.
  Value end = splat(key.length);
  if (hasRightBound()) {
    end = min(end, add(lastKey(queries), splat(i32(1))));
  }
  if (!windowLeft) {
    return compare(arith::CmpIPredicate::slt, keys, end);
  }
  Value first = firstKey(queries);
  Value count = max(sub(end, first), splat(i32(0)));
  return compare(arith::CmpIPredicate::ult, sub(keys, first), count);
}

Value KernelWriter::writeMask(Value s, Value work) {
  Type type = s.getType();
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    Place at = place(args[1]);
    bool diagonal = attention.getMask() != MaskKind::None;
    Value queries = diagonal ? coords(Side::Query, at) : Value();
    Value ok = builtinMask(queries, coords(Side::Key, at));
    if (attention.hasMaskRegion()) {
      Value user = liftRegion(attention.getAllow(), {}, at);
      ok = arith::AndIOp::create(builder, loc, ok, user);
    }
    auto lowest = DenseElementsAttr::get(
        cast<ShapedType>(type),
        APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
    Value excluded = arith::ConstantOp::create(builder, loc, lowest);
    return {arith::SelectOp::create(builder, loc, ok, args[0], excluded)};
  };
  return step("mask", {s, work}, type, body, /*masked=*/true)[0];
}

//===----------------------------------------------------------------------===//
// The kernel.
//===----------------------------------------------------------------------===//

void KernelWriter::createKernel(StringRef name,
                                ArrayRef<std::string> captureNames) {
  SmallVector<StringRef> names = {"q", "k", "v", "scale"};
  SmallVector<Value> inputs = {attention.getQuery(), attention.getKey(),
                               attention.getValue(), attention.getScale()};
  if (Value left = attention.getWindowLeft()) {
    names.push_back(kWindowLeft);
    inputs.push_back(left);
  }
  if (Value right = attention.getWindowRight()) {
    names.push_back(kWindowRight);
    inputs.push_back(right);
  }
  size_t fixed = inputs.size();
  llvm::append_range(names, captureNames);
  llvm::append_range(inputs, attention.getCaptures());
  names.append({"o", "lse"});
  llvm::append_range(inputs, attention.getResults());
  kernel =
      tile::KernelOp::create(builder, loc, name, builder.getStrArrayAttr(names),
                             attention.getProblem(), config,
                             attention.getVariantAttr(), ScheduleAttr());
  Block &block = kernel.getBody().emplaceBlock();
  for (Value input : inputs) {
    block.addArgument(input.getType(), input.getLoc());
  }
  auto args = block.getArguments();
  q = args[0], k = args[1], v = args[2], scale = args[3];
  o = args[args.size() - 2], lse = args.back();
  windowRight = attention.getWindowRight() ? args[fixed - 1] : Value();
  windowLeft = attention.getWindowLeft() ? args[4] : Value();
  captures.assign(args.begin() + fixed, args.end() - 2);
  builder.setInsertionPointToStart(&block);
}

/// Sizes, as i32, and what does not depend on the work item.
void KernelWriter::writeScalars() {
  unsigned b = 0, s = attention.getPositionDim(), h = attention.getHeadsDim();
  SmallVector<Value> indices;
  for (int64_t i = 0; i < 3; ++i) {
    indices.push_back(arith::ConstantIndexOp::create(builder, loc, i));
  }
  auto size = [&](Value tensor, unsigned dim) -> Value {
    Value index = tensor::DimOp::create(builder, loc, tensor, indices[dim]);
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  };
  batches = size(q, b);
  query.length = size(q, s);
  heads = size(packed == 1 ? q : k, h);
  key.length = size(k, s);
  group =
      packed == 1
          ? arith::DivSIOp::create(builder, loc, heads, size(k, h)).getResult()
          : i32(1);
  query.tile = config.getTileM();
  key.tile = config.getTileN();
  query.tileSize = i32(query.tile);
  key.tileSize = i32(key.tile);
  AccessMap access;
  access.order[b] = AccessMap::Batch;
  access.order[h] = AccessMap::Head;
  access.order[s] = AccessMap::Position;
  access.order[3] = AccessMap::Dim;
  layout = access.build(builder.getContext());
  access.packedHeads = packed;
  queryLayout = access.build(builder.getContext());
}

void KernelWriter::writeLoopBody(tile::ForOp loop, Value work, Value qTile) {
  OpBuilder::InsertionGuard guard(builder);
  Type stateType = loop.getInits()[0].getType();
  Block &block = loop.getBody().emplaceBlock();
  iteration = block.addArgument(builder.getI32Type(), loc);
  Value state = block.addArgument(stateType, loc);
  builder.setInsertionPointToStart(&block);
  Value kTile = writeLoad("ld_k", k, streamed(), work);
  Value vTile = writeLoad("ld_v", v, streamed(), work);
  Type scores = scoreType(f32Type());
  Value s = step(
      "qk", {qTile, kTile}, scores, [&](ValueRange args) -> SmallVector<Value> {
        return {tile::MmaOp::create(builder, loc, scores, args[0], args[1],
                                    Value(), /*transpose_b=*/true)};
      })[0];
  s = writeMask(writeScore(s, work), work);
  Value next =
      step("attend", {s, vTile, state}, stateType,
           [&](ValueRange args) -> SmallVector<Value> {
             return {tile::AttendOp::create(builder, loc, stateType, args[0],
                                            args[1], args[2], softmaxScale)};
           })[0];
  tile::YieldOp::create(builder, loc, next);
}

void KernelWriter::writeResults(Value state, Value work) {
  Type normalized = state.getType();
  auto rounded = tileType(owned, columnsV(), elementType());
  auto row = RankedTensorType::get({axis(owned).tile}, f32Type());
  SmallVector<Value> results =
      step("attend_result", state, {normalized, row},
           [&](ValueRange args) -> SmallVector<Value> {
             auto op = tile::AttendResultOp::create(builder, loc, normalized,
                                                    row, args[0]);
             return {op.getO(), op.getLse()};
           });
  Value out = step(
      "cvt_o", results[0], rounded, [&](ValueRange args) -> SmallVector<Value> {
        return {arith::TruncFOp::create(builder, loc, rounded, args[0])};
      })[0];
  step("st_o", {out, work}, {}, [&](ValueRange args) -> SmallVector<Value> {
    Place at = place(args[1]);
    tile::StoreOp::create(builder, loc, args[0], o, at.batch, at.head,
                          start(owned, at), queryLayout);
    return {};
  });
  step("st_lse", {results[1], work}, {},
       [&](ValueRange args) -> SmallVector<Value> {
         Place at = place(args[1]);
         IntegerAttr pack =
             packed > 1 ? builder.getI64IntegerAttr(packed) : IntegerAttr();
         tile::StoreRowOp::create(builder, loc, args[0], lse, at.batch, at.head,
                                  start(owned, at), pack);
         return {};
       });
}

void KernelWriter::writeWork() {
  // A score region has the scaled score: nothing is left for the softmax.
  softmaxScale = attention.hasScoreRegion() ? f32(1.0) : scale;
  Value work = writeNext();
  Value qTile = writeLoad("ld_q", q, owned, work);
  SmallVector<Value> bounds = writeBounds(work);
  auto type = tileType(owned, columnsV(), f32Type());
  Value zero = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(type, 0.0f));
  ArrayAttr kinds = builder.getStrArrayAttr(rangeKinds());
  auto loop =
      tile::ForOp::create(builder, loc, TypeRange(type), bounds, kinds, zero);
  writeLoopBody(loop, work, qTile);
  writeResults(loop.getResult(0), work);
}

tile::KernelOp KernelWriter::write(StringRef name,
                                   ArrayRef<std::string> captureNames) {
  OpBuilder::InsertionGuard guard(builder);
  createKernel(name, captureNames);
  writeScalars();
  writeWork();
  return kernel;
}

//===----------------------------------------------------------------------===//
// The pass.
//===----------------------------------------------------------------------===//

/// Requires: the function holds one attention of its own arguments, and
/// returns its results.
static LogicalResult checkFunction(func::FuncOp func, AttentionOp attention) {
  for (Operation &op : func.getBody().getOps()) {
    if (&op != attention && !isa<func::ReturnOp>(op)) {
      return op.emitOpError("expected only one 'attn.attention' and "
                            "'func.return' in the function, got '")
             << op.getName() << "'";
    }
  }
  for (auto [number, operand] : llvm::enumerate(attention->getOperands())) {
    if (!isa<BlockArgument>(operand)) {
      return attention.emitOpError("expected operand #")
             << number << " to be an argument of the function";
    }
  }
  for (BlockArgument argument : func.getArguments()) {
    if (argument.use_empty()) {
      return func.emitOpError("expected 'attn.attention' to use argument #")
             << argument.getArgNumber() << " of the function";
    }
  }
  Operation *end = func.getBody().front().getTerminator();
  if (!llvm::equal(end->getOperands(), attention.getResults())) {
    return end->emitOpError("expected the results of 'attn.attention', in "
                            "order, to be the results of the function");
  }
  return success();
}

/// The kernel's names of captures: attn.name of the function's argument, or c0,
/// c1, ...
static FailureOr<SmallVector<std::string>> nameCaptures(func::FuncOp func,
                                                        AttentionOp attention) {
  SmallVector<std::string> names;
  llvm::StringSet<> taken;
  const StringRef fixed[] = {"q",         "k",          "v", "scale",
                             kWindowLeft, kWindowRight, "o", "lse"};
  for (StringRef name : fixed) {
    taken.insert(name);
  }
  for (auto [number, capture] : llvm::enumerate(attention.getCaptures())) {
    unsigned argument = cast<BlockArgument>(capture).getArgNumber();
    Attribute given = func.getArgAttr(argument, "attn.name");
    std::string name = ("c" + Twine(number)).str();
    if (given) {
      auto text = dyn_cast<StringAttr>(given);
      if (!text) {
        return func.emitOpError("expected 'attn.name' of argument #")
               << argument << " to be a string, got " << given;
      }
      name = text.str();
    }
    if (!taken.insert(name).second) {
      return func.emitOpError("expected the names of the kernel's arguments "
                              "to be different, got '")
             << name << "' twice";
    }
    names.push_back(name);
  }
  return names;
}

/// Ensures: one loop, of the steps that the description names.
static LogicalResult verifyTiled(tile::KernelOp kernel) {
  SmallVector<tile::ForOp> loops;
  kernel.walk([&](tile::ForOp loop) { loops.push_back(loop); });
  if (loops.size() != 1) {
    return kernel.emitOpError("attn-tile: expected one 'tile.for', got ")
           << loops.size();
  }
  SmallVector<StringRef> got;
  for (auto step : loops.front().getBody().getOps<tile::StepOp>()) {
    got.push_back(step.getName());
  }
  SmallVector<StringRef> expected = {"ld_k",  "ld_v", "qk",
                                     "score", "mask", "attend"};
  if (got != expected) {
    return loops.front().emitOpError("attn-tile: expected steps ")
           << llvm::join(expected, ", ") << ", got " << llvm::join(got, ", ");
  }
  return success();
}

static LogicalResult tileFunction(func::FuncOp func, AttentionOp attention) {
  if (failed(checkFunction(func, attention))) {
    return failure();
  }
  if (!attention.getConfig()) {
    return attention.emitOpError("expected 'config', which attn-configure "
                                 "attaches");
  }
  int64_t packed = attention.getConfig()->getPackGqa();
  if (packed > 1 && (attention.hasScoreRegion() || attention.hasMaskRegion())) {
    return attention.emitOpError("expected no region, whose head would differ "
                                 "by row, with 'pack_gqa' above 1, got ")
           << packed;
  }
  auto names = nameCaptures(func, attention);
  if (failed(names)) {
    return failure();
  }
  OpBuilder builder(func);
  KernelWriter writer(builder, attention, Side::Query);
  tile::KernelOp kernel = writer.write(func.getName(), *names);
  func.erase();
  return verifyTiled(kernel);
}

namespace {
struct TilePass : public attn::impl::TileBase<TilePass> {
  using TileBase::TileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<std::pair<func::FuncOp, AttentionOp>> work;
    auto result = module.walk([&](AttentionOp attention) {
      auto func = dyn_cast<func::FuncOp>(attention->getParentOp());
      if (!func) {
        attention.emitOpError("expected to be in a 'func.func', got '")
            << attention->getParentOp()->getName() << "'";
        return WalkResult::interrupt();
      }
      work.emplace_back(func, attention);
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return signalPassFailure();
    }
    for (auto [func, attention] : work) {
      if (!SymbolTable::symbolKnownUseEmpty(func, module)) {
        func.emitOpError("expected no uses of the function, which becomes a "
                         "kernel");
        return signalPassFailure();
      }
      if (failed(tileFunction(func, attention))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
