// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the ops that compute the gradient of a capture, or of the scale. The
// positions that index the capture decide which ops.
#ifndef ATTN_PASSES_KERNELS_BACKWARD_CAPTUREGRADIENT_H
#define ATTN_PASSES_KERNELS_BACKWARD_CAPTUREGRADIENT_H

#include "attn/dialect/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// The value of kGradientAttr that allows sums in any order. Their bits differ
/// from run to run.
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
  /// Writes the ops before `all`, with the operands of `all`, and returns the
  /// gradient.
  mlir::FailureOr<mlir::Value> write(AttentionBwdOp all);
  /// The same for the gradient of the sinks. `sinks` are those of the function
  /// of `all`.
  mlir::Value writeOfSinks(AttentionBwdOp all, mlir::Value sinks);

private:
  mlir::InFlightDiagnostic error();
  bool isScale() { return argument == attention.getScale(); }
  bool isSinks() { return argument == attention.getSinks(); }
  /// Returns the number of the capture; null for the scale.
  mlir::IntegerAttr number();
  /// Returns the values that `region`, a copy of the score region, reads from
  /// the capture.
  llvm::SmallVector<mlir::Value> sourcesIn(mlir::Region &region);
  /// Returns the map from (b, h, i, j) to the indices of the capture; null if
  /// the indices are others, and derivatives are added in any order.
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
