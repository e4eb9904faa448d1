// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SumsWriter.h"
#include "../ArgumentNames.h"
#include "../TileBuilder.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

namespace {

/// Writes a kernel over the rows of a tensor of batches, heads, rows and head
/// dims.
class SumsWriter {
public:
  using Values = TileBuilder::Values;
  /// The position of the tile of a work item.
  struct Place {
    Value batch, head, row;
  };

  SumsWriter(Operation *op, ConfigAttr config)
      : b(op->getLoc()), config(config) {
    b.setInsertionPoint(op->getParentOp());
  }

  void add(StringRef name, ArgumentRole role, ArgumentAccess access, Value of,
           ArrayRef<StringRef> dims = {});
  tile::KernelOp createKernel(StringRef name, ProblemAttr problem,
                              ArrayAttr checks);
  /// Begins a work item: a block of the rows of argument `number`.
  Value writeNext(unsigned number, unsigned positionDim, unsigned headsDim);
  Place placeOf(Value work);
  Value argument(unsigned number) { return block->getArgument(number); }
  ArrayAttr checks(StringRef rows, StringRef name);

  TileBuilder b;
  ConfigAttr config;

private:
  Value size(unsigned number, unsigned dim);

  Block *block = nullptr;
  SmallVector<ArgumentAttr> list;
  SmallVector<Type> types;
  Value tileSize;
};

} // namespace

void SumsWriter::add(StringRef name, ArgumentRole role, ArgumentAccess access,
                     Value of, ArrayRef<StringRef> dims) {
  auto sizes = llvm::map_to_vector(
      dims, [&](StringRef dim) { return b.getStringAttr(dim); });
  list.push_back(ArgumentAttr::get(b.getContext(), b.getStringAttr(name),
                                   b.getStringAttr(name), role, access, sizes,
                                   FloatAttr(), FloatAttr(), IntegerAttr()));
  types.push_back(of.getType());
}

/// Returns the conditions of a launch over `rows` of `name`.
ArrayAttr SumsWriter::checks(StringRef rows, StringRef name) {
  auto apply = [&](StringRef op, StringRef size) -> Attribute {
    return b.getArrayAttr({b.getStringAttr(op), b.getStringAttr(size),
                           b.getI64IntegerAttr(kItemLimit)});
  };
  auto holds = [&](Attribute condition, const Twine &message) -> Attribute {
    return b.getArrayAttr(
        {condition, b.getI64IntegerAttr(1), b.getStringAttr(message)});
  };
  return b.getArrayAttr(
      {holds(apply("lt", rows), "expected fewer than " + Twine(kItemLimit) +
                                    " " + name + ", got {" + rows + "}"),
       holds(apply("lt", kItems),
             "expected row blocks times heads times batches to be below " +
                 Twine(kItemLimit) + ", got {" + rows +
                 "} rows, {hq} heads and {b} batches")});
}

tile::KernelOp SumsWriter::createKernel(StringRef name, ProblemAttr problem,
                                        ArrayAttr checks) {
  auto kernel = tile::KernelOp::create(
      b, b.loc, name, ArgumentsAttr::get(b.getContext(), list), problem, config,
      VariantAttr(), ScheduleAttr());
  kernel->setDiscardableAttr(kChecksAttr, checks);
  block = &kernel.getBody().emplaceBlock();
  for (Type type : types) {
    block->addArgument(type, b.loc);
  }
  b.setInsertionPointToStart(block);
  return kernel;
}

Value SumsWriter::size(unsigned number, unsigned dim) {
  Value index = b.make<tensor::DimOp>(argument(number),
                                      b.make<arith::ConstantIndexOp>(dim));
  return b.make<arith::IndexCastOp>(b.getI32Type(), index);
}

Value SumsWriter::writeNext(unsigned number, unsigned positionDim,
                            unsigned headsDim) {
  Value batches = size(number, 0), heads = size(number, headsDim);
  tileSize = b.i32(config.getTileM());
  Value blocks = b.ceilDiv(size(number, positionDim), tileSize);
  auto region = tile::WorkOp::create(b, b.loc);
  b.setInsertionPointToStart(&region.getBody().emplaceBlock());
  Type item = tile::WorkType::get(b.getContext());
  return b.step("next", {}, item, [&](ValueRange) -> Values {
    return {b.make<tile::NextWorkOp>(item, blocks, heads, batches, Value(),
                                     Value(), Value())};
  })[0];
}

SumsWriter::Place SumsWriter::placeOf(Value work) {
  auto at = tile::WorkCoordsOp::create(b, b.loc, work);
  return {at.getBatch(), at.getHead(), b.mul(at.getBlock(), tileSize)};
}

/// The sizes of the sums, in the order of batches, heads, rows and head dims.
static std::array<StringRef, 4> dimsOfSums() {
  return {names::batches, names::queryHeads, names::rows, names::dim};
}

static AffineMap mapOfSums(MLIRContext *context) {
  return AffineMap::getMultiDimIdentityMap(4, context);
}

/// Returns the conditions under which each row of the gradient has a sum.
static ArrayAttr withRows(OpBuilder &b, ArrayAttr checks) {
  Attribute enough =
      b.getArrayAttr({b.getStringAttr("ge"), b.getStringAttr(names::rows),
                      b.getStringAttr(names::queries)});
  SmallVector<Attribute> all(checks.begin(), checks.end());
  constexpr int64_t rowsOfBlock = 64;
  Attribute rest =
      b.getArrayAttr({b.getStringAttr("mod"), b.getStringAttr(names::rows),
                      b.getI64IntegerAttr(rowsOfBlock)});
  all.push_back(b.getArrayAttr(
      {rest, b.getI64IntegerAttr(0),
       b.getStringAttr("expected full blocks of " + Twine(rowsOfBlock) +
                       " rows of sums, got {sr} rows")}));
  all.push_back(b.getArrayAttr(
      {enough, b.getI64IntegerAttr(1),
       b.getStringAttr("expected at least {sq} rows of sums, one for each "
                       "query, got {sr}")}));
  return b.getArrayAttr(all);
}

tile::KernelOp attn::writeClearKernel(ClearSumsOp op, StringRef name) {
  SumsWriter w(op, *op.getConfig());
  w.add(names::sums, ArgumentRole::QueryGradientSums, ArgumentAccess::Write,
        op.getSums(), dimsOfSums());
  tile::KernelOp kernel = w.createKernel(name, op.getProblem(),
                                         w.checks(names::rows, "rows of sums"));
  Value work = w.writeNext(0, /*positionDim=*/2, /*headsDim=*/1);
  auto type = RankedTensorType::get({w.config.getTileM(), op.getHeadDim()},
                                    w.b.getF32Type());
  w.b.step("st_zero", work, {}, [&](ValueRange values) -> SumsWriter::Values {
    SumsWriter::Place at = w.placeOf(values[0]);
    Value zero =
        w.b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0F));
    tile::StoreRegOp::create(w.b, w.b.loc, zero, w.argument(0), at.batch,
                             at.head, at.row, Value(),
                             mapOfSums(w.b.getContext()));
    return {};
  });
  return kernel;
}

tile::KernelOp attn::writeConvertKernel(ConvertSumsOp op, StringRef name) {
  SumsWriter w(op, *op.getConfig());
  w.add(names::sums, ArgumentRole::QueryGradientSums, ArgumentAccess::Read,
        op.getSums(), dimsOfSums());
  w.add(names::scale, ArgumentRole::Scale, ArgumentAccess::Read, op.getScale());
  std::array<StringRef, 4> dims;
  dims[0] = names::batches;
  dims[op.getPositionDim()] = names::queries;
  dims[op.getHeadsDim()] = names::queryHeads;
  dims[3] = names::dim;
  w.add(names::queryGradient, ArgumentRole::QueryGradient,
        ArgumentAccess::Write, op.getGradient(), dims);
  tile::KernelOp kernel =
      w.createKernel(name, op.getProblem(),
                     withRows(w.b, w.checks(names::queries, "queries")));
  Value work = w.writeNext(2, op.getPositionDim(), op.getHeadsDim());
  auto type = RankedTensorType::get({w.config.getTileM(), op.getHeadDim()},
                                    w.b.getF32Type());
  Value sums = w.b.step(
      "ld_sums", work, type, [&](ValueRange values) -> SumsWriter::Values {
        SumsWriter::Place at = w.placeOf(values[0]);
        auto load = tile::LoadOp::create(
            w.b, w.b.loc, type, w.argument(0), at.batch, at.head, at.row,
            Value(), mapOfSums(w.b.getContext()), /*grouped=*/true);
        return {load.getTile()};
      })[0];
  auto rounded = type.clone(op.getGradient().getType().getElementType());
  Value gradient = w.b.step(
      "cvt_dq", sums, rounded, [&](ValueRange values) -> SumsWriter::Values {
        Value factor = w.b.make<tensor::SplatOp>(w.argument(1), type);
        return {w.b.make<arith::TruncFOp>(
            rounded, w.b.make<arith::MulFOp>(values[0], factor))};
      })[0];
  AccessMap access;
  access.order[0] = AccessMap::Batch;
  access.order[op.getHeadsDim()] = AccessMap::Head;
  access.order[op.getPositionDim()] = AccessMap::Position;
  access.order[3] = AccessMap::Dim;
  w.b.step("st_dq", {gradient, work}, {},
           [&](ValueRange values) -> SumsWriter::Values {
             SumsWriter::Place at = w.placeOf(values[1]);
             tile::StoreRegOp::create(w.b, w.b.loc, values[0], w.argument(2),
                                      at.batch, at.head, at.row, Value(),
                                      access.build(w.b.getContext()));
             return {};
           });
  return kernel;
}
