// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the `nvx` ops; the labels are those of their descriptions.
#include "attn/dialect/Nvx.h"

using namespace mlir;
using namespace attn::nvx;

static bool isEightBit(ElementType type) {
  return type == ElementType::E4M3 || type == ElementType::E5M2;
}

static LogicalResult verifyRegisterOperandA(WgmmaOp op) {
  int64_t expected = 4 * op.getSteps();
  int64_t got = cast<VectorType>(op.getA().getType()).getNumElements();
  if (got != expected) {
    return op.emitOpError("C4: expected 'a' to have ")
           << expected << " elements (4 a k step), got " << got;
  }
  if (op.getADescHi() || op.getAOffsets() || op.getTransposeA()) {
    return op.emitOpError("C4: expected no 'a_desc_hi', 'a_offsets' or "
                          "'transpose_a' where 'a' is in registers");
  }
  return success();
}

static LogicalResult verifySharedOperandA(WgmmaOp op) {
  if (!op.getADescHi()) {
    return op.emitOpError(
        "C3: expected 'a_desc_hi' where 'a' is in shared memory");
  }
  int64_t got = op.getAOffsets() ? op.getAOffsets()->size() : 0;
  if (got != op.getSteps()) {
    return op.emitOpError("C3: expected 'a_offsets' to have ")
           << op.getSteps() << " entries (one a k step), got " << got;
  }
  return success();
}

LogicalResult WgmmaOp::verify() {
  int64_t elements = getResult().getType().getNumElements();
  if (elements % 4 != 0 || elements > 128) {
    return emitOpError("C1: expected the result to have 4, 8, ..., or 128 "
                       "elements, got ")
           << elements;
  }
  if (getSteps() == 0) {
    return emitOpError(
        "C2: expected 'b_offsets' to have at least 1 entry, got 0");
  }
  if (isEightBit(getElement()) && (getTransposeA() || getTransposeB())) {
    return emitOpError("C5: expected no transposed operand of ")
           << stringifyElementType(getElement());
  }
  if (getAcc() && getAcc().getType() != getResult().getType()) {
    return emitOpError("C6: expected 'acc' to have type ")
           << getResult().getType() << ", got " << getAcc().getType();
  }
  if (getFresh() && !getAcc()) {
    return emitOpError("C6: expected 'fresh' only with 'acc', got no 'acc'");
  }
  if (getBParts() && (getParts() < 2 || getN() % (8 * getParts()) != 0)) {
    return emitOpError("C7: expected 'b_parts' to have 2 or more entries that "
                       "divide ")
           << getN() << " columns into multiples of 8, got " << getParts();
  }
  return isAInRegisters() ? verifyRegisterOperandA(*this)
                          : verifySharedOperandA(*this);
}

LogicalResult PackOp::verify() {
  if (isEightBit(getElement())) {
    return emitOpError("C1: expected bf16 or f16, got ")
           << stringifyElementType(getElement());
  }
  int64_t source = getSource().getType().getNumElements();
  int64_t expected = 2 * getResult().getType().getNumElements();
  if (source != expected) {
    return emitOpError("C2: expected the source to have ")
           << expected << " elements (twice the result's), got " << source;
  }
  return success();
}

LogicalResult BulkReduceAddOp::verify() {
  int64_t got = getBytes();
  if (got > 0 && got % 16 == 0) {
    return success();
  }
  return emitOpError("C1: expected a positive multiple of 16 bytes, got ")
         << got;
}

LogicalResult ReduceAddOp::verify() {
  int64_t got = cast<VectorType>(getValues().getType()).getNumElements();
  if (got == 2 || got == 4) {
    return success();
  }
  return emitOpError("C1: expected 2 or 4 elements, got ") << got;
}
