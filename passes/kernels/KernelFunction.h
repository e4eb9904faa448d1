// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that passes turn into kernels, or into other functions.
#ifndef ATTN_PASSES_KERNELS_KERNELFUNCTION_H
#define ATTN_PASSES_KERNELS_KERNELFUNCTION_H

#include "attn/dialect/Launch.h"
#include "attn/dialect/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// On a function: the sums that its kernels share may be summed in any order.
constexpr llvm::StringLiteral kAnyOrderAttr = "attn.any_order";

/// Checks that `func` is a function around `op`: beside it, it has constants
/// and `func.return` alone, the operands of `op` are its arguments, all
/// of which `op` uses, and its results are those of `op`.
llvm::LogicalResult checkKernelFunction(mlir::func::FuncOp func,
                                        mlir::Operation *op);

/// Replaces each function around an op for which `isOfKernel` holds by the
/// kernel that `write` writes before it. The op has a config.
llvm::LogicalResult replaceFunctions(
    mlir::ModuleOp module,
    llvm::function_ref<bool(mlir::Operation *)> isOfKernel,
    llvm::function_ref<mlir::FailureOr<tile::KernelOp>(mlir::func::FuncOp,
                                                       mlir::Operation *)>
        write);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_KERNELFUNCTION_H
