// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Launch.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

#include "attn/dialect/LaunchDialect.cpp.inc"
#include "attn/dialect/LaunchEnums.cpp.inc"
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
                                  ArrayRef<FloatAttr> bounds) {
  for (FloatAttr bound : bounds) {
    double value = bound.getValueAsDouble();
    if (!bound.getType().isF64() || !(value >= 0 && value < 1)) {
      return emitError() << "expected an f64 from 0 to below 1, got " << bound;
    }
  }
  return success();
}

LogicalResult NumericsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   FloatAttr scoreRelative, FloatAttr oRelative,
                                   FloatAttr oPerKey, FloatAttr flush,
                                   FloatAttr lseRelative, FloatAttr lseAbsolute,
                                   FloatAttr lsePerRootKey) {
  return verifyBounds(emitError, {scoreRelative, oRelative, oPerKey, flush,
                                  lseRelative, lseAbsolute, lsePerRootKey});
}

LogicalResult GradientNumericsAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, FloatAttr scoreRelative,
    FloatAttr exponential, FloatAttr exponentRelative, FloatAttr flush,
    FloatAttr dpRelative, FloatAttr deltaRelative, FloatAttr lse2Relative,
    FloatAttr operations, FloatAttr perProduct, FloatAttr perAddition,
    FloatAttr rounding, FloatAttr least) {
  return verifyBounds(emitError,
                      {scoreRelative, exponential, exponentRelative, flush,
                       dpRelative, deltaRelative, lse2Relative, operations,
                       perProduct, perAddition, rounding, least});
}
