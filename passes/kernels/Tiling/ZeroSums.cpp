// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ZeroSums.h"

using namespace mlir;
using namespace attn;

std::array<StringRef, 4> attn::dimsOfSums() {
  return {names::batches, names::queryHeads, names::rows, names::sumColumns};
}

void ZeroSums::addArguments() {
  if (sums) {
    w.arguments.addResult(sumsArgument, names::sums,
                          ArgumentRole::QueryGradientSums, sums, dimsOfSums());
  }
  if (turns) {
    w.arguments.addResult(turnsArgument, names::turns, ArgumentRole::Turns,
                          turns, ArrayRef(dimsOfSums()).drop_back());
  }
}

void ZeroSums::writeStep(StringRef name, Value work,
                         function_ref<void(RowsWriter::Place)> store) {
  w.b.step(name, work, {}, [&](ValueRange values) -> RowsWriter::Values {
    if (store) {
      store(w.placeOf(values[0]));
    }
    return {};
  });
}

void ZeroSums::writeSteps(Value work) {
  TileBuilder &b = w.b;
  int64_t rows = w.config.getTileM();
  auto storeSums = [&](RowsWriter::Place at) {
    int64_t columns = cast<RankedTensorType>(sums.getType()).getDimSize(3);
    auto type = RankedTensorType::get({rows, columns}, b.getF32Type());
    Value zero = b.make<arith::ConstantOp>(DenseElementsAttr::get(type, 0.0F));
    tile::StoreRegOp::create(
        b, b.loc, zero, sumsArgument, at.batch, at.head, at.row, Value(),
        AffineMap::getMultiDimIdentityMap(4, b.getContext()));
  };
  auto storeTurns = [&](RowsWriter::Place at) {
    auto type = RankedTensorType::get({rows}, b.getI32Type());
    Value zero =
        b.make<arith::ConstantOp>(DenseElementsAttr::get(type, int32_t(0)));
    tile::StoreRowOp::create(b, b.loc, zero, turnsArgument, at.batch, at.head,
                             at.row, IntegerAttr());
  };
  using Store = function_ref<void(RowsWriter::Place)>;
  writeStep("st_zero", work, sums ? Store(storeSums) : Store());
  writeStep("st_turns", work, turns ? Store(storeTurns) : Store());
}
