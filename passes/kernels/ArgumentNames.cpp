// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArgumentNames.h"
#include "attn/dialect/LaunchChecks.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;

ArgumentNames::ArgumentNames() {
  for (StringRef taken :
       {names::batches, names::queries, names::keys, names::queryHeads,
        names::keyHeads, names::dim, names::dimV, names::rows,
        names::sumColumns, kQueryPosition}) {
    symbols.insert(taken);
  }
}

/// Returns `text`, or the first of "text_1", "text_2", ... for which `isFree`
/// holds.
static std::string firstFree(StringRef text,
                             function_ref<bool(StringRef)> isFree) {
  std::string candidate = text.str();
  for (unsigned n = 1; !isFree(candidate); ++n) {
    candidate = (text + "_" + Twine(n)).str();
  }
  return candidate;
}

std::string attn::sizeOf(StringRef symbol, int64_t dim) {
  return (symbol + "_d" + Twine(dim)).str();
}

bool ArgumentNames::isFree(StringRef symbol, int64_t rank) const {
  return !isReservedName(symbol) && !symbols.contains(symbol) &&
         llvm::none_of(llvm::seq(rank), [&](int64_t dim) {
           return symbols.contains(sizeOf(symbol, dim));
         });
}

std::string ArgumentNames::takeSymbol(StringRef name, int64_t rank) {
  StringRef wanted = isReservedName(name) ? "capture" : name;
  std::string symbol = firstFree(
      wanted, [&](StringRef candidate) { return isFree(candidate, rank); });
  symbols.insert(symbol);
  for (int64_t dim : llvm::seq(rank)) {
    symbols.insert(sizeOf(symbol, dim));
  }
  return symbol;
}

ArgumentName ArgumentNames::captureOf(AttentionBwdOp op) const {
  std::optional<uint64_t> number = op.getCapture();
  return number ? captureNames[*number]
                : ArgumentName{names::scale.str(), names::scale.str()};
}

ArgumentName ArgumentNames::take(StringRef wanted) {
  std::string name = firstFree(
      wanted, [&](StringRef candidate) { return !names.contains(candidate); });
  names.insert(name);
  return {name, takeSymbol(name, /*rank=*/0)};
}

/// The name that the user gave a capture; empty if none.
static FailureOr<StringRef> givenName(func::FuncOp func, unsigned argument) {
  Attribute given = func.getArgAttr(argument, "attn.name");
  if (!given) {
    return StringRef();
  }
  auto text = dyn_cast<StringAttr>(given);
  if (!text || text.empty() || text.getValue().contains('\0') ||
      !llvm::json::isUTF8(text.getValue())) {
    return func.emitOpError("expected 'attn.name' of argument #")
           << argument << " to be a text in UTF-8 without a zero byte, got "
           << given;
  }
  return text.getValue();
}

FailureOr<ArgumentNames> ArgumentNames::of(func::FuncOp func,
                                           ValueRange captures) {
  ArgumentNames result;
  for (Value capture : captures) {
    auto given = givenName(func, cast<BlockArgument>(capture).getArgNumber());
    if (failed(given)) {
      return failure();
    }
    if (!given->empty() && !result.names.insert(*given).second) {
      return func.emitOpError("expected the names of captures to be different, "
                              "got '")
             << *given << "' twice";
    }
    result.captureNames.push_back({given->str(), ""});
  }
  for (auto [number, capture] : llvm::enumerate(captures)) {
    ArgumentName &own = result.captureNames[number];
    if (own.name.empty()) {
      own.name = firstFree("c" + std::to_string(number), [&](StringRef name) {
        return result.names.insert(name).second;
      });
    }
    auto tensor = dyn_cast<RankedTensorType>(capture.getType());
    own.symbol = result.takeSymbol(own.name, tensor ? tensor.getRank() : 0);
  }
  return result;
}
