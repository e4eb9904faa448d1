// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reference.h"

using namespace mlir;
using namespace attn;

Value Reference::rowMaximum(Value x, tile::ReduceKind kind) {
  return b.make<tile::ReduceOp>(b.rowType, kind, x, 1, /*partial=*/false);
}

Reference::Moved Reference::moveSmall(Value x, Value top, Value previous,
                                      Value floor) {
  RankedTensorType rowType = b.rowType;
  Value scale = b.splatScale(rowType);
  Value tau = threshold > 0 ? b.constant(threshold, rowType) : Value();
  Value current = b.make<arith::MulFOp>(top, scale);
  if (floor) {
    current = b.make<arith::MaxNumFOp>(current, floor);
  }
  current = large.fromLog2(current);
  Value limit = tau ? b.make<arith::AddFOp>(previous, tau) : previous;
  Value grew = b.isGreater(current, limit);
  // The maximum of both values, rather than of the factors of their products:
  // contracted into one rounding, the difference would not be that of the
  // maxima that P uses. The old maximum is read last by `next`, which can then
  // reuse its register.
  Value larger = b.make<arith::MaxNumFOp>(current, previous);
  Value growth = b.make<arith::SubFOp>(previous, larger);
  Value difference =
      b.make<arith::SelectOp>(grew, growth, b.constant(0.0, rowType));
  Value next = b.make<arith::SelectOp>(grew, larger, previous);
  Value no = b.make<arith::ConstantIntOp>(0, 1);
  return {next, b.make<math::Exp2Op>(difference), x, no};
}

/// Like moveSmall(), for references of both kinds.
Reference::Moved Reference::moveLarge(Value x, Value top, Value previous,
                                      Value floor) {
  RankedTensorType rowType = b.rowType;
  Value zero = b.constant(0.0, rowType);
  auto select = [&](Value flag, Value yes, Value no) {
    return b.make<arith::SelectOp>(flag, yes, no);
  };
  Value log2 = b.make<arith::MulFOp>(top, b.splatScale(rowType));
  if (floor) { // of an m
    Value none = b.constant(kNoReference, rowType);
    floor = select(large.isScore(previous), none, floor);
    log2 = b.make<arith::MaxNumFOp>(log2, floor);
  }
  Value isLarge = large.isLargeScore(top);
  Value candidate = select(isLarge, large.fromScore(top), large.fromLog2(log2));
  Value score = select(isLarge, top, zero);
  Value oldScore = large.scoreOf(previous);
  Value growth = large.difference(candidate, score, previous, oldScore);
  // A first reference may be below the number for no reference, so `growth`
  // does not show whether the row has keys. This sum does: it is far above the
  // threshold for any finite score, and minus infinity without keys.
  Value half = b.constant(0.5, rowType);
  Value first =
      b.make<math::FmaOp>(top, half, b.constant(-kNoReference, rowType));
  growth = select(large.isNone(previous), first, growth);
  Value grew = b.isGreater(growth, b.constant(threshold, rowType));
  Value shrink = b.make<arith::MinNumFOp>(b.make<arith::NegFOp>(growth), zero);
  Value alpha = b.make<math::Exp2Op>(select(grew, shrink, zero));
  Value shift = b.along(select(grew, score, oldScore), b.scoreType);
  Value next = select(grew, candidate, previous);
  return {next, alpha, b.make<arith::SubFOp>(x, shift),
          b.make<tile::AnyOp>(large.isScore(next))};
}

Reference::Moved Reference::move(Value x, Value top, Value previous,
                                 Value floor, Value anyScore) {
  Value any = b.make<arith::OrIOp>(
      anyScore, b.make<tile::AnyOp>(large.isLargeScore(top)));
  Type types[] = {b.rowType, b.rowType, b.scoreType, b.getI1Type()};
  auto branch =
      scf::IfOp::create(b, b.loc, types, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto yield = [&](const Moved &moved) {
    scf::YieldOp::create(
        b, b.loc, ValueRange{moved.m, moved.alpha, moved.x, moved.anyScore});
  };
  b.setInsertionPointToStart(branch.thenBlock());
  yield(moveLarge(x, top, previous, floor));
  b.setInsertionPointToStart(branch.elseBlock());
  yield(moveSmall(x, top, previous, floor));
  return {branch.getResult(0), branch.getResult(1), branch.getResult(2),
          branch.getResult(3)};
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
