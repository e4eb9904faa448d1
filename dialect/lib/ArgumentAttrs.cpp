// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form of #attn.arguments, and checks of kernels against it.
#include "attn/dialect/Attn.h"
#include "attn/dialect/LaunchChecks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;

/// Sets `isBounded` if the word is `from`, which is not an access.
static ParseResult parseAccess(AsmParser &parser, ArgumentAccess &access,
                               bool &isBounded) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  access = ArgumentAccess::Read;
  isBounded = false;
  if (failed(parser.parseOptionalKeyword(&word))) {
    return success();
  }
  if (word == "from") {
    isBounded = true;
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

static ParseResult parseNumber(AsmParser &parser, FloatAttr &number) {
  auto type = Float32Type::get(parser.getContext());
  APFloat value(type.getFloatSemantics());
  if (parser.parseFloat(type.getFloatSemantics(), value)) {
    return failure();
  }
  number = FloatAttr::get(type, value);
  return success();
}

static ParseResult parseArgument(AsmParser &parser,
                                 SmallVectorImpl<ArgumentAttr> &list) {
  std::string text;
  ArgumentAccess access;
  FloatAttr least, most;
  bool isBounded;
  SmallVector<StringAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    std::string dim;
    if (parser.parseString(&dim)) {
      return failure();
    }
    dims.push_back(StringAttr::get(parser.getContext(), dim));
    return success();
  };
  if (parser.parseString(&text) || parseAccess(parser, access, isBounded) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                     parseDim)) {
    return failure();
  }
  if ((isBounded || succeeded(parser.parseOptionalKeyword("from"))) &&
      (parseNumber(parser, least) || parser.parseKeyword("to") ||
       parseNumber(parser, most))) {
    return failure();
  }
  list.push_back(ArgumentAttr::get(parser.getContext(),
                                   StringAttr::get(parser.getContext(), text),
                                   access, dims, least, most));
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
        if (argument.getLeast()) {
          printer << " from ";
          printer.printFloat(argument.getLeast().getValue());
          printer << " to ";
          printer.printFloat(argument.getMost().getValue());
        }
      });
  printer << ']';
}

bool attn::isReservedName(StringRef name) {
  return name.empty() || name == kItems || name == kMultiprocessors ||
         name.find_first_of(".{}") != StringRef::npos ||
         llvm::isDigit(name.front()) || name.front() == '-' ||
         !llvm::json::isUTF8(name);
}

static LogicalResult verifyNames(function_ref<InFlightDiagnostic()> emitError,
                                 ArgumentAttr argument) {
  StringRef own = argument.getName();
  if (own.empty() || !llvm::json::isUTF8(own)) {
    return emitError() << "expected a name in UTF-8, got "
                       << argument.getName();
  }
  SmallVector<StringAttr> names(argument.getDims());
  if (names.empty()) { // a number, or a tensor whose sizes are named after it
    names.push_back(argument.getName());
  }
  for (StringAttr name : names) {
    if (isReservedName(name)) {
      return emitError() << "expected a name that launch plans do not use for "
                            "something else, got "
                         << name;
    }
  }
  return success();
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
    if (failed(verifyNames(emitError, argument))) { // C2
      return failure();
    }
    FloatAttr least = argument.getLeast(), most = argument.getMost();
    if (least && !(least.getValue().isFinite() && most.getValue().isFinite() &&
                   least.getValue() <= most.getValue())) { // C3
      return emitError() << "expected the values of " << argument.getName()
                         << " to be finite, from the least to the most, got "
                         << least << " and " << most;
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
    if (description.getLeast() && !argument.getType().isF32()) {
      return kernel->emitOpError("expected 'from' and 'to' of an f32 argument "
                                 "alone, got them of ")
             << description.getName() << ", " << argument.getType();
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
