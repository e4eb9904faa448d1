// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of attn.table_entry. The masks that an entry serves are a list of
// words.
#include "attn/dialect/Masks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

std::vector<std::string> attn::tableMaskWords(TableMasks masks) {
  std::vector<std::string> words;
  for (uint32_t bit = 1; bit != 0; bit <<= 1) {
    std::optional<TableMasks> mask = symbolizeTableMasks(bit);
    if (mask && bitEnumContainsAll(masks, *mask)) {
      words.push_back(stringifyTableMasks(*mask));
    }
  }
  return words;
}

ParseResult attn::parseTableMasks(OpAsmParser &parser, TableMasksAttr &attr) {
  TableMasks masks = TableMasks::Nothing;
  auto parseWord = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string word;
    if (parser.parseString(&word)) {
      return failure();
    }
    if (!llvm::is_contained(tableMaskWords(), word)) {
      return parser.emitError(loc, "expected masks of ")
             << llvm::join(tableMaskWords(), ", ") << ", got '" << word << "'";
    }
    masks |= *symbolizeTableMasks(word);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseWord)) {
    return failure();
  }
  attr = TableMasksAttr::get(parser.getContext(), masks);
  return success();
}

void attn::printTableMasks(OpAsmPrinter &printer, Operation *,
                           TableMasksAttr masks) {
  printer << '[';
  llvm::interleaveComma(tableMaskWords(masks.getValue()), printer.getStream(),
                        [&](StringRef word) { printer << '"' << word << '"'; });
  printer << ']';
}
