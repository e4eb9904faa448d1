// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text forms and accessors of #attn.values and #attn.kernel_values.
#include "attn/dialect/Attn.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Lists of values
//===----------------------------------------------------------------------===//

static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text)) {
    return failure();
  }
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

/// value := name [`<` axis (`,` axis)* `>`]
static FailureOr<ValuesAttr> parseList(AsmParser &parser) {
  SmallVector<StringAttr> names;
  SmallVector<ArrayAttr> axes;
  auto parseValue = [&]() -> ParseResult {
    SmallVector<Attribute> own;
    if (parseName(parser, names.emplace_back())) {
      return failure();
    }
    auto parseAxis = [&]() -> ParseResult {
      StringAttr axis;
      if (parseName(parser, axis)) {
        return failure();
      }
      own.push_back(axis);
      return success();
    };
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::OptionalLessGreater, parseAxis)) {
      return failure();
    }
    axes.push_back(ArrayAttr::get(parser.getContext(), own));
    return success();
  };
  if (parser.parseCommaSeparatedList(parseValue)) {
    return failure();
  }
  return ValuesAttr::get(parser.getContext(), names, axes);
}

static void printList(AsmPrinter &printer, ValuesAttr values) {
  llvm::interleaveComma(llvm::zip(values.getNames(), values.getAxes()),
                        printer.getStream(), [&](auto value) {
                          auto [name, axes] = value;
                          printer.printKeywordOrString(name.getValue());
                          if (axes.empty()) {
                            return;
                          }
                          printer << '<';
                          llvm::interleaveComma(
                              axes.template getAsRange<StringAttr>(),
                              printer.getStream(), [&](StringAttr axis) {
                                printer.printKeywordOrString(axis.getValue());
                              });
                          printer << '>';
                        });
}

Attribute ValuesAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess()) {
    return {};
  }
  FailureOr<ValuesAttr> values = parseList(parser);
  if (failed(values) || parser.parseGreater()) {
    return {};
  }
  return *values;
}

void ValuesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printList(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// The values of a kernel
//===----------------------------------------------------------------------===//

ValuesAttr KernelValuesAttr::findStep(StringRef name) const {
  for (auto [step, values] : llvm::zip(getSteps(), getValues())) {
    if (step.getValue() == name) {
      return values;
    }
  }
  return {};
}

Attribute KernelValuesAttr::parse(AsmParser &parser, Type) {
  StringRef kindText;
  SMLoc loc;
  if (parser.parseLess()) {
    return {};
  }
  loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kindText)) {
    return {};
  }
  std::optional<KernelKind> kind = symbolizeKernelKind(kindText);
  if (!kind) {
    parser.emitError(loc) << "expected a kind of kernel, got '" << kindText
                          << "'";
    return {};
  }
  MLIRContext *context = parser.getContext();
  ValuesAttr none = ValuesAttr::get(context, {}, {});
  ValuesAttr carried = none, final = none;
  SmallVector<StringAttr> steps;
  SmallVector<ValuesAttr> values;
  if (parser.parseLBrace()) {
    return {};
  }
  while (failed(parser.parseOptionalRBrace())) {
    ValuesAttr *list = nullptr;
    if (succeeded(parser.parseOptionalKeyword("carried"))) {
      list = &carried;
    } else if (succeeded(parser.parseOptionalKeyword("final"))) {
      list = &final;
    } else if (parser.parseKeyword("step") ||
               parseName(parser, steps.emplace_back())) {
      return {};
    } else {
      list = &values.emplace_back();
    }
    FailureOr<ValuesAttr> parsed = parseList(parser);
    if (failed(parsed)) {
      return {};
    }
    *list = *parsed;
  }
  if (parser.parseGreater()) {
    return {};
  }
  return KernelValuesAttr::get(context, *kind, carried, final, steps, values);
}

void KernelValuesAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyKernelKind(getKind()) << " {";
  printer.increaseIndent();
  auto printLine = [&](StringRef word, ValuesAttr list) {
    if (!list.getNames().empty()) {
      printer.printNewline();
      printer << word << ' ';
      printList(printer, list);
    }
  };
  printLine("carried", getCarried());
  printLine("final", getFinal());
  for (auto [step, list] : llvm::zip(getSteps(), getValues())) {
    printer.printNewline();
    printer << "step ";
    printer.printKeywordOrString(step.getValue());
    printer << ' ';
    printList(printer, list);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << "}>";
}
