// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form of #attn.arguments, and checks of kernels against it.
#include "attn/dialect/Attn.h"

using namespace mlir;
using namespace attn;

static ParseResult parseAccess(AsmParser &parser, ArgumentAccess &access) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  access = ArgumentAccess::Read;
  if (failed(parser.parseOptionalKeyword(&word))) {
    return success();
  }
  std::optional<ArgumentAccess> known = symbolizeArgumentAccess(word);
  if (!known) {
    return parser.emitError(loc, "expected 'read', 'write' or 'accumulate', "
                                 "got '")
           << word << "'";
  }
  access = *known;
  return success();
}

static ParseResult parseArgument(AsmParser &parser,
                                 SmallVectorImpl<ArgumentAttr> &list) {
  std::string text;
  ArgumentAccess access;
  SmallVector<StringAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    std::string dim;
    if (parser.parseString(&dim)) {
      return failure();
    }
    dims.push_back(StringAttr::get(parser.getContext(), dim));
    return success();
  };
  if (parser.parseString(&text) || parseAccess(parser, access) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                     parseDim)) {
    return failure();
  }
  list.push_back(ArgumentAttr::get(parser.getContext(),
                                   StringAttr::get(parser.getContext(), text),
                                   access, dims));
  return success();
}

Attribute ArgumentsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<ArgumentAttr> list;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
        return parseArgument(parser, list);
      })) {
    return {};
  }
  return ArgumentsAttr::getChecked([&] { return parser.emitError(loc); },
                                   parser.getContext(),
                                   ArrayRef<ArgumentAttr>(list));
}

void ArgumentsAttr::print(AsmPrinter &printer) const {
  printer << '[';
  llvm::interleaveComma(
      getList(), printer.getStream(), [&](ArgumentAttr argument) {
        printer << argument.getName();
        if (argument.getAccess() != ArgumentAccess::Read) {
          printer << ' ' << stringifyArgumentAccess(argument.getAccess());
        }
        if (!argument.getDims().empty()) {
          printer << " (";
          llvm::interleaveComma(argument.getDims(), printer.getStream(),
                                [&](StringAttr dim) { printer << dim; });
          printer << ')';
        }
      });
  printer << ']';
}

LogicalResult
ArgumentsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<ArgumentAttr> list) {
  llvm::SmallDenseSet<Attribute> seen;
  for (ArgumentAttr argument : list) {
    if (!seen.insert(argument.getName()).second) { // C1
      return emitError() << "expected the names in 'args' to be different, got "
                         << argument.getName() << " twice";
    }
  }
  return success();
}

bool ArgumentsAttr::has(StringRef name) const {
  return llvm::any_of(getList(), [&](ArgumentAttr argument) {
    return argument.getName().getValue() == name;
  });
}

SmallVector<std::string> ArgumentsAttr::dimsOf(size_t index,
                                               int64_t rank) const {
  SmallVector<std::string> names;
  ArgumentAttr argument = (*this)[index];
  for (StringAttr dim : argument.getDims()) {
    names.push_back(dim.str());
  }
  for (int64_t dim = names.size(); dim < rank; ++dim) {
    names.push_back((argument.getName().getValue() + "_d" + Twine(dim)).str());
  }
  return names;
}

LogicalResult attn::verifyArguments(Operation *kernel, ArgumentsAttr args,
                                    Block &body) {
  if (args.size() != body.getNumArguments()) {
    return kernel->emitOpError("expected ")
           << body.getNumArguments() << " 'args', got " << args.size();
  }
  for (auto [argument, description] :
       llvm::zip(body.getArguments(), args.getList())) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    size_t rank = tensor ? tensor.getRank() : 0;
    size_t dims = description.getDims().size();
    if (dims != 0 && dims != rank) {
      return kernel->emitOpError("expected ")
             << rank << " names for the dimensions of argument "
             << description.getName() << ", got " << dims;
    }
  }
  return success();
}

LogicalResult attn::verifyArgumentUse(Operation *op, Value tensor,
                                      ArgumentAccess access, ArgumentsAttr args,
                                      Block &body) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument || argument.getOwner() != &body) {
    return success();
  }
  ArgumentAttr description = args[argument.getArgNumber()];
  if (description.getAccess() == access) {
    return success();
  }
  return op->emitOpError("expected argument ")
         << description.getName() << " to be one to "
         << stringifyArgumentAccess(access) << ", got one to "
         << stringifyArgumentAccess(description.getAccess());
}
