// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and checks of #attn.condition.
#include "attn/dialect/Attn.h"

using namespace mlir;
using namespace attn;

/// Parses a word that `symbolize` knows; errors call it `what`.
template <typename Enum, typename Symbolize>
static ParseResult parseWord(AsmParser &parser, StringRef what,
                             Symbolize symbolize, Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  auto known = symbolize(word);
  if (!known) {
    return parser.emitError(loc, "expected ")
           << what << ", got '" << word << "'";
  }
  value = *known;
  return success();
}

static FailureOr<BoundAttr> parseBound(AsmParser &parser) {
  LaunchSize size;
  BoundSide side;
  int64_t value;
  if (parseWord(
          parser, "'seqlen_q', 'seqlen_k' or 'rows'",
          [](StringRef word) { return symbolizeLaunchSize(word); }, size) ||
      parseWord(
          parser, "'at_most' or 'above'",
          [](StringRef word) { return symbolizeBoundSide(word); }, side) ||
      parser.parseInteger(value)) {
    return failure();
  }
  return BoundAttr::get(parser.getContext(), size, side, value);
}

Attribute ConditionAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<BoundAttr> bounds;
  if (parser.parseLess()) {
    return {};
  }
  do {
    FailureOr<BoundAttr> bound = parseBound(parser);
    if (failed(bound)) {
      return {};
    }
    bounds.push_back(*bound);
  } while (succeeded(parser.parseOptionalKeyword("and")));
  if (parser.parseGreater()) {
    return {};
  }
  return ConditionAttr::getChecked([&] { return parser.emitError(loc); },
                                   parser.getContext(),
                                   ArrayRef<BoundAttr>(bounds));
}

std::string ConditionAttr::getText() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      getBounds(), stream,
      [&](BoundAttr bound) {
        stream << stringifyLaunchSize(bound.getSize()) << ' '
               << stringifyBoundSide(bound.getSide()) << ' '
               << bound.getValue();
      },
      " and ");
  return text;
}

void ConditionAttr::print(AsmPrinter &printer) const {
  printer << '<' << getText() << '>';
}

LogicalResult
ConditionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<BoundAttr> bounds) {
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    StringRef size = stringifyLaunchSize(bound.getSize());
    // condition C2
    if (bound.getValue() < 0) {
      return emitError() << "expected the bound of '" << size
                         << "' to be at least 0, got " << bound.getValue();
    }
    // condition C1
    for (BoundAttr other : bounds.take_front(i)) {
      if (other.getSize() != bound.getSize()) {
        continue;
      }
      StringRef side = stringifyBoundSide(bound.getSide());
      if (other.getSide() == bound.getSide()) {
        return emitError() << "expected one bound '" << side << "' of '" << size
                           << "', got " << other.getValue() << " and "
                           << bound.getValue();
      }
      bool above = bound.getSide() == BoundSide::Above;
      int64_t low = (above ? bound : other).getValue();
      int64_t high = (above ? other : bound).getValue();
      if (low >= high) {
        return emitError() << "expected '" << size << "' above less than "
                           << high << ", which it is at most, got " << low;
      }
    }
  }
  return success();
}
