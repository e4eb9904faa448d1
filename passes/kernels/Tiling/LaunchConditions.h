// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The requirements of a kernel of attention on its launches.
#ifndef ATTN_PASSES_KERNELS_TILING_LAUNCHCONDITIONS_H
#define ATTN_PASSES_KERNELS_TILING_LAUNCHCONDITIONS_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Sets the checks of the kernel's launches.
void describeLaunches(tile::KernelOp kernel);

/// Describes in the kernel which keys a query sees.
void describeSeenKeys(tile::KernelOp kernel);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_LAUNCHCONDITIONS_H
