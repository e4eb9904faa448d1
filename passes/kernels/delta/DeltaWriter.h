// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program of one CTA for an attn.delta: a block of rows, without a
// loop.
#ifndef ATTN_PASSES_KERNELS_DELTA_DELTAWRITER_H
#define ATTN_PASSES_KERNELS_DELTA_DELTAWRITER_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Writes kernel `name` before the function of `delta`, which has a config.
tile::KernelOp writeDeltaKernel(DeltaOp delta, llvm::StringRef name);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_DELTA_DELTAWRITER_H
