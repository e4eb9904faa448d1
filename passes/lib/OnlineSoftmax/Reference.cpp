// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reference.h"

using namespace mlir;
using namespace attn;

std::pair<Value, Value> Reference::moveMaximum(Value x, Value previous,
                                               Value floor) {
  RankedTensorType rowType = b.rowType;
  Value scale = b.splatScale(rowType);
  Value tau = threshold > 0 ? b.constant(threshold, rowType) : Value();
  Value top = b.make<tile::ReduceOp>(rowType, tile::ReduceKind::Max, x, 1,
                                     /*partial=*/false);
  Value current = b.make<arith::MulFOp>(top, scale);
  if (floor) {
    current = b.make<arith::MaxNumFOp>(current, floor);
  }
  Value limit = tau ? b.make<arith::AddFOp>(previous, tau) : previous;
  Value grew = b.isGreater(current, limit);
  // The larger of both, and not their product's factors: contracted into one
  // rounding, the difference would not be that of the maxima that P uses. The
  // old maximum is last read by `next`, which can then take its register.
  Value larger = b.make<arith::MaxNumFOp>(current, previous);
  Value growth = b.make<arith::SubFOp>(previous, larger);
  Value difference =
      b.make<arith::SelectOp>(grew, growth, b.constant(0.0, rowType));
  Value next = b.make<arith::SelectOp>(grew, larger, previous);
  return {next, b.make<math::Exp2Op>(difference)};
}

Value Reference::scaleBy(Value alpha, Value o) {
  return b.make<arith::MulFOp>(o, b.along(alpha, b.outType));
}

Value Reference::scaleIf(Value any, Value o, Value alpha) {
  auto branch = scf::IfOp::create(b, b.loc, TypeRange(b.outType), any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, b.loc, scaleBy(alpha, o));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, b.loc, o);
  return branch.getResult(0);
}
