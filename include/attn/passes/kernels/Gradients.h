// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_KERNELS_GRADIENTS_H
#define ATTN_PASSES_KERNELS_GRADIENTS_H

#include "attn/support/GradientRequest.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// Marks the arguments of the functions with an `attn.attention` whose
/// gradients are requested, as `attn-differentiate` with `marked` finds them.
llvm::LogicalResult requestGradients(mlir::ModuleOp module,
                                     const GradientRequest &request);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_GRADIENTS_H
