// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Launch.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

#include "attn/dialect/LaunchDialect.cpp.inc"
#include "attn/dialect/LaunchEnums.cpp.inc"

/// Parses `score_relative = 1.0e-6, o_relative = ...`, all words in order.
static ParseResult parseErrorBounds(AsmParser &parser,
                                    SmallVector<FloatAttr> &bounds,
                                    ArrayRef<StringLiteral> words) {
  for (StringLiteral word : words) {
    if ((!bounds.empty() && parser.parseComma()) || parser.parseKeyword(word) ||
        parser.parseEqual() || parser.parseAttribute(bounds.emplace_back())) {
      return failure();
    }
  }
  return success();
}

static void printErrorBounds(AsmPrinter &printer, ArrayRef<FloatAttr> bounds,
                             ArrayRef<StringLiteral> words) {
  llvm::interleaveComma(llvm::zip_equal(words, bounds), printer,
                        [&](const auto &named) {
                          const auto &[word, bound] = named;
                          printer << word << " = " << bound;
                        });
}

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/LaunchAttrs.cpp.inc"

void LaunchDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/dialect/LaunchAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/dialect/LaunchOps.cpp.inc"
      >();
}

LogicalResult
TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr,
                      Span, Promotion, ArrayRef<MapDimAttr> dims) {
  constexpr size_t mostDims = 5;
  if (dims.size() > mostDims) { // C1
    return emitError() << "expected 1 to " << mostDims
                       << " dimensions of a tensor map, got " << dims.size();
  }
  for (auto [number, dim] : llvm::enumerate(dims)) {
    bool isInnermost = number == 0;
    if (isInnermost == bool(dim.getStride())) { // C2
      return emitError() << "expected "
                         << (isInnermost ? "no stride" : "a stride")
                         << " of dimension " << number
                         << " of a tensor map, got "
                         << (isInnermost ? "one" : "none");
    }
  }
  return success();
}

LogicalResult NumberAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type type, Attribute) {
  if (type.isSignlessInteger(32) || type.isSignlessInteger(64)) {
    return success();
  }
  return emitError() << "expected a parameter of i32 or i64, got " << type;
}

/// C1 of the contracts.
static LogicalResult verifyBounds(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<FloatAttr> bounds,
                                  ArrayRef<StringLiteral> words) {
  if (bounds.size() != words.size()) {
    return emitError() << "expected " << words.size() << " bounds, got "
                       << bounds.size();
  }
  for (auto [bound, word] : llvm::zip_equal(bounds, words)) {
    double value = bound.getValueAsDouble();
    if (!bound.getType().isF64() || !(value >= 0 && value < 1)) {
      return emitError() << "expected '" << word
                         << "' to be an f64 from 0 to below 1, got " << bound;
    }
  }
  return success();
}

LogicalResult NumericsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<FloatAttr> bounds) {
  return verifyBounds(emitError, bounds, kWords);
}

LogicalResult
GradientNumericsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             ArrayRef<FloatAttr> bounds) {
  return verifyBounds(emitError, bounds, kWords);
}
