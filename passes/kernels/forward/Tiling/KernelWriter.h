// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program of one CTA for an attention.
#ifndef ATTN_PASSES_TILING_KERNELWRITER_H
#define ATTN_PASSES_TILING_KERNELWRITER_H

#include "../../ArgumentNames.h"
#include "attn/dialect/Tile.h"

namespace attn {

/// Writes kernel `name` before the function of `attention`, which has a config.
tile::KernelOp writeKernel(AttentionOp attention, llvm::StringRef name,
                           ArgumentNames names);

} // namespace attn

#endif // ATTN_PASSES_TILING_KERNELWRITER_H
