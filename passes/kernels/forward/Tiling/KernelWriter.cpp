// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelWriter.h"
#include "../../RegionFacts.h"
#include "../../Tiling/ScoreMatrix.h"
#include "../../Tiling/WorkSection.h"
#include "KernelArguments.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/RegionProgram.h"

using namespace mlir;
using namespace attn;

namespace {

class KernelWriter {
public:
  KernelWriter(AttentionOp attention, Side owned)
      : b(attention.getLoc()), attention(attention),
        config(*attention.getConfig()), packed(config.getPackGqa()),
        owned(owned), matrix(b, owned) {
    b.setInsertionPoint(attention->getParentOp());
  }

  tile::KernelOp write(StringRef name, ArgumentNames names);

private:
  using Values = TileBuilder::Values;

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
  Value writeKept(Value work);
  Value writeSinks(Value work);

  /// The columns of the tiles of Q and K, and of V and O.
  int64_t columns() {
    return config.getTileD() ? config.getTileD() : attention.getHeadDim();
  }
  int64_t columnsV() {
    return config.getTileDv() ? config.getTileDv() : attention.getHeadDimV();
  }
  Type elementType() { return attention.getQuery().getType().getElementType(); }

  TileBuilder b;
  AttentionOp attention;
  ConfigAttr config;
  int64_t packed; // query heads that share the rows of a tile
  Side owned;

  KernelArguments args;
  // from (batch, head, position, dim) to the tensor's dimensions
  AffineMap layout, queryLayout;
  ScoreMatrix matrix;
  Value batches, heads, group, softmaxScale;
};

} // namespace

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
  batches = size(args.q, batch);
  matrix.ranges.query.length = size(args.q, s);
  heads = size(packed == 1 ? args.q : args.k, h);
  matrix.ranges.key.length = size(args.k, s);
  group = packed == 1 ? b.div(heads, size(args.k, h)) : b.i32(1);
  matrix.ranges.query.tile = config.getTileM();
  matrix.ranges.key.tile = config.getTileN();
  matrix.ranges.query.tileSize = b.i32(matrix.ranges.query.tile);
  matrix.ranges.key.tileSize = b.i32(matrix.ranges.key.tile);
  matrix.ranges.maskRegion = attention.hasMaskRegion();
  matrix.ranges.rowsOfPosition = AccessMap::rowsOfPosition(packed);
  matrix.ranges.cluster = config.getCluster();
  args.dropout.writeNumbers(b);
  matrix.ranges.rowKeys = RowKeysRegion::of(attention, args.captures);
  MaskBounds given = attention.getBoundKinds();
  BuiltInKeys &builtIn = matrix.ranges.builtIn;
  builtIn = {seenKeys(b.getContext(), attention.getMask(), given),
             builtInMask(attention.getMask()).bottomRight,
             matrix.ranges.query.length, matrix.ranges.key.length};
  for (auto [bound, value] : llvm::zip(maskBounds(given), args.bounds)) {
    builtIn.bounds[bound.name] = value;
  }
}

void KernelWriter::writeMaps() {
  AccessMap access =
      AccessMap::of(attention.getPositionDim(), attention.getHeadsDim());
  layout = access.build(b.getContext());
  access.packedHeads = packed;
  queryLayout = access.build(b.getContext());
}

//===----------------------------------------------------------------------===//
// Work items.
//===----------------------------------------------------------------------===//

/// Returns the number of query heads of a section, or null.
Value KernelWriter::writeSection() {
  if (config.getSectionMib() == 0) {
    return {};
  }
  Value planes = b.mul(batches, b.div(heads, group));
  Value keyHeads = headsOfSection(b, config, args.k, args.v, planes,
                                  matrix.ranges.key.length);
  return b.mul(keyHeads, group);
}

Value KernelWriter::writeNext() {
  // Work items count blocks of the owned dimension; a cluster has one block for
  // each of its CTAs.
  Axis &side = matrix.axis(owned);
  Value rows = packed > 1
                   ? b.mul(side.length, b.i32(matrix.ranges.rowsOfPosition))
                   : side.length;
  Value size = config.getCluster() == 1
                   ? side.tileSize
                   : b.i32(side.tile * config.getCluster());
  Value blocks = b.ceilDiv(rows, size);
  Value section = writeSection(), whole;
  if (config.getLastWaveParts() > 1) {
    auto cut = tile::CutOp::create(
        b, b.loc, matrix.axis(matrix.streamed()).length,
        matrix.axis(matrix.streamed()).tile, config.getLastWaveParts());
    whole = cut.getWhole();
    matrix.ranges.parts = cut.getParts();
  }
  return b.beginWork(blocks, heads, batches, section, whole,
                     matrix.ranges.parts);
}

//===----------------------------------------------------------------------===//
// Steps.
//===----------------------------------------------------------------------===//

/// Writes a step that loads the block of `side` for this work item and
/// iteration.
Value KernelWriter::writeLoad(StringRef name, Value source, Side side,
                              Value work) {
  Type type = matrix.tileType(side, source == args.v ? columnsV() : columns(),
                              elementType());
  return b.step(name, work, type, [&](ValueRange values) -> Values {
    Place at = matrix.place(values[0]);
    Value head = at.head;
    if (side == Side::Key && packed == 1) {
      head = b.make<arith::DivUIOp>(head, group);
    }
    return {b.make<tile::LoadOp>(type, source, at.batch, head,
                                 matrix.start(side, at),
                                 side == Side::Query ? queryLayout : layout)};
  })[0];
}

/// Without a score region the softmax applies the scale.
Value KernelWriter::writeScore(Value s, Value work) {
  return b.step(
      "score", {s, work}, s.getType(), [&](ValueRange values) -> Values {
        if (!attention.hasScoreRegion()) {
          return {values[0]};
        }
        Value scaled = b.make<arith::MulFOp>(
            values[0], b.make<tensor::SplatOp>(
                           args.scale, matrix.scoreType(b.getF32Type())));
        Place at = matrix.place(values[1]);
        return matrix.liftRegion(attention.getScoreRegion(), scaled,
                                 args.captures, at);
      })[0];
}

Value KernelWriter::writeMask(Value s, Value work) {
  Type type = s.getType();
  auto body = [&](ValueRange values) -> Values {
    Place at = matrix.place(values[1]);
    bool diagonal = attention.getMask() != MaskKind::None;
    Value queries = diagonal || attention.hasRowKeys()
                        ? matrix.coords(Side::Query, at)
                        : Value();
    Value ok = matrix.ranges.writeAdmitted(b, {queries, at.batch, at.head},
                                           matrix.coords(Side::Key, at));
    if (attention.hasMaskRegion()) {
      Value user = matrix.liftRegion(attention.getMaskRegion(), {},
                                     args.captures, at)[0];
      ok = b.make<arith::AndIOp>(ok, user);
    }
    auto lowest = DenseElementsAttr::get(
        cast<ShapedType>(type),
        APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
    Value excluded = b.make<arith::ConstantOp>(lowest);
    return {b.make<arith::SelectOp>(ok, values[0], excluded)};
  };
  return b.step("mask", {s, work}, type, body, /*masked=*/true)[0];
}

Value KernelWriter::writeKept(Value work) {
  return b.step(
      "keep", work, matrix.scoreType(b.getI1Type()),
      [&](ValueRange values) -> Values {
        return {args.dropout.writeKept(b, matrix, matrix.place(values[0]))};
      })[0];
}

/// Writes the step that reads the sink of each row's head.
Value KernelWriter::writeSinks(Value work) {
  auto row = RankedTensorType::get({matrix.axis(owned).tile}, b.getF32Type());
  return b.step("sink", work, row, [&](ValueRange values) -> Values {
    Place at = matrix.place(values[0]);
    Value sink = b.make<tile::GatherOp>(b.getF32Type(), args.sinks, at.head);
    return {b.make<tensor::SplatOp>(sink, row)};
  })[0];
}

void KernelWriter::writeLoopBody(tile::ForOp loop, Value work, Value qTile) {
  OpBuilder::InsertionGuard guard(b);
  Type stateType = loop.getInits()[0].getType();
  Block &block = loop.getBody().emplaceBlock();
  matrix.iteration = block.addArgument(b.getI32Type(), b.loc);
  Value state = block.addArgument(stateType, b.loc);
  b.setInsertionPointToStart(&block);
  Value kTile = writeLoad("ld_k", args.k, matrix.streamed(), work);
  Value vTile = writeLoad("ld_v", args.v, matrix.streamed(), work);
  Type scores = matrix.scoreType(b.getF32Type());
  Value s =
      b.step("qk", {qTile, kTile}, scores, [&](ValueRange values) -> Values {
        return {b.make<tile::MmaOp>(scores, values[0], values[1], Value(),
                                    /*transpose_b=*/true)};
      })[0];
  s = writeMask(writeScore(s, work), work);
  Values operands{s, vTile, state};
  if (args.dropout) {
    operands.push_back(writeKept(work));
  }
  Value next =
      b.step("attend", operands, stateType, [&](ValueRange values) -> Values {
        return {b.make<tile::AttendOp>(stateType, values[0], values[1],
                                       values[2], softmaxScale,
                                       args.dropout ? values[3] : Value())};
      })[0];
  tile::YieldOp::create(b, b.loc, next);
}

void KernelWriter::writeResults(Value state, Value work) {
  Type normalized = state.getType();
  auto rounded = matrix.tileType(owned, columnsV(), elementType());
  auto row = RankedTensorType::get({matrix.axis(owned).tile}, b.getF32Type());
  Values operands{state};
  if (args.sinks) {
    operands.push_back(writeSinks(work));
  }
  Values results = b.step("attend_result", operands, {normalized, row},
                          [&](ValueRange values) -> Values {
                            auto op = tile::AttendResultOp::create(
                                b, b.loc, normalized, row, values[0],
                                args.sinks ? values[1] : Value());
                            return {op.getO(), op.getLse()};
                          });
  Value out =
      b.step("cvt_o", results[0], rounded, [&](ValueRange values) -> Values {
        Value o = args.dropout ? args.dropout.scaleUp(b, values[0]) : values[0];
        return {b.make<arith::TruncFOp>(rounded, o)};
      })[0];
  b.step("st_o", {out, work}, {}, [&](ValueRange values) -> Values {
    Place at = matrix.place(values[1]);
    tile::StoreOp::create(b, b.loc, values[0], args.o, at.batch, at.head,
                          matrix.firstRowToWrite(values[1], at), queryLayout);
    return {};
  });
  b.step("st_lse", {results[1], work}, {}, [&](ValueRange values) -> Values {
    Place at = matrix.place(values[1]);
    IntegerAttr pack = packed > 1 ? b.getI64IntegerAttr(packed) : IntegerAttr();
    tile::StoreRowOp::create(b, b.loc, values[0], args.lse, at.batch, at.head,
                             matrix.firstRowToWrite(values[1], at), pack);
    return {};
  });
}

void KernelWriter::writeWork() {
  // A score region receives the scaled score, so the softmax does not scale.
  softmaxScale = attention.hasScoreRegion()
                     ? b.make<arith::ConstantOp>(b.getF32FloatAttr(1.0))
                     : args.scale;
  Value work = writeNext();
  Value qTile = writeLoad("ld_q", args.q, owned, work);
  Values bounds = matrix.ranges.writeBounds(b, work);
  auto type = matrix.tileType(owned, columnsV(), b.getF32Type());
  Value zero = b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0f));
  auto loop = tile::ForOp::create(b, b.loc, TypeRange(type), bounds,
                                  matrix.ranges.ranges(b.getContext()), zero);
  writeLoopBody(loop, work, qTile);
  writeResults(loop.getResult(0), work);
}

tile::KernelOp KernelWriter::write(StringRef name, ArgumentNames names) {
  tile::KernelOp kernel =
      createKernel(b, attention, name, std::move(names), args);
  writeScalars();
  writeMaps();
  writeWork();
  return kernel;
}

tile::KernelOp attn::writeKernel(AttentionOp attention, StringRef name,
                                 ArgumentNames names) {
  return KernelWriter(attention, Side::Query).write(name, std::move(names));
}
