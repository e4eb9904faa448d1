// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchCondition.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace attn;

LaunchCondition::LaunchCondition(Attribute check, NumberOf numberOf)
    : check(check) {
  std::optional<LaunchCheck> parts = LaunchCheck::from(check);
  if (!parts || !read(parts->expr, numberOf)) {
    words.clear();
    return;
  }
  equals = parts->equals;
  literals.push_back(equals);
}

bool LaunchCondition::readApply(launch::ApplyAttr apply, NumberOf numberOf) {
  const LaunchOperator &op = launchOperator(apply.getOp());
  size_t count = apply.getOperands().size();
  for (auto [index, operand] : llvm::enumerate(apply.getOperands())) {
    if (!read(operand, numberOf)) {
      return false;
    }
    if (op.compute ? index >= 1 : index == count - 1) {
      words.push_back({Word::Operator, 0, &op});
    }
  }
  return true;
}

bool LaunchCondition::read(Attribute expr, NumberOf numberOf) {
  if (auto apply = dyn_cast<launch::ApplyAttr>(expr)) {
    return readApply(apply, numberOf);
  }
  if (auto name = dyn_cast<StringAttr>(expr)) {
    std::optional<unsigned> number = numberOf(name.getValue());
    if (number) {
      words.push_back({Word::Name, *number});
      names.push_back(*number);
    }
    return number.has_value();
  }
  auto literal = dyn_cast<IntegerAttr>(expr);
  if (!literal || !literal.getType().isSignlessInteger(64)) {
    return false;
  }
  words.push_back({Word::Literal, literal.getInt()});
  literals.push_back(literal.getInt());
  return true;
}

bool LaunchCondition::holds(ArrayRef<int64_t> values) const {
  SmallVector<int64_t> stack;
  for (const Word &word : words) {
    if (word.kind != Word::Operator) {
      stack.push_back(word.kind == Word::Name ? values[word.number]
                                              : word.number);
      continue;
    }
    int64_t last = stack.pop_back_val();
    if (!word.op->compute) {
      int64_t other = stack.pop_back_val();
      stack.back() = stack.back() ? other : last;
      continue;
    }
    std::optional<int64_t> result = word.op->compute(stack.back(), last);
    if (!result) {
      return false;
    }
    stack.back() = *result;
  }
  return !stack.empty() && stack.back() == equals;
}
