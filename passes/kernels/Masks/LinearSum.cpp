// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LinearSum.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static bool isSmall(int64_t number) {
  constexpr int64_t limit = int64_t(1) << 40;
  return -limit < number && number < limit;
}

bool SumMaker::addConstant(LinearSum &sum, int64_t number, int64_t factor) {
  int64_t product;
  return !llvm::MulOverflow(number, factor, product) &&
         !llvm::AddOverflow(sum.constant, product, sum.constant) &&
         isSmall(sum.constant);
}

/// Block arguments first, then ops as they stand in the region.
static bool isBefore(Value a, Value b) {
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (x || y) {
    return x && (!y || x.getArgNumber() < y.getArgNumber());
  }
  return a != b && a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
}

bool SumMaker::addTerm(LinearSum &sum, Value value, int64_t factor) {
  auto *place = llvm::find_if(sum.terms, [&](const LinearSum::Term &term) {
    return !isBefore(term.first, value);
  });
  if (place == sum.terms.end() || place->first != value) {
    if (factor != 0) {
      sum.terms.insert(place, {value, factor});
    }
    return isSmall(factor);
  }
  place->second += factor;
  bool isGood = isSmall(place->second);
  if (place->second == 0) {
    sum.terms.erase(place);
  }
  return isGood;
}

/// Adds factor * value. If the value is an exact sum, difference, product by a
/// constant or cast, adds the terms of its operands instead.
bool SumMaker::add(LinearSum &sum, Value value, int64_t factor,
                   unsigned &steps) const {
  if (!isSmall(factor) || steps == 0) {
    return false;
  }
  --steps;
  if (std::optional<int64_t> constant = constantOf(value)) {
    return addConstant(sum, *constant, factor);
  }
  Operation *op = value.getDefiningOp();
  if (!op || !facts.isExact(op)) {
    return addTerm(sum, value, factor);
  }
  auto operand = [&](unsigned n) { return op->getOperand(n); };
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    return add(sum, operand(0), factor, steps) &&
           add(sum, operand(1), isa<arith::SubIOp>(op) ? -factor : factor,
               steps);
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          op)) {
    return add(sum, operand(0), factor, steps);
  }
  int64_t product;
  if (auto multiply = dyn_cast<arith::MulIOp>(op)) {
    for (unsigned n : {0, 1}) {
      if (auto constant = constantOf(operand(n))) {
        return !llvm::MulOverflow(factor, *constant, product) &&
               add(sum, operand(1 - n), product, steps);
      }
    }
  }
  if (isa<arith::ShLIOp>(op)) {
    return !llvm::MulOverflow(factor, int64_t(1) << *constantOf(operand(1)),
                              product) &&
           add(sum, operand(0), product, steps);
  }
  return addTerm(sum, value, factor);
}

std::optional<LinearSum> SumMaker::of(Value value) const {
  LinearSum sum;
  unsigned steps = 64;
  return add(sum, value, 1, steps) ? std::optional(sum) : std::nullopt;
}

std::optional<LinearSum> SumMaker::combine(const LinearSum &a, int64_t factor,
                                           const LinearSum &b,
                                           int64_t constant) const {
  LinearSum sum = a;
  bool isGood = isSmall(factor) && addConstant(sum, constant, 1) &&
                addConstant(sum, b.constant, factor);
  for (auto [value, own] : b.terms) {
    int64_t product;
    isGood = isGood && !llvm::MulOverflow(own, factor, product) &&
             addTerm(sum, value, product);
  }
  return isGood ? std::optional(sum) : std::nullopt;
}

std::optional<Interval> SumMaker::rangeOf(const LinearSum &sum) const {
  constexpr Interval near{-kFar / 2, kFar / 2};
  Interval rest{sum.constant, sum.constant}, far{0, 0};
  bool hasFar = false;
  for (auto [value, factor] : sum.terms) {
    Interval own = facts.rangeOf(value);
    if (isFar(own)) {
      if (hasFar || (factor != 1 && factor != -1)) {
        return std::nullopt;
      }
      hasFar = true;
      far = {-kFar, kFar};
      continue;
    }
    std::optional<Interval> term = multiply(own, factor);
    auto total = term ? attn::add(rest, *term) : std::nullopt;
    if (!total || !near.contains(*total)) {
      return std::nullopt;
    }
    rest = *total;
  }
  return attn::add(rest, far);
}

Direction SumMaker::directionOf(const LinearSum &sum) const {
  Direction direction = Direction::Uniform;
  for (auto [value, factor] : sum.terms) {
    Direction own = facts.directionOf(value);
    direction = joined(direction, factor < 0 ? reversed(own) : own);
  }
  return direction;
}
