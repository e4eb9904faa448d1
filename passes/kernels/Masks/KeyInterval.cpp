// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyInterval.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Expressions.
//===----------------------------------------------------------------------===//

/// Adds `part` to `parts`, unless another is always at least as strong.
static void addPart(KeyExpression::Kind kind, std::vector<KeyExpression> &parts,
                    const KeyExpression &part) {
  auto stronger = [&](int64_t a, int64_t b) {
    return kind == KeyExpression::Least ? std::min(a, b) : std::max(a, b);
  };
  for (KeyExpression &known : parts) {
    if (known == part) {
      return;
    }
    bool isShifted =
        known.kind == part.kind &&
        (part.kind == KeyExpression::Number ||
         (part.kind == KeyExpression::Bound && known.sum.isShifted(part.sum)));
    if (isShifted) {
      known.sum.constant = stronger(known.sum.constant, part.sum.constant);
      return;
    }
  }
  parts.push_back(part);
}

/// `neutral` is the number that changes nothing, `deciding` the number that
/// fixes the result.
static KeyExpression join(KeyExpression::Kind kind, int64_t neutral,
                          int64_t deciding,
                          const std::vector<KeyExpression> &parts) {
  KeyExpression joined{kind};
  for (const KeyExpression &part : parts) {
    if (part.is(deciding)) {
      return part;
    }
    if (part.kind == kind) {
      for (const KeyExpression &inner : part.parts) {
        addPart(kind, joined.parts, inner);
      }
    } else if (!part.is(neutral)) {
      addPart(kind, joined.parts, part);
    }
  }
  if (joined.parts.empty()) {
    return KeyExpression::number(neutral);
  }
  return joined.parts.size() == 1 ? KeyExpression(joined.parts.front())
                                  : joined;
}

KeyExpression attn::leastOf(const std::vector<KeyExpression> &parts) {
  return join(KeyExpression::Least, kItemLimit, 0, parts);
}

KeyExpression attn::mostOf(const std::vector<KeyExpression> &parts) {
  return join(KeyExpression::Most, 0, kItemLimit, parts);
}

static KeyExpression where(const MaskFormula &guard, KeyExpression inside,
                           int64_t otherwise) {
  if (inside.is(otherwise)) {
    return inside;
  }
  return {KeyExpression::Where, {{}, otherwise}, {std::move(inside)}, {guard}};
}

static Direction directionOf(const MaskFormula &guard, const SumMaker &sums) {
  return guard.kind == MaskFormula::Guard ? sums.directionOf(guard.sum)
                                          : sums.directionOf(guard.choice);
}

/// A row whose guard is false ends at 0 or begins beyond all keys.
bool KeyExpression::isOrdered(const SumMaker &sums) const {
  bool areParts = llvm::all_of(
      parts, [&](const KeyExpression &part) { return part.isOrdered(sums); });
  switch (kind) {
  case Number:
    return true;
  case Bound:
    return attn::isOrdered(sums.directionOf(sum));
  case Where: {
    Direction opens = directionOf(guard.front(), sums);
    return areParts &&
           (opens == Direction::Uniform ||
            opens == (sum.constant == 0 ? Direction::Up : Direction::Down));
  }
  case Least:
  case Most:
    return areParts;
  }
  llvm_unreachable("unknown kind of expression");
}

//===----------------------------------------------------------------------===//
// Intervals.
//===----------------------------------------------------------------------===//

KeyInterval KeyInterval::all() {
  return {KeyExpression::number(0), KeyExpression::number(kItemLimit),
          KeyExpression::number(0)};
}

bool KeyInterval::isAll() const { return first.is(0) && end.is(kItemLimit); }

/// Returns an interval without a prefix that contains both the interval and its
/// prefix.
static KeyInterval withoutPrefix(const KeyInterval &a) {
  return a.hasPrefix()
             ? KeyInterval{KeyExpression::number(0), mostOf({a.end, a.prefix}),
                           KeyExpression::number(0), false}
             : a;
}

/// A prefix and an interval from key 0 intersect in a prefix. With any other
/// interval the result is not exact: it may contain keys of that smaller prefix
/// that are not in the other interval.
KeyInterval attn::intersect(const KeyInterval &a, const KeyInterval &b) {
  if (a.hasPrefix() && b.hasPrefix()) {
    return intersect(a, withoutPrefix(b));
  }
  const KeyInterval &other = a.hasPrefix() ? b : a;
  KeyExpression prefix = a.hasPrefix()   ? leastOf({a.prefix, b.end})
                         : b.hasPrefix() ? leastOf({a.end, b.prefix})
                                         : KeyExpression::number(0);
  bool isOne = prefix.is(0) || other.first.is(0);
  return {mostOf({a.first, b.first}), leastOf({a.end, b.end}), prefix,
          a.isExact && b.isExact && isOne};
}

/// Returns the interval of one part of a conjunction.
static KeyInterval intervalOfPart(const MaskFormula &part) {
  KeyInterval interval = KeyInterval::all();
  switch (part.kind) {
  case MaskFormula::First:
    interval.first = {KeyExpression::Bound, part.sum};
    break;
  case MaskFormula::End:
    interval.end = {KeyExpression::Bound, part.sum};
    break;
  case MaskFormula::False:
    interval.end = KeyExpression::number(0);
    break;
  case MaskFormula::True:
    break;
  default:
    interval.isExact = false;
  }
  return interval;
}

/// Empties the rows whose guard is false. They end at 0 if the guard becomes
/// true as the query's position grows, and begin beyond all keys if it becomes
/// false. So neither end falls.
static void close(KeyInterval &interval, const MaskFormula &guard,
                  const SumMaker &sums) {
  if (directionOf(guard, sums) == Direction::Down) {
    interval.first = where(guard, interval.first, kItemLimit);
  } else {
    interval.end = where(guard, interval.end, 0);
  }
  assert(!interval.hasPrefix() && "a conjunction has one interval");
}

/// Returns the interval of a conjunction; none of the parts is an Or.
static KeyInterval intervalOfAll(ArrayRef<MaskFormula> parts,
                                 const SumMaker &sums) {
  KeyInterval interval = KeyInterval::all();
  SmallVector<const MaskFormula *> guards;
  for (const MaskFormula &part : parts) {
    bool isGuard =
        part.kind == MaskFormula::Guard || part.kind == MaskFormula::Choice;
    if (isGuard) {
      guards.push_back(&part);
    } else {
      interval = intersect(interval, intervalOfPart(part));
    }
  }
  for (const MaskFormula *guard : guards) {
    close(interval, *guard, sums);
  }
  return interval;
}

/// Two intervals that begin or end together are one interval, and one from key
/// 0 becomes a prefix of the other if both are ordered. Otherwise the result is
/// the interval around both, which contains more keys. Only `a` may have a
/// prefix.
static KeyInterval unite(const KeyInterval &a, const KeyInterval &b,
                         const SumMaker &sums) {
  bool isExact = a.isExact && b.isExact;
  bool isOne = a.first == b.first || a.end == b.end;
  bool mayHavePrefix = !isOne && a.isOrdered(sums) && b.isOrdered(sums);
  if (mayHavePrefix && b.first.is(0)) {
    return {a.first, a.end, mostOf({a.prefix, b.end}), isExact};
  }
  if (mayHavePrefix && a.first.is(0) && !a.hasPrefix()) {
    return {b.first, b.end, a.end, isExact};
  }
  return {leastOf({a.first, b.first}), mostOf({a.end, b.end}), a.prefix,
          isExact && isOne};
}

using Conjunction = std::vector<MaskFormula>;

/// Returns the alternatives of a formula; nothing if they are too many.
static std::optional<std::vector<Conjunction>>
alternativesOf(const MaskFormula &formula) {
  constexpr size_t most = 8;
  std::vector<Conjunction> result;
  if (formula.kind == MaskFormula::Or) {
    for (const MaskFormula &part : formula.parts) {
      auto own = alternativesOf(part);
      if (!own || result.size() + own->size() > most) {
        return std::nullopt;
      }
      result.insert(result.end(), own->begin(), own->end());
    }
    return result;
  }
  if (formula.kind != MaskFormula::And) {
    return std::vector<Conjunction>{{formula}};
  }
  result.emplace_back();
  for (const MaskFormula &part : formula.parts) {
    auto own = alternativesOf(part);
    if (!own || result.size() * own->size() > most) {
      return std::nullopt;
    }
    std::vector<Conjunction> products;
    for (const Conjunction &before : result) {
      for (const Conjunction &after : *own) {
        products.push_back(before);
        products.back().insert(products.back().end(), after.begin(),
                               after.end());
      }
    }
    result = std::move(products);
  }
  return result;
}

KeyInterval attn::intervalOf(const MaskFormula &formula, const SumMaker &sums) {
  auto alternatives = alternativesOf(formula);
  if (!alternatives) {
    KeyInterval interval = KeyInterval::all();
    interval.isExact = false;
    return interval;
  }
  KeyInterval interval = intervalOfAll(alternatives->front(), sums);
  for (const Conjunction &other : llvm::drop_begin(*alternatives)) {
    interval = unite(interval, intervalOfAll(other, sums), sums);
  }
  return interval;
}
