// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of launch plans, and their text.
#include "attn/dialect/Launch.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

//===----------------------------------------------------------------------===//
// Structure.
//===----------------------------------------------------------------------===//

bool launch::isExpression(Attribute attr) {
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    return number.getType().isSignlessInteger(64);
  }
  return isa<StringAttr, ApplyAttr>(attr);
}

int launch::depthOf(Attribute expr) {
  int depth = 0;
  if (auto apply = dyn_cast<ApplyAttr>(expr)) {
    for (Attribute operand : apply.getOperands()) {
      depth = std::max(depth, depthOf(operand));
    }
  }
  return depth + 1;
}

void launch::forEachName(Attribute expr, function_ref<void(StringRef)> visit) {
  if (auto name = dyn_cast<StringAttr>(expr)) {
    visit(name.getValue());
  } else if (auto apply = dyn_cast<ApplyAttr>(expr)) {
    for (Attribute operand : apply.getOperands()) {
      forEachName(operand, visit);
    }
  }
}

Attribute Expressions::number(int64_t value) const {
  return IntegerAttr::get(IntegerType::get(context, 64), value);
}

Attribute Expressions::name(const Twine &text) const {
  return StringAttr::get(context, text);
}

Attribute Expressions::apply(LaunchOp op, ArrayRef<Attribute> operands) const {
  return ApplyAttr::get(context, op, operands);
}

Attribute launch::sizeNamed(ArgumentsAttr args, TypeRange types,
                            StringAttr name) {
  for (auto [index, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      IntegerAttr fixed = args[index].getFixed();
      if (fixed && args[index].getSymbol() == name) {
        return Expressions(name.getContext()).number(fixed.getInt());
      }
      continue;
    }
    for (auto [symbol, size] :
         llvm::zip(args.dimsOf(index, tensor.getRank()), tensor.getShape())) {
      if (symbol == name.getValue() && !ShapedType::isDynamic(size)) {
        return Expressions(name.getContext()).number(size);
      }
    }
  }
  return name;
}

SmallVector<Attribute> launch::sizesOf(ArgumentsAttr args, TypeRange types,
                                       unsigned index) {
  auto type = cast<RankedTensorType>(types[index]);
  Expressions make(args.getContext());
  SmallVector<Attribute> sizes;
  for (auto [name, size] :
       llvm::zip(args.dimsOf(index, type.getRank()), type.getShape())) {
    // The head dims of Q and V may differ: they are always static.
    sizes.push_back(
        ShapedType::isDynamic(size)
            ? sizeNamed(args, types, StringAttr::get(args.getContext(), name))
            : make.number(size));
  }
  return sizes;
}

SmallVector<StringRef> launch::namesIn(StringRef message) {
  SmallVector<StringRef> names;
  for (;;) {
    size_t open = message.find('{');
    size_t close = message.find('}', open);
    if (close == StringRef::npos) {
      return names;
    }
    names.push_back(message.slice(open + 1, close));
    message = message.substr(close + 1);
  }
}

LogicalResult ApplyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                LaunchOp op, ArrayRef<Attribute> operands) {
  const LaunchOperator &known = launchOperator(op);
  if (operands.size() < known.operands ||
      (operands.size() > known.operands && !known.isVariadic)) { // C1
    return emitError() << "expected '" << stringifyLaunchOp(op) << "' to have "
                       << known.operands << (known.isVariadic ? " or more" : "")
                       << " operands, got " << operands.size();
  }
  if (operands.size() >= mostList) { // C2
    return emitError() << "expected '" << stringifyLaunchOp(op)
                       << "' to have at most " << mostList - 1
                       << " operands, got " << operands.size();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Text.
//===----------------------------------------------------------------------===//

ParseResult launch::parseExpr(AsmParser &parser, Attribute &expr) {
  Expressions make(parser.getContext());
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    expr = make.number(number);
    return *isNumber;
  }
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeywordOrString(&name)) {
    return failure();
  }
  if (failed(parser.parseOptionalLParen())) {
    expr = make.name(name);
    return success();
  }
  std::optional<LaunchOp> op = symbolizeLaunchOp(name);
  if (!op) {
    return parser.emitError(loc, "expected an operator of launch plans, got '")
           << name << "'";
  }
  SmallVector<Attribute> operands;
  if (parser.parseCommaSeparatedList(
          [&] { return parseExpr(parser, operands.emplace_back()); }) ||
      parser.parseRParen()) {
    return failure();
  }
  expr = ApplyAttr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(), *op,
                               ArrayRef<Attribute>(operands));
  return success(bool(expr));
}

void launch::printExpr(AsmPrinter &printer, Attribute expr) {
  if (auto number = dyn_cast<IntegerAttr>(expr)) {
    printer << number.getInt();
  } else if (auto name = dyn_cast<StringAttr>(expr)) {
    printer.printKeywordOrString(name.getValue());
  } else if (auto apply = dyn_cast<ApplyAttr>(expr)) {
    printer << stringifyLaunchOp(apply.getOp()) << '(';
    llvm::interleaveComma(
        apply.getOperands(), printer.getStream(),
        [&](Attribute operand) { printExpr(printer, operand); });
    printer << ')';
  }
}

Attribute ApplyAttr::parse(AsmParser &parser, Type) {
  Attribute expr;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseExpr(parser, expr) || parser.parseGreater()) {
    return {};
  }
  if (!isa<ApplyAttr>(expr)) {
    parser.emitError(loc, "expected an operator and its operands, got ")
        << expr;
    return {};
  }
  return expr;
}

void ApplyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printExpr(printer, *this);
  printer << '>';
}

ParseResult launch::parseStride(AsmParser &parser, Attribute &expr) {
  return succeeded(parser.parseOptionalKeyword("stride"))
             ? parseExpr(parser, expr)
             : ParseResult(success());
}

void launch::printStride(AsmPrinter &printer, Attribute expr) {
  if (expr) {
    printer << " stride ";
    printExpr(printer, expr);
  }
}

ParseResult launch::parseAlignedRows(AsmParser &parser, bool &isAligned) {
  isAligned = succeeded(parser.parseOptionalKeyword("aligned_rows"));
  return success();
}

void launch::printAlignedRows(AsmPrinter &printer, bool isAligned) {
  if (isAligned) {
    printer << " aligned_rows";
  }
}
