// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchExpressions.h"
#include "SizeExpressions.h"
#include "attn/codegen/launch/KernelParams.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/Masks.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

namespace {

/// The expressions of one attribute of a kernel.
class Expressions {
public:
  Expressions(ws::KernelOp kernel, StringRef attribute)
      : kernel(kernel), attribute(attribute) {}

  FailureOr<json::Array> checks(const json::Value &items);
  FailureOr<json::Object> seenKeys();

private:
  InFlightDiagnostic error() {
    return kernel.emitOpError("attn-lower-to-nvvm: expected '")
           << attribute << "' ";
  }
  FailureOr<json::Value> expression(Attribute attr, int depth);
  FailureOr<json::Value> application(ArrayAttr list, int depth);
  FailureOr<std::string> message(StringRef text);
  bool isKnown(StringRef name) { return isLaunchName(kernel, name); }

  ws::KernelOp kernel;
  StringRef attribute;
  /// A word that is neither a size nor an argument.
  StringRef word;
  const json::Value *meaning = nullptr;
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

int codegen::depthOf(const json::Value &value) {
  int depth = 0;
  if (const json::Object *object = value.getAsObject()) {
    for (const auto &member : *object) {
      depth = std::max(depth, depthOf(member.second));
    }
    return depth;
  }
  const json::Array *list = value.getAsArray();
  if (!list) {
    return 1;
  }
  for (const json::Value &element : *list) {
    depth = std::max(depth, depthOf(element));
  }
  // Lists of expressions begin with no operator.
  bool isExpression = !list->empty() && list->front().getAsString();
  return depth + (isExpression ? 1 : 0);
}

FailureOr<json::Value> Expressions::application(ArrayAttr list, int depth) {
  const LaunchOperator *known = launchOperatorOf(list);
  if (!known) {
    return error() << "to begin lists with an operator of launch plans, got "
                   << list;
  }
  size_t operands = list.size() - 1;
  if (operands < known->operands ||
      (operands > known->operands && !known->isVariadic)) {
    return error() << "to give '" << stringifyLaunchOp(known->op) << "' "
                   << known->operands << (known->isVariadic ? " or more" : "")
                   << " operands, got " << list;
  }
  if (list.size() > mostLaunchList) {
    return error() << "to have lists of at most " << mostLaunchList
                   << " words, got " << list.size();
  }
  json::Array result{stringifyLaunchOp(known->op)};
  for (Attribute operand : list.getValue().drop_front()) {
    FailureOr<json::Value> value = expression(operand, depth + 1);
    if (failed(value)) {
      return failure();
    }
    result.push_back(std::move(*value));
  }
  return json::Value(std::move(result));
}

FailureOr<json::Value> Expressions::expression(Attribute attr, int depth) {
  if (depth >= mostLaunchDepth) {
    return error() << "to be at most " << mostLaunchDepth << " deep, got more";
  }
  if (std::optional<int64_t> number = integerOf(attr)) {
    return json::Value(*number);
  }
  if (auto list = dyn_cast<ArrayAttr>(attr)) {
    return application(list, depth);
  }
  auto name = dyn_cast<StringAttr>(attr);
  if (name && name.getValue() == word) {
    return json::Value(*meaning);
  }
  if (!name || !isKnown(name.getValue())) {
    return error() << "to be made of lists, i64 numbers, '" << word
                   << "' and names of sizes and integer arguments, got "
                   << attr;
  }
  return nameOrNumber(sizeNamed(kernel, name.getValue()));
}

/// Returns the text with static sizes in place of their names in braces; the
/// runtime replaces the others.
FailureOr<std::string> Expressions::message(StringRef text) {
  if (!json::isUTF8(text)) {
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
    std::string size = sizeNamed(kernel, name);
    result += size == name ? "{" + size + "}" : size;
    text = text.substr(close + 1);
  }
  return result;
}

FailureOr<json::Array> Expressions::checks(const json::Value &items) {
  word = kItems;
  meaning = &items;
  auto all = kernel->getAttrOfType<ArrayAttr>(kChecksAttr);
  if (!all) {
    return error() << "to list what has to hold of a launch, got "
                   << (kernel->getAttr(kChecksAttr) ? "another attribute"
                                                    : "none");
  }
  json::Array checks;
  for (Attribute attr : all.getValue()) {
    auto check = dyn_cast<ArrayAttr>(attr);
    auto text = check && check.size() == 3 ? dyn_cast<StringAttr>(check[2])
                                           : StringAttr();
    std::optional<int64_t> equals = text ? integerOf(check[1]) : std::nullopt;
    if (!equals) {
      return error() << "to be a list of [expression, i64, message], got "
                     << attr;
    }
    FailureOr<json::Value> value = expression(check[0], 0);
    FailureOr<std::string> said = message(text.getValue());
    if (failed(value) || failed(said)) {
      return failure();
    }
    checks.push_back(json::Object{{"expr", std::move(*value)},
                                  {"equals", *equals},
                                  {"message", std::move(*said)}});
  }
  return checks;
}

FailureOr<json::Object> Expressions::seenKeys() {
  const json::Value query(kQueryPosition);
  word = kQueryPosition;
  meaning = &query;
  json::Object keys;
  Attribute given = kernel->getAttr(kKeysAttr);
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
    FailureOr<json::Value> value = expression(key.getValue(), 0);
    if (failed(value)) {
      return failure();
    }
    keys[name] = std::move(*value);
  }
  json::Array bounds;
  SmallVector<MaskBound> known = maskBounds(kernel.getProblem().getBounds());
  SmallVector<ArgumentAttr> arguments =
      kernel.getArgs().all(ArgumentRole::Bound);
  if (known.size() != arguments.size()) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected an argument of "
                              "role 'bound' for each bound of the problem, ")
           << known.size() << ", got " << arguments.size();
  }
  for (auto [bound, argument] : llvm::zip(known, arguments)) {
    bounds.push_back(json::Object{{"name", argument.getName().getValue()},
                                  {"at_least", int64_t(bound.least)}});
  }
  keys["bounds"] = std::move(bounds);
  return keys;
}

FailureOr<json::Array> codegen::launchChecks(ws::KernelOp kernel,
                                             const json::Value &items) {
  return Expressions(kernel, kChecksAttr).checks(items);
}

FailureOr<json::Object> codegen::seenKeysOf(ws::KernelOp kernel) {
  return Expressions(kernel, kKeysAttr).seenKeys();
}
