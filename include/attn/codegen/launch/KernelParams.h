// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of a kernel as launched: what its code uses of the arguments
// that a user gives, in one order for the code and for the launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_KERNELPARAMS_H
#define ATTN_CODEGEN_LAUNCH_KERNELPARAMS_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

struct Param {
  enum Kind { TensorMap, Pointer, Workspace, Dim, Stride, Scalar, Cut } kind;
  unsigned argument; // of the ws.kernel
  /// Of Dim and Stride; of Cut, which result of the `tile.cut`.
  int64_t dim = 0;
  // Of TensorMap: the box, and (batch, head, position, dim) to dimensions.
  mlir::RankedTensorType box;
  mlir::AffineMap map;
  int64_t ctas = 1; // that bring a share of the box each

  bool operator==(const Param &other) const {
    return kind == other.kind && argument == other.argument && dim == other.dim;
  }
};

/// All parameters of a kernel: tensor maps first, then pointers, then scalars.
/// An argument copied with two different boxes is an error.
mlir::FailureOr<llvm::SmallVector<Param>> collectParams(ws::KernelOp kernel);

/// CTAs that fill a slot together, each with a share of the tile.
int64_t sharersOf(ws::KernelOp kernel, mlir::TypedValue<ws::SlotType> slot);

/// The sizes of a tensor argument by name, or as a number where some argument
/// with a size of that name has it static.
llvm::SmallVector<std::string> dimNames(ws::KernelOp kernel, unsigned argument);

/// The size of that name: itself, or the number that an argument fixes it to.
std::string sizeNamed(ws::KernelOp kernel, llvm::StringRef name);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_KERNELPARAMS_H
