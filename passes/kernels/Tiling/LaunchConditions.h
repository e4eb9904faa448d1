// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The requirements of a kernel of attention on its launches.
#ifndef ATTN_PASSES_KERNELS_TILING_LAUNCHCONDITIONS_H
#define ATTN_PASSES_KERNELS_TILING_LAUNCHCONDITIONS_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Sets the checks of the kernel's launches.
void describeLaunches(tile::KernelOp kernel);

/// Sets all that a kernel says of the attention whose results, or gradients, it
/// computes: the checks, the keys that a query sees, and the functions and the
/// mask that the user gave.
void describeAttention(tile::KernelOp kernel, mlir::Operation *attention,
                       llvm::ArrayRef<std::string> captures);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_LAUNCHCONDITIONS_H
