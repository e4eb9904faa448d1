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

Value TileBuilder::like(Value scalar, Value other) {
  auto tile = dyn_cast<RankedTensorType>(other.getType());
  return tile ? make<tensor::SplatOp>(scalar, tile) : scalar;
}
