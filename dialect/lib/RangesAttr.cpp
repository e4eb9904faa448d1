// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and checks of #tile.ranges.
#include "attn/dialect/Tile.h"

using namespace mlir;
using namespace attn::tile;

static ParseResult parseRange(AsmParser &parser,
                              SmallVectorImpl<RangeAttr> &list) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  std::optional<RangeKind> kind = symbolizeRangeKind(word);
  if (!kind) {
    return parser.emitError(loc, "expected 'masked', 'full' or 'skipped', "
                                 "got '")
           << word << "'";
  }
  std::optional<int64_t> atMost;
  if (succeeded(parser.parseOptionalKeyword("at_most")) &&
      parser.parseInteger(atMost.emplace())) {
    return failure();
  }
  list.push_back(RangeAttr::get(parser.getContext(), *kind, atMost));
  return success();
}

Attribute RangesAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  SmallVector<RangeAttr> list;
  if (parser.parseLess() || parser.parseKeyword(&word)) {
    return {};
  }
  std::optional<Direction> direction = symbolizeDirection(word);
  if (!direction) {
    parser.emitError(loc, "expected 'down' or 'up', got '") << word << "'";
    return {};
  }
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&]() { return parseRange(parser, list); }) ||
      parser.parseGreater()) {
    return {};
  }
  return RangesAttr::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), *direction,
                                ArrayRef<RangeAttr>(list));
}

void RangesAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyDirection(getDirection()) << " [";
  llvm::interleaveComma(getList(), printer.getStream(), [&](RangeAttr range) {
    printer << stringifyRangeKind(range.getKind());
    if (range.getAtMost()) {
      printer << " at_most " << *range.getAtMost();
    }
  });
  printer << "]>";
}

LogicalResult RangesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Direction, ArrayRef<RangeAttr> list) {
  if (list.empty()) { // C1
    return emitError() << "expected at least one range, got none";
  }
  for (RangeAttr range : list) {
    if (range.getAtMost().value_or(0) < 0) { // C2
      return emitError() << "expected 'at_most' to be at least 0, got "
                         << *range.getAtMost();
    }
  }
  return success();
}
