// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SoftmaxBuilder.h"

using namespace mlir;
using namespace attn;

SmallVector<Value> SoftmaxBuilder::step(StringRef name, ValueRange operands,
                                        TypeRange results, Body body) {
  auto op = tile::StepOp::create(*this, loc, results, name, operands);
  InsertionGuard guard(*this);
  Block &block = op.getBody().emplaceBlock();
  block.addArguments(operands.getTypes(),
                     SmallVector<Location>(operands.size(), loc));
  setInsertionPointToStart(&block);
  tile::YieldOp::create(*this, loc, body(block.getArguments()));
  return llvm::to_vector_of<Value>(op.getResults());
}

Value SoftmaxBuilder::constant(double value, RankedTensorType type) {
  auto attr = DenseElementsAttr::get(type, static_cast<float>(value));
  return make<arith::ConstantOp>(attr);
}
