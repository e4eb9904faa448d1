// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dropout.h"

using namespace mlir;
using namespace attn;

/// Random numbers have 16 bits.
constexpr int64_t numbers = 1 << 16;

void Dropout::addArguments(ArgumentList &list, Value givenRate,
                           Value givenState) {
  if (!givenRate) {
    return;
  }
  list.addRate(rate, givenRate);
  list.add(state, names::dropoutState, ArgumentRole::DropoutState, givenState);
}

void Dropout::writeNumbers(TileBuilder &b) {
  if (!rate) {
    return;
  }
  auto f32 = [&](double value) {
    return b.make<arith::ConstantOp>(b.getF32FloatAttr(float(value)));
  };
  Value all = f32(numbers);
  Value nearest =
      b.make<arith::AddFOp>(b.make<arith::MulFOp>(rate, all), f32(0.5));
  Value dropped = b.make<arith::FPToSIOp>(b.getI32Type(), nearest);
  drop = b.min(dropped, b.i32(numbers - 1));
  // If all pairs are dropped, it does not matter which: the factor is 0.
  Value kept =
      b.make<arith::SIToFPOp>(b.getF32Type(), b.sub(b.i32(numbers), dropped));
  Value some = b.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, kept, f32(0.0));
  factor =
      b.make<arith::SelectOp>(some, b.make<arith::DivFOp>(all, kept), f32(0.0));
}

Value Dropout::writeKept(TileBuilder &b, ScoreMatrix &matrix, Place at) const {
  auto read = [&](int64_t index) {
    return b.make<tile::GatherOp>(b.getI64Type(), state, b.i32(index));
  };
  Value seed = read(0), offset = read(1);
  auto key =
      tile::DropoutKeyOp::create(b, b.loc, seed, offset, at.batch, at.head);
  Value queries = matrix.coords(Side::Query, at),
        keys = matrix.coords(Side::Key, at);
  return b.make<tile::KeepOp>(matrix.scoreType(b.getI1Type()), queries, keys,
                              key.getWord0(), key.getWord1(), key.getWord2(),
                              drop, matrix.streamed() == Side::Query);
}

Value Dropout::spreadFactor(TileBuilder &b, RankedTensorType type) const {
  return b.make<tensor::SplatOp>(factor, type);
}

Value Dropout::scaleUp(TileBuilder &b, Value values) const {
  auto type = cast<RankedTensorType>(values.getType());
  return b.make<arith::MulFOp>(values, spreadFactor(b, type));
}
