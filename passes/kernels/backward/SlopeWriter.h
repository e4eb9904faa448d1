// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the derivative of a score region beside its score: by the score that
// it receives, or by what it reads of a capture.
#ifndef ATTN_PASSES_KERNELS_BACKWARD_SLOPEWRITER_H
#define ATTN_PASSES_KERNELS_BACKWARD_SLOPEWRITER_H

#include "attn/dialect/Attn.h"

namespace attn {

/// Computes the derivative of each float, op by op from the sources to the
/// result. It is the derivative by all sources together. An op contributes to
/// it if a source reaches the op through floats.
class SlopeWriter {
public:
  /// The terminator of `region` yields its score. The sources are floats of the
  /// region, of at most 32 bits.
  SlopeWriter(mlir::Region &region, llvm::ArrayRef<mlir::Value> sources)
      : block(region.front()), b(block.getTerminator()), sources(sources) {}

  /// Appends the derivative to the values that the region yields.
  mlir::LogicalResult run();

private:
  /// The derivative of a value; null if it does not depend on a source. It may
  /// be 0 for some elements although the value depends on one.
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
  llvm::SmallVector<mlir::Value> sources;
  llvm::DenseMap<mlir::Value, Slope> slopes;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_BACKWARD_SLOPEWRITER_H
