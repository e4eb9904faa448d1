// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes built-in masks, of those that are aligned at the top left: a mask
// region does not know the lengths.
#include "BuiltInMatch.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

/// Returns the d of a bound i + d.
static std::optional<int64_t> shiftOf(const KeyExpression &expression,
                                      const RegionFacts &facts) {
  bool isShifted =
      expression.kind == KeyExpression::Bound &&
      expression.sum.terms.size() == 1 &&
      expression.sum.terms.front() == LinearSum::Term(facts.getQuery(), 1);
  return isShifted ? std::optional(expression.sum.constant) : std::nullopt;
}

/// Returns the c of a bound (i / c) * c.
static std::optional<int64_t> chunkOf(const KeyExpression &expression,
                                      const RegionFacts &facts) {
  if (expression.kind != KeyExpression::Bound || expression.sum.constant != 0 ||
      expression.sum.terms.size() != 1) {
    return std::nullopt;
  }
  auto [value, factor] = expression.sum.terms.front();
  Operation *op = value.getDefiningOp();
  bool isQuotient = isa_and_nonnull<arith::DivSIOp, arith::DivUIOp,
                                    arith::ShRSIOp, arith::ShRUIOp>(op) &&
                    op->getOperand(0) == facts.getQuery() && facts.isExact(op);
  if (!isQuotient) {
    return std::nullopt;
  }
  int64_t by = *constantOf(op->getOperand(1));
  int64_t divisor =
      isa<arith::ShRSIOp, arith::ShRUIOp>(op) ? int64_t(1) << by : by;
  return divisor == factor ? std::optional(factor) : std::nullopt;
}

/// Drops the end of the query's chunk from `end` if its other part is i + 1,
/// the causal bound, which never exceeds the end of the chunk.
static KeyExpression dropChunkEnd(const KeyExpression &end,
                                  const KeyExpression &first,
                                  const RegionFacts &facts) {
  std::optional<int64_t> chunk = chunkOf(first, facts);
  if (!chunk || end.kind != KeyExpression::Least || end.parts.size() != 2) {
    return end;
  }
  KeyExpression chunkEnd = first;
  chunkEnd.sum.constant = *chunk;
  bool isFirst = end.parts[0] == chunkEnd;
  const KeyExpression &other = end.parts[isFirst ? 1 : 0];
  bool isOther = isFirst || end.parts[1] == chunkEnd;
  return isOther && shiftOf(other, facts) == 1 ? other : end;
}

std::optional<BuiltInMatch> attn::matchBuiltInMask(const KeyInterval &interval,
                                                   const RegionFacts &facts) {
  if (!interval.isExact || interval.hasPrefix()) {
    return std::nullopt;
  }
  BuiltInMatch match{MaskKind::None};
  auto give = [&](MaskBounds kind, int64_t value) {
    match.bounds = match.bounds | kind;
    match.values.push_back(value);
    return value >= 0 && value <= INT32_MAX;
  };
  if (interval.isAll()) {
    return match;
  }
  bool isOpen = interval.end.is(kItemLimit), hasFirst = !interval.first.is(0);
  std::optional<int64_t> end =
      shiftOf(dropChunkEnd(interval.end, interval.first, facts), facts);
  bool isCausal = end == 1;
  if (!isOpen && !end) {
    return std::nullopt;
  }
  if (std::optional<int64_t> chunk = chunkOf(interval.first, facts)) {
    match.mask = MaskKind::ChunkedTopLeft;
    return isCausal && give(MaskBounds::Chunk, *chunk) ? std::optional(match)
                                                       : std::nullopt;
  }
  match.mask = isCausal ? MaskKind::CausalTopLeft : MaskKind::WindowTopLeft;
  if (hasFirst) {
    std::optional<int64_t> first = shiftOf(interval.first, facts);
    if (!first || !give(MaskBounds::WindowLeft, -*first)) {
      return std::nullopt;
    }
  }
  bool isGood = isOpen || isCausal || give(MaskBounds::WindowRight, *end - 1);
  return isGood ? std::optional(match) : std::nullopt;
}
