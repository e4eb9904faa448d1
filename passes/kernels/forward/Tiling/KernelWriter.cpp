// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelWriter.h"
#include "../../ScoreLifter.h"
#include "KeyRanges.h"
#include "LaunchConditions.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/RegionProgram.h"

using namespace mlir;
using namespace attn;

namespace {

/// The two dimensions of the score matrix. A CTA owns one block of one of
/// them and streams the blocks of the other: forward owns queries.
enum class Side { Query, Key };

/// A work item's place: which row block, which query head (of K and V where
/// heads are packed), which batch; and
/// the positions of a score tile's elements once they are asked for.
struct Place {
  Value block, head, batch;
  Value queries, keys;
};

class KernelWriter {
public:
  KernelWriter(AttentionOp attention, Side owned)
      : b(attention.getLoc()), attention(attention),
        config(*attention.getConfig()), packed(config.getPackGqa()),
        owned(owned) {
    b.setInsertionPoint(attention->getParentOp());
  }

  tile::KernelOp write(StringRef name, ArrayRef<std::string> captureNames);

private:
  using Values = TileBuilder::Values;

  void createKernel(StringRef name, ArrayRef<std::string> captureNames);
  std::array<StringRef, 4> dimsOf(StringRef length, StringRef heads,
                                  StringRef columns);
  void readArguments(size_t fixed);
  void writeScalars();
  void writeMaps();
  void writeWork();
  void writeLoopBody(tile::ForOp loop, Value work, Value q);
  void writeResults(Value state, Value work);

  Value writeNext();
  Value writeSection();
  Value writeLoad(StringRef name, Value source, Side side, Value work);
  Value writeScore(Value s, Value work);
  Value writeMask(Value s, Value work);

  Place place(Value work);
  /// The first position of this iteration's block along `side`.
  Value start(Side side, const Place &at);
  /// The first row to write: past the end where a later part writes them.
  Value firstRowToWrite(Value work, const Place &at);
  /// The position along `side` of each element of a score tile.
  Value coords(Side side, Place &at);
  Value liftRegion(Region &region, ValueRange leading, Place &at);

  Axis &axis(Side side) {
    return side == Side::Query ? ranges.query : ranges.key;
  }
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
  Value splat(Value scalar) {
    return b.make<tensor::SplatOp>(scalar, scoreType(scalar.getType()));
  }
  /// Columns of the tiles of Q and K, and of V and O.
  int64_t columns() {
    return config.getTileD() ? config.getTileD() : attention.getHeadDim();
  }
  int64_t columnsV() {
    return config.getTileDv() ? config.getTileDv() : attention.getHeadDimV();
  }
  Type f32Type() { return b.getF32Type(); }
  Type elementType() { return attention.getQuery().getType().getElementType(); }

  TileBuilder b;
  AttentionOp attention;
  ConfigAttr config;
  int64_t packed; // query heads that share the rows of a tile
  Side owned;

  tile::KernelOp kernel;
  Value q, k, v, scale, o, lse;
  SmallVector<Value> captures;
  // (batch, head, position, dim) to the tensor's dimensions
  AffineMap layout, queryLayout;
  KeyRanges ranges;
  Value batches, heads, group, softmaxScale;
  Value iteration; // block number in the loop
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments and what does not depend on the work item.
//===----------------------------------------------------------------------===//

void KernelWriter::createKernel(StringRef name,
                                ArrayRef<std::string> captureNames) {
  SmallVector<ArgumentAttr> args;
  SmallVector<Value> inputs;
  auto add = [&](StringRef name, Value value, ArrayRef<StringRef> dims = {},
                 ArgumentAccess access = ArgumentAccess::Read) {
    SmallVector<StringAttr> sizes;
    for (StringRef dim : dims) {
      sizes.push_back(b.getStringAttr(dim));
    }
    args.push_back(ArgumentAttr::get(b.getContext(), b.getStringAttr(name),
                                     access, sizes));
    inputs.push_back(value);
  };
  add("q", attention.getQuery(), dimsOf("sq", "hq", "d"));
  add("k", attention.getKey(), dimsOf("sk", "hk", "d"));
  add("v", attention.getValue(), dimsOf("sk", "hk", "dv"));
  add("scale", attention.getScale());
  if (Value left = attention.getWindowLeft()) {
    add(kWindowLeft, left);
  }
  if (Value right = attention.getWindowRight()) {
    add(kWindowRight, right);
  }
  size_t fixed = inputs.size();
  for (auto [name, capture] :
       llvm::zip(captureNames, attention.getCaptures())) {
    add(name, capture);
  }
  add("o", attention.getOut(), dimsOf("sq", "hq", "dv"), ArgumentAccess::Write);
  add("lse", attention.getLse(), {"b", "hq", "sq"}, ArgumentAccess::Write);
  kernel = tile::KernelOp::create(b, b.loc, name,
                                  ArgumentsAttr::get(b.getContext(), args),
                                  attention.getProblem(), config,
                                  attention.getVariantAttr(), ScheduleAttr());
  if (DictionaryAttr programs = describeRegions(attention, captureNames)) {
    kernel->setDiscardableAttr(kRegionProgramsAttr, programs);
  }
  describeLaunches(kernel);
  Block &block = kernel.getBody().emplaceBlock();
  for (Value input : inputs) {
    block.addArgument(input.getType(), input.getLoc());
  }
  b.setInsertionPointToStart(&block);
  readArguments(fixed);
}

/// The sizes of a tensor whose dimensions are in the attention's order.
std::array<StringRef, 4> KernelWriter::dimsOf(StringRef length, StringRef heads,
                                              StringRef columns) {
  std::array<StringRef, 4> dims;
  dims[0] = "b";
  dims[attention.getPositionDim()] = length;
  dims[attention.getHeadsDim()] = heads;
  dims[3] = columns;
  return dims;
}

/// Of the arguments, `fixed` come before the captures.
void KernelWriter::readArguments(size_t fixed) {
  auto args = kernel.getBody().getArguments();
  q = args[0], k = args[1], v = args[2], scale = args[3];
  o = args[args.size() - 2], lse = args.back();
  if (attention.getWindowRight()) {
    ranges.windowRight = args[fixed - 1];
  }
  if (attention.getWindowLeft()) {
    ranges.windowLeft = args[4];
  }
  captures.assign(args.begin() + fixed, args.end() - 2);
}

/// Sizes, as i32.
void KernelWriter::writeScalars() {
  unsigned batch = 0, s = attention.getPositionDim(),
           h = attention.getHeadsDim();
  Values indices;
  for (int64_t i = 0; i < 3; ++i) {
    indices.push_back(b.make<arith::ConstantIndexOp>(i));
  }
  auto size = [&](Value tensor, unsigned dim) {
    Value index = b.make<tensor::DimOp>(tensor, indices[dim]);
    return b.make<arith::IndexCastOp>(b.getI32Type(), index);
  };
  batches = size(q, batch);
  ranges.query.length = size(q, s);
  heads = size(packed == 1 ? q : k, h);
  ranges.key.length = size(k, s);
  group = packed == 1 ? b.div(heads, size(k, h)) : b.i32(1);
  ranges.query.tile = config.getTileM();
  ranges.key.tile = config.getTileN();
  ranges.query.tileSize = b.i32(ranges.query.tile);
  ranges.key.tileSize = b.i32(ranges.key.tile);
  ranges.causal = attention.isCausal();
  ranges.bottomRight = attention.isBottomRight();
  ranges.maskRegion = attention.hasMaskRegion();
  ranges.packed = packed;
}

void KernelWriter::writeMaps() {
  AccessMap access;
  access.order[0] = AccessMap::Batch;
  access.order[attention.getHeadsDim()] = AccessMap::Head;
  access.order[attention.getPositionDim()] = AccessMap::Position;
  access.order[3] = AccessMap::Dim;
  layout = access.build(b.getContext());
  access.packedHeads = packed;
  queryLayout = access.build(b.getContext());
}

//===----------------------------------------------------------------------===//
// Work items and places in the score matrix.
//===----------------------------------------------------------------------===//

/// Query heads whose K and V take the share of the L2 cache that the config
/// sets aside, in sections of one size.
Value KernelWriter::writeSection() {
  if (config.getSectionMib() == 0) {
    return {};
  }
  auto rowBytesOf = [&](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getDimSize(3) * type.getElementTypeBitWidth() / 8;
  };
  int64_t rows =
      (config.getSectionMib() << 20) / (rowBytesOf(k) + rowBytesOf(v));
  Value one = b.i32(1);
  Value most = b.div(b.i32(rows), b.max(ranges.key.length, one));
  Value keyHeads = b.mul(batches, b.div(heads, group));
  Value sections = b.max(b.ceilDiv(keyHeads, b.max(most, one)), one);
  return b.mul(b.ceilDiv(keyHeads, sections), group);
}

Value KernelWriter::writeNext() {
  Type type = tile::WorkType::get(b.getContext());
  // Work items count blocks of the owned dimension; a cluster takes one for
  // each of its CTAs.
  Axis &side = axis(owned);
  Value rows = packed > 1 ? b.mul(side.length, b.i32(packed)) : side.length;
  Value size = config.getCluster() == 1
                   ? side.tileSize
                   : b.i32(side.tile * config.getCluster());
  Value blocks = b.ceilDiv(rows, size);
  Value section = writeSection(), whole;
  if (config.getLastWaveParts() > 1) {
    auto cut =
        tile::CutOp::create(b, b.loc, axis(streamed()).length,
                            axis(streamed()).tile, config.getLastWaveParts());
    whole = cut.getWhole();
    ranges.parts = cut.getParts();
  }
  auto region = tile::WorkOp::create(b, b.loc);
  b.setInsertionPointToStart(&region.getBody().emplaceBlock());
  return b.step("next", {}, type, [&](ValueRange) -> Values {
    return {b.make<tile::NextWorkOp>(type, blocks, heads, batches, section,
                                     whole, ranges.parts)};
  })[0];
}

Place KernelWriter::place(Value work) {
  auto op = tile::CoordsOfOp::create(b, b.loc, work);
  return {op.getBlock(), op.getHead(), op.getBatch(), {}, {}};
}

Value KernelWriter::start(Side side, const Place &at) {
  return b.mul(side == owned ? at.block : iteration, axis(side).tileSize);
}

Value KernelWriter::coords(Side side, Place &at) {
  Value &known = side == Side::Query ? at.queries : at.keys;
  if (!known) {
    known = b.make<tile::CoordsOp>(scoreType(b.getI32Type()), start(side, at),
                                   dimOf(side));
    if (side == Side::Query) {
      known = ranges.toQuery(b, known);
    }
  }
  return known;
}

//===----------------------------------------------------------------------===//
// Steps.
//===----------------------------------------------------------------------===//

/// A step that loads the block of `side` of this work item and iteration.
Value KernelWriter::writeLoad(StringRef name, Value source, Side side,
                              Value work) {
  Type type =
      tileType(side, source == v ? columnsV() : columns(), elementType());
  return b.step(name, work, type, [&](ValueRange args) -> Values {
    Place at = place(args[0]);
    Value head = at.head;
    if (side == Side::Key && packed == 1) {
      head = b.make<arith::DivUIOp>(head, group);
    }
    return {b.make<tile::LoadOp>(type, source, at.batch, head, start(side, at),
                                 side == Side::Query ? queryLayout : layout)};
  })[0];
}

/// Inlines a region of the user on tiles: (leading..., b, h, i, j,
/// captures...).
Value KernelWriter::liftRegion(Region &region, ValueRange leading, Place &at) {
  ValueRange formal = region.getArguments();
  size_t n = leading.size();
  Values actual(leading);
  actual.push_back(at.batch);
  actual.push_back(at.head);
  // Coordinates only where the region reads them.
  actual.push_back(formal[n + 2].use_empty() ? Value()
                                             : coords(Side::Query, at));
  actual.push_back(formal[n + 3].use_empty() ? Value() : coords(Side::Key, at));
  llvm::append_range(actual, captures);
  return ScoreLifter(b, scoreType(f32Type()).getShape()).lift(region, actual);
}

/// Without a score region the scale is left to the softmax.
Value KernelWriter::writeScore(Value s, Value work) {
  return b.step("score", {s, work}, s.getType(),
                [&](ValueRange args) -> Values {
                  if (!attention.hasScoreRegion()) {
                    return {args[0]};
                  }
                  Value scaled = b.make<arith::MulFOp>(args[0], splat(scale));
                  Place at = place(args[1]);
                  return {liftRegion(attention.getScore(), scaled, at)};
                })[0];
}

Value KernelWriter::writeMask(Value s, Value work) {
  Type type = s.getType();
  auto body = [&](ValueRange args) -> Values {
    Place at = place(args[1]);
    bool diagonal = attention.getMask() != MaskKind::None;
    Value queries = diagonal ? coords(Side::Query, at) : Value();
    Value ok = ranges.writeAdmitted(b, queries, coords(Side::Key, at));
    if (attention.hasMaskRegion()) {
      Value user = liftRegion(attention.getAllow(), {}, at);
      ok = b.make<arith::AndIOp>(ok, user);
    }
    auto lowest = DenseElementsAttr::get(
        cast<ShapedType>(type),
        APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
    Value excluded = b.make<arith::ConstantOp>(lowest);
    return {b.make<arith::SelectOp>(ok, args[0], excluded)};
  };
  return b.step("mask", {s, work}, type, body, /*masked=*/true)[0];
}

void KernelWriter::writeLoopBody(tile::ForOp loop, Value work, Value qTile) {
  OpBuilder::InsertionGuard guard(b);
  Type stateType = loop.getInits()[0].getType();
  Block &block = loop.getBody().emplaceBlock();
  iteration = block.addArgument(b.getI32Type(), b.loc);
  Value state = block.addArgument(stateType, b.loc);
  b.setInsertionPointToStart(&block);
  Value kTile = writeLoad("ld_k", k, streamed(), work);
  Value vTile = writeLoad("ld_v", v, streamed(), work);
  Type scores = scoreType(f32Type());
  Value s =
      b.step("qk", {qTile, kTile}, scores, [&](ValueRange args) -> Values {
        return {b.make<tile::MmaOp>(scores, args[0], args[1], Value(),
                                    /*transpose_b=*/true)};
      })[0];
  s = writeMask(writeScore(s, work), work);
  Value next = b.step(
      "attend", {s, vTile, state}, stateType, [&](ValueRange args) -> Values {
        return {b.make<tile::AttendOp>(stateType, args[0], args[1], args[2],
                                       softmaxScale)};
      })[0];
  tile::YieldOp::create(b, b.loc, next);
}

Value KernelWriter::firstRowToWrite(Value work, const Place &at) {
  Value first = start(owned, at);
  if (!ranges.parts) {
    return first;
  }
  auto part = tile::PartOfOp::create(b, b.loc, work);
  Value last = b.sub(ranges.parts, b.i32(1));
  Value isBeforeLast =
      b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, part.getPart(), last);
  Value leaves = b.make<arith::AndIOp>(part.getIsPart(), isBeforeLast);
  Value past = packed == 1 ? axis(owned).length
                           : b.mul(axis(owned).length, b.i32(packed));
  return b.make<arith::SelectOp>(leaves, past, first);
}

void KernelWriter::writeResults(Value state, Value work) {
  Type normalized = state.getType();
  auto rounded = tileType(owned, columnsV(), elementType());
  auto row = RankedTensorType::get({axis(owned).tile}, f32Type());
  Values results = b.step("attend_result", state, {normalized, row},
                          [&](ValueRange args) -> Values {
                            auto op = tile::AttendResultOp::create(
                                b, b.loc, normalized, row, args[0]);
                            return {op.getO(), op.getLse()};
                          });
  Value out =
      b.step("cvt_o", results[0], rounded, [&](ValueRange args) -> Values {
        return {b.make<arith::TruncFOp>(rounded, args[0])};
      })[0];
  b.step("st_o", {out, work}, {}, [&](ValueRange args) -> Values {
    Place at = place(args[1]);
    tile::StoreOp::create(b, b.loc, args[0], o, at.batch, at.head,
                          firstRowToWrite(args[1], at), queryLayout);
    return {};
  });
  b.step("st_lse", {results[1], work}, {}, [&](ValueRange args) -> Values {
    Place at = place(args[1]);
    IntegerAttr pack = packed > 1 ? b.getI64IntegerAttr(packed) : IntegerAttr();
    tile::StoreRowOp::create(b, b.loc, args[0], lse, at.batch, at.head,
                             firstRowToWrite(args[1], at), pack);
    return {};
  });
}

void KernelWriter::writeWork() {
  // A score region has the scaled score: nothing is left for the softmax.
  softmaxScale = attention.hasScoreRegion()
                     ? b.make<arith::ConstantOp>(b.getF32FloatAttr(1.0))
                     : scale;
  Value work = writeNext();
  Value qTile = writeLoad("ld_q", q, owned, work);
  Values bounds = ranges.writeBounds(b, work);
  auto type = tileType(owned, columnsV(), f32Type());
  Value zero = b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0f));
  auto loop = tile::ForOp::create(b, b.loc, TypeRange(type), bounds,
                                  ranges.ranges(b.getContext()), zero);
  writeLoopBody(loop, work, qTile);
  writeResults(loop.getResult(0), work);
}

tile::KernelOp KernelWriter::write(StringRef name,
                                   ArrayRef<std::string> captureNames) {
  createKernel(name, captureNames);
  writeScalars();
  writeMaps();
  writeWork();
  return kernel;
}

tile::KernelOp attn::writeKernel(AttentionOp attention, StringRef name,
                                 ArrayRef<std::string> captureNames) {
  return KernelWriter(attention, Side::Query).write(name, captureNames);
}
