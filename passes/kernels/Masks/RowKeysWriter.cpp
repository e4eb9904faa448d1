// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowKeysWriter.h"
#include "attn/dialect/LaunchChecks.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

namespace {

class RowKeysWriter {
public:
  RowKeysWriter(Region &rowKeys, Region &mask, const RegionFacts &facts,
                const SumMaker &sums)
      : rowKeys(rowKeys), mask(mask), facts(facts), sums(sums),
        b(mask.getLoc(), mask.getContext()) {}

  void write(const KeyInterval &interval);

private:
  Value copy(Value value);
  Value number(Type type, int64_t value);
  Value least(Value a, Value b) {
    return arith::MinSIOp::create(this->b, a, b);
  }
  Value most(Value a, Value b) { return arith::MaxSIOp::create(this->b, a, b); }
  Value writeSum(const LinearSum &sum);
  Value writeTerm(Value value, int64_t factor, Type type);
  Value writePosition(const LinearSum &sum);
  Value writeGuard(const MaskFormula &guard);
  bool mayBeBeyond(const KeyExpression &expression);
  Value write(const KeyExpression &expression);

  Region &rowKeys, &mask;
  const RegionFacts &facts;
  const SumMaker &sums;
  ImplicitLocOpBuilder b;
  IRMapping copies;
};

} // namespace

/// Returns the copy of a value of the mask region, which uses no key.
Value RowKeysWriter::copy(Value value) {
  if (Value known = copies.lookupOrNull(value)) {
    return known;
  }
  Operation *made = value.getDefiningOp();
  for (Value operand : made->getOperands()) {
    copy(operand);
  }
  b.clone(*made, copies);
  return copies.lookup(value);
}

Value RowKeysWriter::number(Type type, int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

static Interval limits32() { return {INT32_MIN, INT32_MAX}; }

/// Writes factor * value as an i32 or i64; a far value is replaced by the
/// nearest number that is not far.
Value RowKeysWriter::writeTerm(Value value, int64_t factor, Type type) {
  bool isMoved = isFar(facts.rangeOf(value));
  value = copy(value);
  if (value.getType().isIndex()) {
    value = arith::IndexCastOp::create(b, b.getI32Type(), value);
  }
  unsigned from = value.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (isMoved) {
    value = most(least(value, number(type, kFar)), number(type, -kFar));
  } else if (from == 1) {
    value = arith::ExtUIOp::create(b, type, value); // 0 or 1
  } else if (from < to) {
    value = arith::ExtSIOp::create(b, type, value);
  } else if (from > to) {
    value = arith::TruncIOp::create(b, type, value);
  }
  return factor == 1 ? value
                     : arith::MulIOp::create(b, value, number(type, factor))
                           .getResult();
}

/// Writes the sum: as an i32 if all its parts are i32s, otherwise as an i64.
Value RowKeysWriter::writeSum(const LinearSum &sum) {
  Interval total{0, 0};
  bool isNarrow = true;
  auto count = [&](Interval part) {
    total = add(total, part).value_or(Interval{INT64_MIN, INT64_MAX});
    isNarrow &= limits32().contains(part) && limits32().contains(total);
  };
  for (auto [value, factor] : sum.terms) {
    Interval own = facts.rangeOf(value);
    isNarrow &=
        limits32().contains(own) && limits32().contains({factor, factor});
    count(multiply(own, factor).value_or(Interval{INT64_MIN, INT64_MAX}));
  }
  count({sum.constant, sum.constant});
  Type type = isNarrow ? b.getI32Type() : b.getI64Type();
  Value result;
  for (auto [value, factor] : sum.terms) {
    bool isTaken = result && factor == -1;
    Value term = writeTerm(value, isTaken ? 1 : factor, type);
    result = !result   ? term
             : isTaken ? arith::SubIOp::create(b, result, term).getResult()
                       : arith::AddIOp::create(b, result, term).getResult();
  }
  if (!result) {
    return number(type, sum.constant);
  }
  return sum.constant == 0
             ? result
             : arith::AddIOp::create(b, result, number(type, sum.constant))
                   .getResult();
}

/// Writes the sum as an i32 that is not negative: a number beyond all positions
/// is replaced by the nearest one that is not.
Value RowKeysWriter::writePosition(const LinearSum &sum) {
  if (sum.isConstant()) {
    return number(b.getI32Type(),
                  std::clamp<int64_t>(sum.constant, 0, kItemLimit));
  }
  Value value = writeSum(sum);
  Type type = value.getType();
  if (sums.rangeOf(sum)->low < 0) {
    value = most(value, number(type, 0));
  }
  if (type.isInteger(32)) {
    return value;
  }
  value = least(value, number(type, kItemLimit));
  return arith::TruncIOp::create(b, b.getI32Type(), value);
}

Value RowKeysWriter::writeGuard(const MaskFormula &guard) {
  if (guard.kind == MaskFormula::Guard) {
    Value sum = writeSum(guard.sum);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, sum,
                                 number(sum.getType(), 0));
  }
  Value truth = copy(guard.choice);
  return guard.isNegated
             ? arith::XOrIOp::create(b, truth, number(b.getI1Type(), 1))
                   .getResult()
             : truth;
}

/// Whether the number that is written may be beyond kItemLimit.
bool RowKeysWriter::mayBeBeyond(const KeyExpression &expression) {
  auto isBeyond = [&](const KeyExpression &part) { return mayBeBeyond(part); };
  switch (expression.kind) {
  case KeyExpression::Number:
    return false;
  case KeyExpression::Bound:
    return sums.rangeOf(expression.sum)->high > kItemLimit;
  case KeyExpression::Least:
    return llvm::all_of(expression.parts, isBeyond);
  case KeyExpression::Most:
  case KeyExpression::Where:
    return llvm::any_of(expression.parts, isBeyond);
  }
  llvm_unreachable("unknown kind of expression");
}

Value RowKeysWriter::write(const KeyExpression &expression) {
  switch (expression.kind) {
  case KeyExpression::Number:
    return number(b.getI32Type(), expression.sum.constant);
  case KeyExpression::Bound:
    return writePosition(expression.sum);
  case KeyExpression::Where: {
    Value inside = write(expression.parts.front());
    if (expression.sum.constant == kItemLimit &&
        mayBeBeyond(expression.parts.front())) {
      inside = least(inside, number(b.getI32Type(), kItemLimit));
    }
    Value guard = writeGuard(expression.guard.front());
    return arith::SelectOp::create(
        b, guard, inside, number(b.getI32Type(), expression.sum.constant));
  }
  case KeyExpression::Least:
  case KeyExpression::Most:
    break;
  }
  Value result;
  for (const KeyExpression &part : expression.parts) {
    Value value = write(part);
    result = !result                                   ? value
             : expression.kind == KeyExpression::Least ? least(result, value)
                                                       : most(result, value);
  }
  return result;
}

void RowKeysWriter::write(const KeyInterval &interval) {
  constexpr unsigned keyArgument = 3;
  Block &block = rowKeys.emplaceBlock();
  for (BlockArgument argument : mask.getArguments()) {
    if (argument.getArgNumber() != keyArgument) {
      copies.map(argument,
                 block.addArgument(argument.getType(), argument.getLoc()));
    }
  }
  b.setInsertionPointToStart(&block);
  SmallVector<Value> keys{write(interval.first), write(interval.end)};
  if (interval.hasPrefix()) {
    keys.push_back(write(interval.prefix));
  }
  YieldOp::create(b, keys);
}

void attn::writeRowKeys(Region &rowKeys, Region &mask,
                        const KeyInterval &interval, const RegionFacts &facts,
                        const SumMaker &sums) {
  RowKeysWriter(rowKeys, mask, facts, sums).write(interval);
}
