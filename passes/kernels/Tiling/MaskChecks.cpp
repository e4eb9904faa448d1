// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskChecks.h"
#include "../RegionFacts.h"
#include "attn/dialect/Masks.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

LogicalResult attn::checkConstantBounds(Operation *op, MaskBounds kinds,
                                        ValueRange bounds) {
  for (auto [bound, operand] : llvm::zip(maskBounds(kinds), bounds)) {
    APInt constant;
    if (matchPattern(operand, m_ConstantInt(&constant)) &&
        constant.getSExtValue() < int64_t(bound.least)) {
      return op->emitOpError("expected '")
             << bound.name << "' to be at least " << bound.least << ", got "
             << constant.getSExtValue();
    }
  }
  return success();
}

LogicalResult attn::checkPrefix(Operation *op, Region &rowKeys) {
  if (hasPrefix(rowKeys) && !areKeysOrdered(rowKeys)) {
    return op->emitOpError(
        "expected keys that are proven not to fall from query to query where "
        "the row_keys region yields the end of a prefix");
  }
  return success();
}
