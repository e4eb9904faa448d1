// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a property that LLVM assumes and the llvm dialect does not verify:
// constant indices are within their vectors.
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

static LogicalResult verifyPlace(Operation *op, Value vector, Value place) {
  auto type = cast<VectorType>(vector.getType());
  APInt index;
  if (type.isScalable() || !matchPattern(place, m_ConstantInt(&index)) ||
      index.ult(type.getNumElements())) {
    return success();
  }
  return op->emitOpError("expected a place below ")
         << type.getNumElements() << " in " << type << ", got "
         << llvm::toString(index, 10, /*Signed=*/true);
}

static LogicalResult verifyMask(LLVM::ShuffleVectorOp shuffle) {
  auto type = cast<VectorType>(shuffle.getV1().getType());
  for (int32_t place : shuffle.getMask()) {
    if (place < -1 || place >= 2 * type.getNumElements()) {
      return shuffle.emitOpError("expected places from -1 to ")
             << 2 * type.getNumElements() - 1 << " in two of " << type
             << ", got " << place;
    }
  }
  return success();
}

LogicalResult attn::codegen::verifyVectorPlaces(gpu::GPUModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([](LLVM::ExtractElementOp op) {
          return verifyPlace(op, op.getVector(), op.getPosition());
        })
        .Case([](LLVM::InsertElementOp op) {
          return verifyPlace(op, op.getVector(), op.getPosition());
        })
        .Case([](LLVM::ShuffleVectorOp op) { return verifyMask(op); })
        .Default(success());
  });
  return failure(result.wasInterrupted());
}
