// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchExpressions.h"
#include "attn/codegen/launch/KernelParams.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/Masks.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// Reads the expressions of one attribute of a kernel.
class ExpressionReader {
public:
  /// Besides the names of sizes and arguments, the expressions may use `word`,
  /// which stands for `meaning`.
  ExpressionReader(ws::KernelOp kernel, StringRef attribute, StringRef word,
                   Attribute meaning)
      : kernel(kernel), attribute(attribute), word(word), meaning(meaning),
        make(kernel.getContext()) {}

  FailureOr<SmallVector<LaunchCheck>> checks();
  FailureOr<KeyRange> seenKeys();

private:
  InFlightDiagnostic error() {
    return kernel.emitOpError("attn-lower-to-nvvm: expected '")
           << attribute << "' ";
  }
  FailureOr<Attribute> expression(Attribute attr, int depth);
  FailureOr<Attribute> application(launch::ApplyAttr apply, int depth);
  FailureOr<std::string> message(StringRef text);
  bool isKnown(StringRef name) { return isLaunchName(kernel, name); }

  ws::KernelOp kernel;
  StringRef attribute, word;
  Attribute meaning;
  launch::Expressions make;
};

} // namespace

static std::optional<int64_t> integerOf(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isSignlessInteger(64)
             ? std::optional(number.getInt())
             : std::nullopt;
}

bool codegen::isSizeName(ws::KernelOp kernel, StringRef name) {
  return llvm::any_of(
      kernel.getBody().getArguments(), [&](BlockArgument argument) {
        auto tensor = dyn_cast<RankedTensorType>(argument.getType());
        return tensor && llvm::is_contained(
                             kernel.getArgs().dimsOf(argument.getArgNumber(),
                                                     tensor.getRank()),
                             name);
      });
}

bool codegen::isLaunchName(ws::KernelOp kernel, StringRef name) {
  return isSizeName(kernel, name) ||
         llvm::any_of(kernel.getBody().getArguments(),
                      [&](BlockArgument argument) {
                        return argument.getType().isInteger() &&
                               kernel.getArgs()[argument.getArgNumber()]
                                       .getSymbol()
                                       .getValue() == name;
                      });
}

FailureOr<Attribute> ExpressionReader::application(launch::ApplyAttr apply,
                                                   int depth) {
  SmallVector<Attribute> read;
  for (Attribute operand : apply.getOperands()) {
    FailureOr<Attribute> value = expression(operand, depth + 1);
    if (failed(value)) {
      return failure();
    }
    read.push_back(*value);
  }
  return make.apply(apply.getOp(), read);
}

FailureOr<Attribute> ExpressionReader::expression(Attribute attr, int depth) {
  if (depth >= launch::mostDepth) {
    return error() << "to be at most " << launch::mostDepth
                   << " deep, got more";
  }
  if (std::optional<int64_t> number = integerOf(attr)) {
    return make.number(*number);
  }
  if (auto apply = dyn_cast<launch::ApplyAttr>(attr)) {
    return application(apply, depth);
  }
  auto name = dyn_cast<StringAttr>(attr);
  if (name && name.getValue() == word) {
    return meaning;
  }
  if (!name || !isKnown(name.getValue())) {
    return error() << "to be made of operators, i64 numbers, '" << word
                   << "' and names of sizes and integer arguments, got "
                   << attr;
  }
  return sizeNamed(kernel, name);
}

/// Returns the text with static sizes in place of their names in braces; the
/// runtime replaces the others.
FailureOr<std::string> ExpressionReader::message(StringRef text) {
  if (!llvm::json::isUTF8(text)) {
    return error() << "to have messages in UTF-8";
  }
  std::string result;
  while (!text.empty()) {
    size_t open = text.find('{');
    result += text.take_front(open);
    if (open == StringRef::npos) {
      break;
    }
    size_t close = text.find('}', open);
    StringRef name = close == StringRef::npos ? text.substr(open + 1)
                                              : text.slice(open + 1, close);
    if (close == StringRef::npos || !isKnown(name)) {
      return error() << "to have names of sizes and integer arguments in the "
                        "braces of messages, got '{"
                     << name << (close == StringRef::npos ? "'" : "}'");
    }
    Attribute size =
        sizeNamed(kernel, StringAttr::get(kernel.getContext(), name));
    auto number = dyn_cast<IntegerAttr>(size);
    result +=
        number ? std::to_string(number.getInt()) : ("{" + name + "}").str();
    text = text.substr(close + 1);
  }
  return result;
}

FailureOr<SmallVector<LaunchCheck>> ExpressionReader::checks() {
  auto all = kernel->getAttrOfType<ArrayAttr>(attribute);
  if (!all) {
    return error() << "to list the conditions of a launch, got "
                   << (kernel->getAttr(attribute) ? "another attribute"
                                                  : "none");
  }
  SmallVector<LaunchCheck> checks;
  for (Attribute attr : all.getValue()) {
    std::optional<LaunchCheck> check = LaunchCheck::from(attr);
    if (!check) {
      return error() << "to be a list of {expr, equals, message}, an "
                        "expression, an i64 and a text, got "
                     << attr;
    }
    FailureOr<Attribute> value = expression(check->expr, 0);
    FailureOr<std::string> said = message(check->message.getValue());
    if (failed(value) || failed(said)) {
      return failure();
    }
    checks.push_back(
        {*value, check->equals, StringAttr::get(kernel.getContext(), *said)});
  }
  return checks;
}

FailureOr<KeyRange> ExpressionReader::seenKeys() {
  KeyRange keys;
  Attribute given = kernel->getAttr(attribute);
  auto described = dyn_cast_or_null<DictionaryAttr>(given);
  if (given && !described) {
    return error() << "to be a dictionary of expressions, got " << given;
  }
  for (NamedAttribute key :
       described ? described.getValue() : ArrayRef<NamedAttribute>()) {
    StringRef name = key.getName().getValue();
    if (name != kFirstKey && name != kLastKey) {
      return error() << "to have '" << kFirstKey << "' and '" << kLastKey
                     << "', got '" << name << "'";
    }
    FailureOr<Attribute> value = expression(key.getValue(), 0);
    if (failed(value)) {
      return failure();
    }
    (name == kFirstKey ? keys.first : keys.last) = *value;
  }
  size_t bounds = maskBounds(kernel.getProblem().getBounds()).size();
  size_t arguments = kernel.getArgs().all(ArgumentRole::Bound).size();
  if (bounds != arguments) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected an argument of "
                              "role 'bound' for each bound of the problem, ")
           << bounds << ", got " << arguments;
  }
  return keys;
}

FailureOr<SmallVector<LaunchCheck>> codegen::launchChecks(ws::KernelOp kernel,
                                                          Attribute items) {
  return ExpressionReader(kernel, kChecksAttr, kItems, items).checks();
}

FailureOr<KeyRange> codegen::seenKeysOf(ws::KernelOp kernel) {
  auto query = StringAttr::get(kernel.getContext(), kQueryPosition);
  return ExpressionReader(kernel, kKeysAttr, kQueryPosition, query).seenKeys();
}
