// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchCondition.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace attn;

LaunchCondition::LaunchCondition(Attribute check, NumberOf numberOf)
    : check(check) {
  auto list = dyn_cast<ArrayAttr>(check);
  auto value =
      list && list.size() == 3 ? dyn_cast<IntegerAttr>(list[1]) : IntegerAttr();
  if (!value || !value.getType().isSignlessInteger(64) ||
      !read(list[0], numberOf)) {
    words.clear();
    return;
  }
  equals = value.getInt();
  literals.push_back(equals);
}

bool LaunchCondition::readList(ArrayAttr list, NumberOf numberOf) {
  const LaunchOperator *op = launchOperatorOf(list);
  size_t operands = op ? list.size() - 1 : 0;
  if (!op || operands < op->operands ||
      (operands > op->operands && !op->isVariadic)) {
    return false;
  }
  for (size_t i = 1; i <= operands; ++i) {
    if (!read(list[i], numberOf)) {
      return false;
    }
    if (op->compute ? i >= 2 : i == operands) {
      words.push_back({Word::Operator, 0, op});
    }
  }
  return true;
}

bool LaunchCondition::read(Attribute expr, NumberOf numberOf) {
  if (auto list = dyn_cast<ArrayAttr>(expr)) {
    return readList(list, numberOf);
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
