// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeltaWriter.h"
#include "../ArgumentNames.h"
#include "../TileBuilder.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

namespace {

class DeltaWriter {
public:
  explicit DeltaWriter(DeltaOp delta)
      : b(delta.getLoc()), delta(delta), config(*delta.getConfig()) {
    b.setInsertionPoint(delta->getParentOp());
    row = RankedTensorType::get({config.getTileM()}, b.getF32Type());
  }

  tile::KernelOp write(StringRef name);

private:
  using Values = TileBuilder::Values;
  /// The position of the tile of a work item.
  struct Place {
    Value batch, head, row;
  };

  ArgumentsAttr describeArguments();
  ArrayAttr describeLaunches();
  void writeSizes(Block &arguments);
  void writeWork(Block &arguments);
  Place placeOf(Value work);
  Value loadTile(StringRef step, Value source, Value work);
  Value loadRow(StringRef step, Value source, Value work);
  Value writeDot(Value out, Value gradient);
  Values writeRows(Value sums, Value lse, Value lseGradient, Value work);
  void storeRow(StringRef step, Value rows, Value dest, Value work);

  int64_t columns() {
    return config.getTileDv() ? config.getTileDv() : delta.getHeadDimV();
  }
  Value splat(float number) {
    return b.make<arith::ConstantOp>(DenseElementsAttr::get(row, number));
  }

  TileBuilder b;
  DeltaOp delta;
  ConfigAttr config;
  RankedTensorType row;
  Value tileSize, batches, heads, queries, rows; // as i32
};

} // namespace

ArgumentsAttr DeltaWriter::describeArguments() {
  using Role = ArgumentRole;
  SmallVector<ArgumentAttr> list;
  auto add = [&](StringRef name, Role role, ArrayRef<StringRef> dims) {
    bool isResult = role == Role::Delta || role == Role::Lse2;
    auto sizes = llvm::map_to_vector(
        dims, [&](StringRef dim) { return b.getStringAttr(dim); });
    list.push_back(ArgumentAttr::get(
        b.getContext(), b.getStringAttr(name), b.getStringAttr(name), role,
        isResult ? ArgumentAccess::Write : ArgumentAccess::Read, sizes,
        FloatAttr(), FloatAttr(), IntegerAttr()));
  };
  std::array<StringRef, 4> ofTile;
  ofTile[0] = names::batches;
  ofTile[delta.getPositionDim()] = names::queries;
  ofTile[delta.getHeadsDim()] = names::queryHeads;
  ofTile[3] = names::dimV;
  std::array<StringRef, 3> ofLse = {names::batches, names::queryHeads,
                                    names::queries};
  std::array<StringRef, 3> ofRows = {names::batches, names::queryHeads,
                                     names::rows};
  add(names::o, Role::Output, ofTile);
  add(names::outGradient, Role::OutputGradient, ofTile);
  add(names::lse, Role::Lse, ofLse);
  add(names::lseGradient, Role::LseGradient, ofLse);
  add(names::delta, Role::Delta, ofRows);
  add(names::lse2, Role::Lse2, ofRows);
  return ArgumentsAttr::get(b.getContext(), list);
}

ArrayAttr DeltaWriter::describeLaunches() {
  auto number = [&](int64_t value) -> Attribute {
    return b.getI64IntegerAttr(value);
  };
  auto size = [&](StringRef name) -> Attribute {
    return b.getStringAttr(name);
  };
  auto apply = [&](StringRef op, Attribute first, Attribute second) {
    return b.getArrayAttr({b.getStringAttr(op), first, second});
  };
  auto holds = [&](Attribute condition, const Twine &message) -> Attribute {
    return b.getArrayAttr({condition, number(1), b.getStringAttr(message)});
  };
  Attribute rowsOfAll = size(names::rows), queriesOfAll = size(names::queries);
  return b.getArrayAttr(
      {holds(apply("ge", rowsOfAll, queriesOfAll),
             "expected at least {sq} rows of statistics, one for each query, "
             "got {sr}"),
       // Rows after the last query are computed from the first one.
       holds(apply("ge", apply("mul", queriesOfAll, number(kItemLimit)),
                   rowsOfAll),
             "expected no rows of statistics without queries, got {sr}"),
       holds(apply("lt", rowsOfAll, number(kItemLimit)),
             "expected fewer than " + Twine(kItemLimit) +
                 " rows of statistics, got {sr}"),
       holds(apply("lt", size(kItems), number(kItemLimit)),
             "expected row blocks times heads times batches to be below " +
                 Twine(kItemLimit) +
                 ", got {sr} rows, {hq} heads and {b} batches")});
}

void DeltaWriter::writeSizes(Block &arguments) {
  auto size = [&](unsigned argument, unsigned dim) {
    Value index = b.make<tensor::DimOp>(arguments.getArgument(argument),
                                        b.make<arith::ConstantIndexOp>(dim));
    return b.make<arith::IndexCastOp>(b.getI32Type(), index);
  };
  batches = size(0, 0);
  queries = size(0, delta.getPositionDim());
  heads = size(0, delta.getHeadsDim());
  rows = size(4, 2);
  tileSize = b.i32(config.getTileM());
}

DeltaWriter::Place DeltaWriter::placeOf(Value work) {
  auto at = tile::WorkCoordsOp::create(b, b.loc, work);
  return {at.getBatch(), at.getHead(), b.mul(at.getBlock(), tileSize)};
}

Value DeltaWriter::loadTile(StringRef step, Value source, Value work) {
  AccessMap access;
  access.order[0] = AccessMap::Batch;
  access.order[delta.getHeadsDim()] = AccessMap::Head;
  access.order[delta.getPositionDim()] = AccessMap::Position;
  access.order[3] = AccessMap::Dim;
  auto type = RankedTensorType::get(
      {config.getTileM(), columns()},
      cast<RankedTensorType>(source.getType()).getElementType());
  return b.step(step, work, type, [&](ValueRange values) -> Values {
    Place at = placeOf(values[0]);
    return {b.make<tile::LoadOp>(type, source, at.batch, at.head, at.row,
                                 access.build(b.getContext()))};
  })[0];
}

Value DeltaWriter::loadRow(StringRef step, Value source, Value work) {
  return b.step(step, work, row, [&](ValueRange values) -> Values {
    Place at = placeOf(values[0]);
    return {b.make<tile::LoadRowOp>(row, source, at.batch, at.head, at.row,
                                    Value())};
  })[0];
}

Value DeltaWriter::writeDot(Value out, Value gradient) {
  auto wide = cast<RankedTensorType>(out.getType()).clone(b.getF32Type());
  return b.step("dot", {out, gradient}, row, [&](ValueRange values) -> Values {
    Value product =
        b.make<arith::MulFOp>(b.make<arith::ExtFOp>(wide, values[0]),
                              b.make<arith::ExtFOp>(wide, values[1]));
    return {b.make<tile::ReduceOp>(row, tile::ReduceKind::Add, product,
                                   /*dim=*/1, /*partial=*/false)};
  })[0];
}

/// Writes both statistics. A row without keys, or after the last query, has no
/// part in any gradient.
DeltaWriter::Values DeltaWriter::writeRows(Value sums, Value lse,
                                           Value lseGradient, Value work) {
  auto body = [&](ValueRange values) -> Values {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    auto numbers = row.clone(b.getI32Type());
    Value number =
        b.make<tile::CoordsOp>(numbers, placeOf(values[3]).row, /*dim=*/0);
    Value isPast =
        b.make<arith::CmpIOp>(arith::CmpIPredicate::sge, number,
                              b.make<tensor::SplatOp>(queries, numbers));
    Value hasNoKeys = b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ,
                                            values[1], splat(-infinity));
    Value isEmpty = b.make<arith::OrIOp>(isPast, hasNoKeys);
    Value difference = b.make<arith::SubFOp>(values[0], values[2]);
    Value lse2 = b.make<arith::MulFOp>(values[1], splat(llvm::numbers::log2ef));
    return {b.make<arith::SelectOp>(isEmpty, splat(0), difference),
            b.make<arith::SelectOp>(isEmpty, splat(infinity), lse2)};
  };
  return b.step("stats", {sums, lse, lseGradient, work}, {row, row}, body);
}

void DeltaWriter::storeRow(StringRef step, Value rowsOfItem, Value dest,
                           Value work) {
  b.step(step, {rowsOfItem, work}, {}, [&](ValueRange values) -> Values {
    Place at = placeOf(values[1]);
    tile::StoreRowOp::create(b, b.loc, values[0], dest, at.batch, at.head,
                             at.row, IntegerAttr());
    return {};
  });
}

void DeltaWriter::writeWork(Block &arguments) {
  Value blocks = b.ceilDiv(rows, tileSize);
  auto region = tile::WorkOp::create(b, b.loc);
  b.setInsertionPointToStart(&region.getBody().emplaceBlock());
  Type item = tile::WorkType::get(b.getContext());
  Value work = b.step("next", {}, item, [&](ValueRange) -> Values {
    return {b.make<tile::NextWorkOp>(item, blocks, heads, batches, Value(),
                                     Value(), Value())};
  })[0];
  Value out = loadTile("ld_o", arguments.getArgument(0), work);
  Value gradient = loadTile("ld_do", arguments.getArgument(1), work);
  Value lse = loadRow("ld_lse", arguments.getArgument(2), work);
  Value lseGradient = loadRow("ld_dlse", arguments.getArgument(3), work);
  Value sums = writeDot(out, gradient);
  Values results = writeRows(sums, lse, lseGradient, work);
  storeRow("st_dl", results[0], arguments.getArgument(4), work);
  storeRow("st_lse2", results[1], arguments.getArgument(5), work);
}

tile::KernelOp DeltaWriter::write(StringRef name) {
  auto kernel = tile::KernelOp::create(b, b.loc, name, describeArguments(),
                                       delta.getProblem(), config,
                                       VariantAttr(), ScheduleAttr());
  kernel->setDiscardableAttr(kChecksAttr, describeLaunches());
  Block &block = kernel.getBody().emplaceBlock();
  for (Value value :
       {delta.getOut(), delta.getOutGradient(), delta.getLse(),
        delta.getLseGradient(), delta.getDelta(), delta.getLse2()}) {
    block.addArgument(value.getType(), b.loc);
  }
  b.setInsertionPointToStart(&block);
  writeSizes(block);
  writeWork(block);
  return kernel;
}

tile::KernelOp attn::writeDeltaKernel(DeltaOp delta, StringRef name) {
  return DeltaWriter(delta).write(name);
}
