// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SumsWriter.h"
#include "../Tiling/ZeroSums.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;

using Place = RowsWriter::Place;
using Values = RowsWriter::Values;

static AffineMap mapOfSums(MLIRContext *context) {
  return AffineMap::getMultiDimIdentityMap(4, context);
}

/// Requires of a launch: positions and work items have 32-bit numbers.
static void checkSizes(CheckList &checks, StringRef rows, StringRef words) {
  checks.require(checks.apply(LaunchOp::Lt, rows, kItemLimit),
                 "expected fewer than " + Twine(kItemLimit) + " " + words +
                     ", got {" + rows + "}");
  checks.require(checks.apply(LaunchOp::Lt, kItems, kItemLimit),
                 "expected row blocks times heads times batches to be below " +
                     Twine(kItemLimit) + ", got {" + rows +
                     "} rows, {hq} heads and {b} batches");
}

tile::KernelOp attn::writeSumsKernel(ClearSumsOp op, StringRef name) {
  RowsWriter w(op, *op.getConfig(), /*positionDim=*/2, /*headsDim=*/1);
  ZeroSums zeros(w, op.getSums(), op.getTurns());
  zeros.addArguments();
  CheckList checks(w.b.getContext());
  checkSizes(checks, names::rows, "rows of sums");
  tile::KernelOp kernel = w.createKernel(name, op.getProblem(), checks);
  Value sums = op.getSums() ? zeros.sumsArgument : zeros.turnsArgument;
  zeros.writeSteps(w.writeNext(w.b.sizeOf(sums, 0), w.b.sizeOf(sums, 1),
                               w.b.sizeOf(sums, 2)));
  return kernel;
}

namespace {

class ConvertWriter {
public:
  explicit ConvertWriter(ConvertSumsOp op)
      : w(op, *op.getConfig(), op.getPositionDim(), op.getHeadsDim()), b(w.b),
        op(op) {}

  tile::KernelOp write(StringRef name);

private:
  tile::KernelOp createKernel(StringRef name);
  Value findTurns(Value work);
  Value load(Value work, RankedTensorType type);
  Value convert(Value tile, Value turnOfRow);
  void store(Value tile, Value work);

  RowsWriter w;
  TileBuilder &b;
  ConvertSumsOp op;
  Value sums, turns, scale, gradient;
};

} // namespace

tile::KernelOp ConvertWriter::createKernel(StringRef name) {
  w.arguments.add(sums, names::sums, ArgumentRole::QueryGradientSums,
                  op.getSums(), dimsOfSums());
  if (op.getTurns()) {
    w.arguments.add(turns, names::turns, ArgumentRole::Turns, op.getTurns(),
                    ArrayRef(dimsOfSums()).drop_back());
  }
  w.arguments.add(scale, names::scale, ArgumentRole::Scale, op.getScale());
  w.arguments.addResult(
      gradient, names::queryGradient, ArgumentRole::QueryGradient,
      op.getGradient(),
      w.arguments.dimsOf(names::queries, names::queryHeads, names::dim));
  CheckList checks(b.getContext());
  checkSizes(checks, names::queries, "queries");
  checks.requireBlocksOfSums(op.getTransposed().value_or(kRowsOfSums));
  checks.require(checks.apply(LaunchOp::Ge, names::rows, names::queries),
                 "expected at least {sq} rows of sums, one for each query, got "
                 "{sr}");
  return w.createKernel(name, op.getProblem(), checks);
}

/// Writes the step that finds the turn of each row's block of queries, which is
/// 0 if nothing has been stored there. Without turns all rows have a sum.
Value ConvertWriter::findTurns(Value work) {
  auto numbers = RankedTensorType::get({w.config.getTileM()}, b.getI32Type());
  return b.step("ld_turn", work, numbers, [&](ValueRange values) -> Values {
    auto splat = [&](int64_t number) -> Value {
      return b.make<arith::ConstantOp>(
          DenseElementsAttr::get(numbers, int32_t(number)));
    };
    if (!turns) {
      return {splat(1)};
    }
    Place at = w.placeOf(values[0]);
    Value row = b.make<tile::CoordsOp>(numbers, at.row, /*dim=*/0);
    Value block = b.make<arith::DivUIOp>(row, splat(*op.getShareQueries()));
    Value first = b.make<arith::MulIOp>(block, splat(*op.getShareQueries()));
    return {b.make<tile::GatherOp>(numbers, turns,
                                   ValueRange{at.batch, at.head, first})};
  })[0];
}

Value ConvertWriter::load(Value work, RankedTensorType type) {
  return b.step("ld_sums", work, type, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[0]);
    auto load = tile::LoadOp::create(b, b.loc, type, sums, at.batch, at.head,
                                     at.row, Value(), mapOfSums(b.getContext()),
                                     /*grouped=*/true, op.getTransposedAttr());
    return {load.getTile()};
  })[0];
}

Value ConvertWriter::convert(Value tile, Value turnOfRow) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto rounded = type.clone(op.getGradient().getType().getElementType());
  auto numbers = type.clone(b.getI32Type());
  return b.step(
      "cvt_dq", {tile, turnOfRow}, rounded, [&](ValueRange values) -> Values {
        Value factor = b.make<tensor::SplatOp>(scale, type);
        Value product = b.make<arith::MulFOp>(values[0], factor);
        Value turn = b.make<tile::BroadcastOp>(numbers, values[1], /*dim=*/1);
        Value none = b.make<arith::ConstantOp>(
            DenseElementsAttr::get(numbers, int32_t(0)));
        Value zero =
            b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0F));
        Value isStored =
            b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, turn, none);
        Value sum = b.make<arith::SelectOp>(isStored, product, zero);
        return {b.make<arith::TruncFOp>(rounded, sum)};
      })[0];
}

void ConvertWriter::store(Value tile, Value work) {
  AffineMap access = AccessMap::of(op.getPositionDim(), op.getHeadsDim())
                         .build(b.getContext());
  b.step("st_dq", {tile, work}, {}, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[1]);
    tile::StoreRegOp::create(b, b.loc, values[0], gradient, at.batch, at.head,
                             at.row, Value(), access);
    return {};
  });
}

tile::KernelOp ConvertWriter::write(StringRef name) {
  tile::KernelOp kernel = createKernel(name);
  Value batches = b.sizeOf(gradient, 0),
        heads = b.sizeOf(gradient, op.getHeadsDim());
  Value queries = b.sizeOf(gradient, op.getPositionDim());
  Value work = w.writeNext(batches, heads, queries);
  // The sums may have more columns than the gradient, which are not stored.
  int64_t columns = op.getSums().getType().getDimSize(3);
  auto type =
      RankedTensorType::get({w.config.getTileM(), columns}, b.getF32Type());
  Value turnOfRow = findTurns(work);
  store(convert(load(work, type), turnOfRow), work);
  return kernel;
}

tile::KernelOp attn::writeSumsKernel(ConvertSumsOp op, StringRef name) {
  return ConvertWriter(op).write(name);
}
