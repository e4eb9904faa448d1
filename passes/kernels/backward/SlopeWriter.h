// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the derivative of a score region beside its score.
#ifndef ATTN_PASSES_KERNELS_BACKWARD_SLOPEWRITER_H
#define ATTN_PASSES_KERNELS_BACKWARD_SLOPEWRITER_H

#include "attn/dialect/Attn.h"

namespace attn {

/// Computes, op by op from the score to the result, the derivative of each
/// float by the score. An op has a part in it if the score reaches it through
/// floats.
class SlopeWriter {
public:
  /// The first argument of `region` is the score, which its terminator yields.
  explicit SlopeWriter(mlir::Region &region)
      : block(region.front()), b(block.getTerminator()) {}

  /// Appends the derivative to the values that the region yields.
  mlir::LogicalResult run();

private:
  /// The derivative of a value; null if it does not depend on the score. It may
  /// be 0 for some elements although the value depends on the score.
  struct Slope {
    mlir::Value value;
    bool mayVanish = false;
  };

  mlir::FailureOr<Slope> slopeOf(mlir::Operation &op);
  Slope slopeOfChoice(mlir::arith::SelectOp op);
  mlir::FailureOr<Slope> slopeByOperand(mlir::Operation &op, unsigned number);
  mlir::Value constant(mlir::Location loc, mlir::Type type, double number);
  mlir::Value inType(mlir::Location loc, mlir::Value slope, mlir::Type type);

  mlir::Block &block;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, Slope> slopes;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_BACKWARD_SLOPEWRITER_H
