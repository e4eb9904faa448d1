// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With z = floor((2^32 - 1) / d), q = floor(n z / 2^32) is floor(n / d) or one
// less for all n below 2^32: 2^32 - z d is in 1..d, so n / d - n z / 2^32 is in
// 0..n / 2^32, which is below 1.
#include "Divisor.h"

using namespace mlir;
using namespace attn::codegen;

Divisor Divisor::prepare(OpBuilder &builder, Location loc, Value value) {
  Divisor divisor(value);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value all = arith::ConstantIntOp::create(builder, loc, -1, 32);
  Value some = arith::MaxUIOp::create(builder, loc, value, one);
  divisor.reciprocal = arith::DivUIOp::create(builder, loc, all, some);
  return divisor;
}

Divisor Divisor::select(OpBuilder &builder, Location loc, Value condition,
                        Divisor a, Divisor b) {
  Divisor chosen(
      arith::SelectOp::create(builder, loc, condition, a.value, b.value));
  if (a.reciprocal) {
    chosen.reciprocal = arith::SelectOp::create(builder, loc, condition,
                                                a.reciprocal, b.reciprocal);
  }
  return chosen;
}

std::pair<Value, Value> Divisor::divide(OpBuilder &builder, Location loc,
                                        Value n) const {
  if (!reciprocal) {
    Value rest = arith::RemUIOp::create(builder, loc, n, value);
    return {arith::DivUIOp::create(builder, loc, n, value), rest};
  }
  Value low =
      arith::MulUIExtendedOp::create(builder, loc, n, reciprocal).getHigh();
  Value rest = arith::SubIOp::create(
      builder, loc, n, arith::MulIOp::create(builder, loc, low, value));
  Value isLow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                      rest, value);
  Value one = arith::ExtUIOp::create(builder, loc, low.getType(), isLow);
  Value less = arith::SubIOp::create(builder, loc, rest, value);
  return {arith::AddIOp::create(builder, loc, low, one),
          arith::SelectOp::create(builder, loc, isLow, less, rest)};
}
