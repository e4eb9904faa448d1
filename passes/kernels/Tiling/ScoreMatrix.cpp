// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreMatrix.h"
#include "../ScoreLifter.h"

using namespace mlir;
using namespace attn;

Place ScoreMatrix::place(Value work) {
  auto op = tile::WorkCoordsOp::create(b, b.loc, work);
  return {op.getBlock(), op.getHead(), op.getBatch(), {}, {}};
}

Value ScoreMatrix::start(Side side, const Place &at) {
  Value block = at.block;
  if (side != owned) {
    block = repeats
                ? b.make<arith::DivUIOp>(iteration, repeats)
                : ranges.toBlock(b, iteration, {at.block, at.batch, at.head});
    block = outerRepeats ? b.make<arith::DivUIOp>(block, outerRepeats) : block;
  }
  return b.mul(block, axis(side).tileSize);
}

SmallVector<Value> ScoreMatrix::members() {
  SmallVector<Value> members;
  Value rest = iteration;
  for (Value count : {repeats, outerRepeats}) {
    if (count) {
      members.push_back(b.make<arith::RemUIOp>(rest, count));
      rest = b.make<arith::DivUIOp>(rest, count);
    }
  }
  return members;
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

SmallVector<Value> ScoreMatrix::liftRegion(Region &region, ValueRange leading,
                                           ValueRange captures, Place &at) {
  ValueRange formal = region.getArguments();
  size_t n = leading.size();
  SmallVector<Value> actual(leading);
  actual.push_back(at.batch);
  actual.push_back(at.head);
  // Coordinates are computed only if the region reads them.
  actual.push_back(formal[n + 2].use_empty() ? Value()
                                             : coords(Side::Query, at));
  actual.push_back(formal[n + 3].use_empty() ? Value() : coords(Side::Key, at));
  llvm::append_range(actual, captures);
  return ScoreLifter(b, scoreType(b.getF32Type()).getShape())
      .lift(region, actual);
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
  Value past = ranges.rowsOfPosition == 1
                   ? axis(owned).length
                   : b.mul(axis(owned).length, b.i32(ranges.rowsOfPosition));
  return b.make<arith::SelectOp>(leaves, past, first);
}
