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
  Value sums = zeros.sumsArgument;
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
  Value load(Value work, RankedTensorType type);
  Value convert(Value tile);
  void store(Value tile, Value work);

  RowsWriter w;
  TileBuilder &b;
  ConvertSumsOp op;
  Value sums, scale, gradient;
};

} // namespace

tile::KernelOp ConvertWriter::createKernel(StringRef name) {
  w.arguments.add(sums, names::sums, ArgumentRole::QueryGradientSums,
                  op.getSums(), dimsOfSums());
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

Value ConvertWriter::load(Value work, RankedTensorType type) {
  return b.step("ld_sums", work, type, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[0]);
    auto load = tile::LoadOp::create(b, b.loc, type, sums, at.batch, at.head,
                                     at.row, Value(), mapOfSums(b.getContext()),
                                     /*grouped=*/true, op.getTransposedAttr());
    return {load.getTile()};
  })[0];
}

Value ConvertWriter::convert(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto rounded = type.clone(op.getGradient().getType().getElementType());
  return b.step("cvt_dq", tile, rounded, [&](ValueRange values) -> Values {
    Value factor = b.make<tensor::SplatOp>(scale, type);
    Value product = b.make<arith::MulFOp>(values[0], factor);
    return {b.make<arith::TruncFOp>(rounded, product)};
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
  store(convert(load(work, type)), work);
  return kernel;
}

tile::KernelOp attn::writeSumsKernel(ConvertSumsOp op, StringRef name) {
  return ConvertWriter(op).write(name);
}
