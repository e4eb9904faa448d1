// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates a forward kernel with its arguments and an empty body.
#ifndef ATTN_PASSES_TILING_KERNELARGUMENTS_H
#define ATTN_PASSES_TILING_KERNELARGUMENTS_H

#include "../../TileBuilder.h"
#include "../../Tiling/Dropout.h"

namespace attn {

struct KernelArguments {
  mlir::Value q, k, v, scale;
  llvm::SmallVector<mlir::Value> bounds; // in the order of the op's operands
  llvm::SmallVector<mlir::Value> captures;
  mlir::Value o, lse;
  mlir::Value sinks; // null without sinks
  Dropout dropout;
};

/// Creates the kernel of `attention` and sets `arguments` to those of its body,
/// where `b` writes afterwards.
tile::KernelOp createKernel(TileBuilder &b, AttentionOp attention,
                            llvm::StringRef name, ArgumentNames names,
                            KernelArguments &arguments);

} // namespace attn

#endif // ATTN_PASSES_TILING_KERNELARGUMENTS_H
