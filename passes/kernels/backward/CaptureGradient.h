// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the ops of the gradient of a capture, or of the scale: which ops
// depends on the positions that index the capture.
#ifndef ATTN_PASSES_KERNELS_BACKWARD_CAPTUREGRADIENT_H
#define ATTN_PASSES_KERNELS_BACKWARD_CAPTUREGRADIENT_H

#include "attn/dialect/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// The value of kGradientAttr where sums may be made in any order: other bits
/// in each run.
constexpr llvm::StringLiteral kAnyOrder = "any_order";

/// Returns the type of the gradient of a capture: a number has one element.
mlir::RankedTensorType typeOfGradient(mlir::Value capture);

class CaptureGradient {
public:
  /// `capture` is an argument of `func`.
  CaptureGradient(mlir::func::FuncOp func, AttentionOp attention,
                  mlir::Value capture)
      : func(func), attention(attention),
        argument(mlir::cast<mlir::BlockArgument>(capture)) {}

  /// Checks that the gradient has a lowering.
  llvm::LogicalResult check();
  /// Writes the ops before `all`, whose operands they have, and returns the
  /// gradient.
  mlir::FailureOr<mlir::Value> write(AttentionBwdOp all);

private:
  mlir::InFlightDiagnostic error();
  bool isScale() { return argument == attention.getScale(); }
  /// Returns the number of the capture; null for the scale.
  mlir::IntegerAttr number();
  /// Returns what `region`, a copy of the score region, reads of the capture.
  llvm::SmallVector<mlir::Value> sourcesIn(mlir::Region &region);
  /// Returns the map from (b, h, i, j) to the indices of the capture; null if
  /// derivatives are added to any elements.
  mlir::FailureOr<mlir::AffineMap> findIndices();
  bool mayAddInAnyOrder();
  llvm::LogicalResult checkAnyOrder(llvm::ArrayRef<mlir::Value> sources);
  mlir::FailureOr<AttentionBwdOp> writePart(AttentionBwdOp all, Gradients kind,
                                            mlir::AffineMap indices);
  llvm::LogicalResult differentiate(AttentionBwdOp part);

  mlir::func::FuncOp func;
  AttentionOp attention;
  mlir::BlockArgument argument;
};

} // namespace attn

#endif // ATTN_PASSES_KERNELS_BACKWARD_CAPTUREGRADIENT_H
