// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopValues.h"

using namespace mlir;
using namespace attn;

bool LoopValues::noteRead(Value value, int64_t readerShift) {
  auto [source, age] = loop.getSource(value, readerShift);
  if (!source) {
    return false;
  }
  int64_t &known = oldest[source];
  known = std::max(known, age);
  return true;
}

void LoopValues::setInitial(int64_t time) {
  Operation *yield = loop.getBody().front().getTerminator();
  for (auto [value, init] : llvm::zip(yield->getOperands(), loop.getInits())) {
    auto result = cast<OpResult>(value);
    auto entry = cast<ws::EntryOp>(result.getOwner());
    if (int64_t(entry.getShift()) - 1 == time) {
      set(result, 0, init);
    }
  }
}

void LoopValues::advance() {
  for (auto &[value, ages] : versions) {
    ages.insert(ages.begin(), Value());
  }
}

Value LoopValues::lookup(Value value, int64_t readerShift) {
  auto [source, age] = loop.getSource(value, readerShift);
  return source ? get(source, age) : value;
}

Value LoopValues::get(OpResult value, int64_t age) {
  auto found = versions.find(value);
  return found != versions.end() && age < int64_t(found->second.size())
             ? found->second[age]
             : Value();
}

void LoopValues::set(OpResult value, int64_t age, Value version) {
  auto &ages = versions[value];
  if (int64_t(ages.size()) <= age) {
    ages.resize(age + 1);
  }
  ages[age] = version;
}

void LoopValues::replace(Value version, Value by) {
  for (auto &[value, ages] : versions) {
    llvm::replace(ages, version, by);
  }
}

void LoopValues::clear() {
  for (auto &[value, ages] : versions) {
    ages.assign(1, Value());
  }
}

SmallVector<std::pair<OpResult, int64_t>> LoopValues::carried() const {
  SmallVector<std::pair<OpResult, int64_t>> carried;
  for (auto [value, last] : oldest) {
    for (int64_t age = 0; age < last; ++age) {
      carried.push_back({value, age});
    }
  }
  return carried;
}
