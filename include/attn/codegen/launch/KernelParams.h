// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of a kernel at launch: the properties of the arguments that
// its code uses, in the same order for the code and for the launch plan.
#ifndef ATTN_CODEGEN_LAUNCH_KERNELPARAMS_H
#define ATTN_CODEGEN_LAUNCH_KERNELPARAMS_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

struct Param {
  enum Kind { TensorMap, Pointer, Workspace, Dim, Stride, Scalar, Cut } kind;
  unsigned argument; // of the ws.kernel
  /// For Dim and Stride; for Cut, the result of the `tile.cut`.
  int64_t dim = 0;
  // For TensorMap: the box, and the map from (batch, head, position, dim) to
  // dimensions.
  mlir::RankedTensorType box;
  mlir::AffineMap map;
  int64_t ctas = 1; // CTAs that copy a share of the box each

  bool operator==(const Param &other) const {
    return kind == other.kind && argument == other.argument && dim == other.dim;
  }
};

/// Returns all parameters of a kernel: tensor maps first, then pointers, then
/// scalars. An argument that is copied with two different boxes is an error.
mlir::FailureOr<llvm::SmallVector<Param>> collectParams(ws::KernelOp kernel);

/// Returns the number of CTAs that fill a slot together, each with a share of
/// the tile.
int64_t sharersOf(ws::KernelOp kernel, mlir::TypedValue<ws::SlotType> slot);

/// Returns the sizes of a tensor argument in expressions of the launch plan.
llvm::SmallVector<mlir::Attribute> sizesOf(ws::KernelOp kernel,
                                           unsigned argument);

/// Returns the size of that name in expressions of the launch plan.
mlir::Attribute sizeNamed(ws::KernelOp kernel, mlir::StringAttr name);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_KERNELPARAMS_H
