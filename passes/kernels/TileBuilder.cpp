// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileBuilder.h"

using namespace mlir;
using namespace attn;

void TileBuilder::fill(Block &block, TypeRange types, Body body) {
  InsertionGuard guard(*this);
  block.addArguments(types, SmallVector<Location>(types.size(), loc));
  setInsertionPointToEnd(&block);
  Values results = body(block.getArguments());
  tile::YieldOp::create(*this, loc, results);
}

TileBuilder::Values TileBuilder::step(StringRef name, ValueRange operands,
                                      TypeRange results, Body body,
                                      bool masked) {
  auto op = tile::StepOp::create(*this, loc, results, name, operands, masked);
  fill(op.getBody().emplaceBlock(), operands.getTypes(), body);
  return llvm::to_vector_of<Value>(op.getResults());
}

Value TileBuilder::beginWork(Value blocks, Value heads, Value batches,
                             Value section, Value whole, Value parts) {
  auto region = tile::WorkOp::create(*this, loc);
  setInsertionPointToStart(&region.getBody().emplaceBlock());
  Type item = tile::WorkType::get(getContext());
  return step("next", {}, item, [&](ValueRange) -> Values {
    return {make<tile::NextWorkOp>(item, blocks, heads, batches, section, whole,
                                   parts)};
  })[0];
}

Value TileBuilder::sizeOf(Value tensor, unsigned dim) {
  Value index = make<tensor::DimOp>(tensor, make<arith::ConstantIndexOp>(dim));
  return make<arith::IndexCastOp>(getI32Type(), index);
}

Value TileBuilder::like(Value scalar, Value other) {
  auto tile = dyn_cast<RankedTensorType>(other.getType());
  return tile ? make<tensor::SplatOp>(scalar, tile) : scalar;
}
