// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that passes turn into kernels, or into other functions.
#ifndef ATTN_PASSES_KERNELS_KERNELFUNCTION_H
#define ATTN_PASSES_KERNELS_KERNELFUNCTION_H

#include "attn/dialect/Launch.h"
#include "attn/dialect/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {

/// On a function: the sums that its kernels share may be summed in any order.
constexpr llvm::StringLiteral kAnyOrderAttr = "attn.any_order";

/// Checks that `func` is a function around `op`: besides `op` it contains only
/// constants and `func.return`, the operands of `op` are its arguments, `op`
/// uses all of them, and its results are those of `op`.
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

/// Does the same for functions around ops of the types `Ops`; `write` gets the
/// op and the name of the kernel.
template <typename... Ops, typename Write>
llvm::LogicalResult replaceFunctions(mlir::ModuleOp module, Write write) {
  using Written = mlir::FailureOr<tile::KernelOp>;
  return replaceFunctions(
      module, [](mlir::Operation *op) { return mlir::isa<Ops...>(op); },
      [&](mlir::func::FuncOp func, mlir::Operation *op) -> Written {
        return llvm::TypeSwitch<mlir::Operation *, Written>(op)
            .template Case<Ops...>(
                [&](auto of) -> Written { return write(of, func.getName()); });
      });
}

} // namespace attn

#endif // ATTN_PASSES_KERNELS_KERNELFUNCTION_H
