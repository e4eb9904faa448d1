// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeltaWriter.h"
#include "../Tiling/ZeroSums.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;

namespace {

class DeltaWriter {
public:
  explicit DeltaWriter(DeltaOp delta)
      : w(delta, *delta.getConfig(), delta.getPositionDim(),
          delta.getHeadsDim()),
        b(w.b), delta(delta), zeros(w, delta.getSums(), delta.getTurns()),
        row(RankedTensorType::get({w.config.getTileM()}, b.getF32Type())) {}

  tile::KernelOp write(StringRef name);

private:
  using Place = RowsWriter::Place;
  using Values = RowsWriter::Values;

  void addArguments();
  CheckList describeLaunches();
  Value writeNext();
  Value loadTile(StringRef step, Value source, Value work);
  Value loadRow(StringRef step, Value source, Value work);
  Value writeDot(Value outs, Value gradients);
  Values writeRows(Value sums, Value lses, Value lseGradients, Value work);
  void storeRow(StringRef step, Value rows, Value dest, Value work);

  int64_t columns() {
    ConfigAttr config = w.config;
    return config.getTileDv() ? config.getTileDv() : delta.getHeadDimV();
  }
  Value splat(float number) {
    return b.make<arith::ConstantOp>(DenseElementsAttr::get(row, number));
  }

  RowsWriter w;
  TileBuilder &b;
  DeltaOp delta;
  ZeroSums zeros;
  RankedTensorType row;
  Value out, outGradient, lse, lseGradient, differences, lse2; // arguments
  Value queries;                                               // their number
};

} // namespace

void DeltaWriter::addArguments() {
  using Role = ArgumentRole;
  ArgumentList &list = w.arguments;
  std::array<StringRef, 4> ofTile =
      list.dimsOf(names::queries, names::queryHeads, names::dimV);
  std::array<StringRef, 3> ofLse = {names::batches, names::queryHeads,
                                    names::queries};
  std::array<StringRef, 3> ofRows = {names::batches, names::queryHeads,
                                     names::rows};
  list.add(out, names::o, Role::Output, delta.getOut(), ofTile);
  list.add(outGradient, names::outGradient, Role::OutputGradient,
           delta.getOutGradient(), ofTile);
  list.add(lse, names::lse, Role::Lse, delta.getLse(), ofLse);
  list.add(lseGradient, names::lseGradient, Role::LseGradient,
           delta.getLseGradient(), ofLse);
  list.addResult(differences, names::delta, Role::Delta, delta.getDelta(),
                 ofRows);
  list.addResult(lse2, names::lse2, Role::Lse2, delta.getLse2(), ofRows);
  zeros.addArguments();
}

CheckList DeltaWriter::describeLaunches() {
  using Op = LaunchOp;
  StringRef rows = names::rows;
  CheckList checks(b.getContext());
  checks.require(checks.apply(Op::Ge, rows, names::queries),
                 "expected at least {sq} rows of statistics, one for each "
                 "query, got {sr}");
  // Rows out of bounds read the address of row 0, so there has to be a row.
  Attribute none = checks.apply(Op::Mul, names::queries, kItemLimit);
  checks.require(checks.apply(Op::Ge, none, rows),
                 "expected no rows of statistics without queries, got {sr}");
  checks.require(checks.apply(Op::Lt, rows, kItemLimit),
                 "expected fewer than " + Twine(kItemLimit) +
                     " rows of statistics, got {sr}");
  checks.require(checks.apply(Op::Lt, kItems, kItemLimit),
                 "expected row blocks times heads times batches to be below " +
                     Twine(kItemLimit) +
                     ", got {sr} rows, {hq} heads and {b} batches");
  return checks;
}

Value DeltaWriter::writeNext() {
  Value batches = b.sizeOf(out, 0);
  queries = b.sizeOf(out, delta.getPositionDim());
  Value heads = b.sizeOf(out, delta.getHeadsDim());
  return w.writeNext(batches, heads, b.sizeOf(differences, 2));
}

Value DeltaWriter::loadTile(StringRef step, Value source, Value work) {
  AccessMap access = AccessMap::of(delta.getPositionDim(), delta.getHeadsDim());
  auto type = RankedTensorType::get(
      {w.config.getTileM(), columns()},
      cast<RankedTensorType>(source.getType()).getElementType());
  return b.step(step, work, type, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[0]);
    return {b.make<tile::LoadOp>(type, source, at.batch, at.head, at.row,
                                 access.build(b.getContext()))};
  })[0];
}

Value DeltaWriter::loadRow(StringRef step, Value source, Value work) {
  return b.step(step, work, row, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[0]);
    return {b.make<tile::LoadRowOp>(row, source, at.batch, at.head, at.row,
                                    Value())};
  })[0];
}

Value DeltaWriter::writeDot(Value outs, Value gradients) {
  auto wide = cast<RankedTensorType>(outs.getType()).clone(b.getF32Type());
  return b.step(
      "dot", {outs, gradients}, row, [&](ValueRange values) -> Values {
        Value product =
            b.make<arith::MulFOp>(b.make<arith::ExtFOp>(wide, values[0]),
                                  b.make<arith::ExtFOp>(wide, values[1]));
        return {b.make<tile::ReduceOp>(row, tile::ReduceKind::Add, product,
                                       /*dim=*/1, /*partial=*/false)};
      })[0];
}

/// Writes both statistics. A row without keys, or after the last query,
/// contributes to no gradient.
DeltaWriter::Values DeltaWriter::writeRows(Value sums, Value lses,
                                           Value lseGradients, Value work) {
  auto body = [&](ValueRange values) -> Values {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    auto numbers = row.clone(b.getI32Type());
    Value number =
        b.make<tile::CoordsOp>(numbers, w.placeOf(values[3]).row, /*dim=*/0);
    Value isPast =
        b.make<arith::CmpIOp>(arith::CmpIPredicate::sge, number,
                              b.make<tensor::SplatOp>(queries, numbers));
    Value hasNoKeys = b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ,
                                            values[1], splat(-infinity));
    Value isEmpty = b.make<arith::OrIOp>(isPast, hasNoKeys);
    Value difference = b.make<arith::SubFOp>(values[0], values[2]);
    Value scaled =
        b.make<arith::MulFOp>(values[1], splat(llvm::numbers::log2ef));
    return {b.make<arith::SelectOp>(isEmpty, splat(0), difference),
            b.make<arith::SelectOp>(isEmpty, splat(infinity), scaled)};
  };
  return b.step("stats", {sums, lses, lseGradients, work}, {row, row}, body);
}

void DeltaWriter::storeRow(StringRef step, Value rows, Value dest, Value work) {
  b.step(step, {rows, work}, {}, [&](ValueRange values) -> Values {
    Place at = w.placeOf(values[1]);
    tile::StoreRowOp::create(b, b.loc, values[0], dest, at.batch, at.head,
                             at.row, IntegerAttr());
    return {};
  });
}

tile::KernelOp DeltaWriter::write(StringRef name) {
  addArguments();
  tile::KernelOp kernel =
      w.createKernel(name, delta.getProblem(), describeLaunches());
  Value work = writeNext();
  Value outs = loadTile("ld_o", out, work);
  Value gradients = loadTile("ld_do", outGradient, work);
  Value lses = loadRow("ld_lse", lse, work);
  Value lseGradients = loadRow("ld_dlse", lseGradient, work);
  zeros.writeSteps(work);
  Value sums = writeDot(outs, gradients);
  Values results = writeRows(sums, lses, lseGradients, work);
  storeRow("st_dl", results[0], differences, work);
  storeRow("st_lse2", results[1], lse2, work);
  return kernel;
}

tile::KernelOp attn::writeDeltaKernel(DeltaOp delta, StringRef name) {
  return DeltaWriter(delta).write(name);
}
