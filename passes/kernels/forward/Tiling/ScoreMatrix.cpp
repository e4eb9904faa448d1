// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreMatrix.h"

using namespace mlir;
using namespace attn;

Place ScoreMatrix::place(Value work) {
  auto op = tile::WorkCoordsOp::create(b, b.loc, work);
  return {op.getBlock(), op.getHead(), op.getBatch(), {}, {}};
}

Value ScoreMatrix::start(Side side, const Place &at) {
  Value block = side == owned ? at.block
                              : ranges.toBlock(b, iteration,
                                               {at.block, at.batch, at.head});
  return b.mul(block, axis(side).tileSize);
}

Value ScoreMatrix::coords(Side side, Place &at) {
  Value &known = side == Side::Query ? at.queries : at.keys;
  if (!known) {
    known = b.make<tile::CoordsOp>(scoreType(b.getI32Type()), start(side, at),
                                   side == owned ? 0 : 1);
    if (side == Side::Query) {
      known = ranges.toQuery(b, known);
    }
  }
  return known;
}

Value ScoreMatrix::firstRowToWrite(Value work, const Place &at) {
  Value first = start(owned, at);
  if (!ranges.parts) {
    return first;
  }
  auto part = tile::PartOfOp::create(b, b.loc, work);
  Value last = b.sub(ranges.parts, b.i32(1));
  Value isBeforeLast =
      b.make<arith::CmpIOp>(arith::CmpIPredicate::ne, part.getPart(), last);
  Value leaves = b.make<arith::AndIOp>(part.getIsPart(), isBeforeLast);
  Value past = ranges.packed == 1
                   ? axis(owned).length
                   : b.mul(axis(owned).length, b.i32(ranges.packed));
  return b.make<arith::SelectOp>(leaves, past, first);
}
