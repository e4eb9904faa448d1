// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reference.h"

using namespace mlir;
using namespace attn;

Value Reference::rowMaximum(Value x, tile::ReduceKind kind) {
  return b.make<tile::ReduceOp>(b.rowType, kind, x, 1, /*partial=*/false);
}

std::pair<Value, Value> Reference::moveMaximum(Value top, Value previous,
                                               Value floor) {
  RankedTensorType rowType = b.rowType;
  Value scale = b.splatScale(rowType);
  Value tau = threshold > 0 ? b.constant(threshold, rowType) : Value();
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

Value Reference::addSum(Value p, Value l, Value alpha) {
  return b.step("sum", {p, l, alpha}, b.rowType, [&](ValueRange a) -> Values {
    Value sum =
        b.make<tile::ReduceOp>(b.rowType, tile::ReduceKind::Add, a[0], 1,
                               /*partial=*/true);
    return {b.make<math::FmaOp>(a[1], a[2], sum)};
  })[0];
}

Value Reference::rescaleWhereChanged(Value o, Value alpha) {
  return b.step("rescale", {o, alpha}, b.outType, [&](ValueRange a) -> Values {
    if (threshold == 0) {
      return {scaleBy(a[1], a[0])};
    }
    Value one = b.constant(1.0, b.rowType);
    Value changed = b.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, a[1], one);
    return {scaleIf(b.make<tile::AnyOp>(changed), a[0], a[1])};
  })[0];
}

Value Reference::isNotFinite(Value o) {
  Value infinity =
      b.constant(std::numeric_limits<float>::infinity(), b.rowType);
  Value sum = b.make<tile::ReduceOp>(b.rowType, tile::ReduceKind::Add, o, 1,
                                     /*partial=*/true);
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::UGE,
                               b.make<math::AbsFOp>(sum), infinity);
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
