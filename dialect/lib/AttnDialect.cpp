// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/dialect/Knobs.h"

using namespace mlir;
using namespace attn;

#include "attn/dialect/AttnDialect.cpp.inc"
#include "attn/dialect/AttnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/dialect/AttnAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/AttnTypes.cpp.inc"
#include "attn/dialect/ScoreOpInterface.cpp.inc"
#define GET_OP_CLASSES
#include "attn/dialect/AttnOps.cpp.inc"

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return attribute.getName() == kConsumedAttr
             ? verifyConsumed(op, attribute.getValue())
             : success();
}

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/dialect/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/dialect/AttnOps.cpp.inc"
      >();
  attachScoreModels(*getContext());
}
