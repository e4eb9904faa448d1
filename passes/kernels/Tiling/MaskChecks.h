// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a mask for kernels, beyond those of the ops' verifiers.
#ifndef ATTN_PASSES_KERNELS_TILING_MASKCHECKS_H
#define ATTN_PASSES_KERNELS_TILING_MASKCHECKS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// Checks the constants among the bounds of a mask: launches check those that
/// they give.
llvm::LogicalResult checkConstantBounds(mlir::Operation *op, MaskBounds kinds,
                                        mlir::ValueRange bounds);
/// Checks that `row_keys` with the end of a prefix have an order.
llvm::LogicalResult checkPrefix(mlir::Operation *op, mlir::Region &rowKeys);

/// Checks the mask of an attn.attention or of its gradients.
template <typename Op> llvm::LogicalResult checkMask(Op op) {
  return llvm::failure(
      failed(checkPrefix(op, op.getRowKeys())) ||
      failed(checkConstantBounds(op, op.getBoundKinds(), op.getBounds())));
}

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_MASKCHECKS_H
