// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskText.h"
#include "attn/dialect/LaunchChecks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

namespace {

class MaskText {
public:
  MaskText(Region &mask, ArrayRef<std::string> names) {
    SmallVector<StringRef> all{"b", "h", "i", "j"};
    llvm::append_range(all, names);
    for (auto [argument, name] : llvm::zip_equal(mask.getArguments(), all)) {
      known[argument] = name;
    }
  }

  std::string of(const KeyExpression &expression) const;

private:
  /// Ops beyond a depth are "...": the text of a long function helps nobody.
  std::string of(Value value, unsigned depth = 0) const;
  std::string of(const LinearSum &sum) const;
  std::string of(const MaskFormula &guard) const;
  std::string joined(StringRef text, ValueRange operands, unsigned depth) const;

  llvm::DenseMap<Value, StringRef> known;
};

} // namespace

/// Returns the operands with `text` between them.
std::string MaskText::joined(StringRef text, ValueRange operands,
                             unsigned depth) const {
  SmallVector<std::string> texts;
  for (Value operand : operands) {
    texts.push_back(of(operand, depth + 1));
  }
  return llvm::join(texts, text);
}

std::string MaskText::of(Value value, unsigned depth) const {
  constexpr unsigned deepest = 4;
  if (auto name = known.find(value); name != known.end()) {
    return name->second.str();
  }
  if (std::optional<int64_t> number = constantOf(value)) {
    return std::to_string(*number);
  }
  if (depth > deepest) {
    return "...";
  }
  Operation *op = value.getDefiningOp();
  ValueRange operands = op->getOperands();
  auto between = [&](StringRef text) {
    return "(" + joined(text, operands, depth) + ")";
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(
          [&](Operation *) { return of(operands[0], depth + 1); })
      .Case([&](tensor::ExtractOp extract) {
        return of(extract.getTensor()) + "[" +
               joined(", ", extract.getIndices(), depth) + "]";
      })
      .Case([&](arith::CmpIOp compare) {
        StringRef predicate =
            arith::stringifyCmpIPredicate(compare.getPredicate());
        return between((" " + predicate + " ").str());
      })
      .Case([&](arith::SelectOp) {
        return "(" + of(operands[1], depth + 1) + " if " +
               of(operands[0], depth + 1) + " else " +
               of(operands[2], depth + 1) + ")";
      })
      .Case<arith::DivSIOp, arith::DivUIOp>(
          [&](Operation *) { return between(" / "); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](Operation *) { return between(" mod "); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>(
          [&](Operation *) { return between(" >> "); })
      .Case<arith::AddIOp>([&](Operation *) { return between(" + "); })
      .Case<arith::SubIOp>([&](Operation *) { return between(" - "); })
      .Case<arith::MulIOp>([&](Operation *) { return between(" * "); })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](Operation *) { return "min" + between(", "); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](Operation *) { return "max" + between(", "); })
      .Default([&](Operation *) {
        return op->getName().getStringRef().str() + between(", ");
      });
}

std::string MaskText::of(const LinearSum &sum) const {
  std::string text;
  auto append = [&](int64_t factor, StringRef term) {
    StringRef sign = factor < 0 ? "-" : "+";
    text += text.empty() ? (factor < 0 ? "-" : "") : (" " + sign + " ").str();
    text += term;
  };
  for (auto [value, factor] : sum.terms) {
    std::string term = of(value);
    append(factor, std::abs(factor) == 1
                       ? term
                       : std::to_string(std::abs(factor)) + " * " + term);
  }
  if (sum.constant != 0 || sum.terms.empty()) {
    append(sum.constant, std::to_string(std::abs(sum.constant)));
  }
  return text;
}

std::string MaskText::of(const MaskFormula &guard) const {
  if (guard.kind == MaskFormula::Guard) {
    return of(guard.sum) + " >= 0";
  }
  return (guard.isNegated ? "not " : "") + of(guard.choice);
}

std::string MaskText::of(const KeyExpression &expression) const {
  auto parts = [&] {
    return "(" +
           llvm::join(llvm::map_range(
                          expression.parts,
                          [&](const KeyExpression &part) { return of(part); }),
                      ", ") +
           ")";
  };
  switch (expression.kind) {
  case KeyExpression::Number:
    return expression.is(kItemLimit) ? "the last"
                                     : std::to_string(expression.sum.constant);
  case KeyExpression::Bound:
    return of(expression.sum);
  case KeyExpression::Least:
    return "min" + parts();
  case KeyExpression::Most:
    return "max" + parts();
  case KeyExpression::Where:
    return llvm::formatv("({0} if {1} else {2})", of(expression.parts.front()),
                         of(expression.guard.front()), expression.sum.constant);
  }
  llvm_unreachable("unknown kind of expression");
}

std::string attn::describe(const KeyInterval &interval, Region &mask,
                           ArrayRef<std::string> names) {
  MaskText text(mask, names);
  std::string keys =
      "keys from " + text.of(interval.first) + " to " + text.of(interval.end);
  return interval.hasPrefix()
             ? keys + ", and those before " + text.of(interval.prefix)
             : keys;
}
