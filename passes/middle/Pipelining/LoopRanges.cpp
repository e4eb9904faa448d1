// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopRanges.h"

using namespace mlir;
using namespace attn;

bool LoopRanges::anyMasked(size_t from) {
  for (size_t range = from; range < end(); ++range) {
    if (isMasked(range)) {
      return true;
    }
  }
  return false;
}

Value LoopRanges::countBlocks(Value from, Value to) {
  if (loop.getRanges().isDown()) {
    std::swap(from, to);
  }
  return arith::SubIOp::create(builder, loop.getLoc(), to, from);
}

Value LoopRanges::blockNumber(int64_t shift, Value time) {
  Location loc = loop.getLoc();
  if (!loop.getRanges().isDown()) { // top - shift + time
    Value start =
        arith::SubIOp::create(builder, loc, firstBlock(), constant(shift));
    return arith::AddIOp::create(builder, loc, start, time);
  }
  // top - 1 - (time - shift)
  Value start =
      arith::AddIOp::create(builder, loc, firstBlock(), constant(shift - 1));
  return arith::SubIOp::create(builder, loc, start, time);
}

Value LoopRanges::beginsBefore(Value bound) {
  auto before = loop.getRanges().isDown() ? arith::CmpIPredicate::sgt
                                          : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(builder, loop.getLoc(), before, firstBlock(),
                               bound);
}

Value LoopRanges::isBetween(Value time, Value from, Value to) {
  Location loc = loop.getLoc();
  Value before, after;
  if (to) {
    before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                   time, to);
  }
  if (from) {
    after = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, time,
                                  from);
  }
  return before && after
             ? arith::AndIOp::create(builder, loc, before, after).getResult()
             : (before ? before : after);
}
