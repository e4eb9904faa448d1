// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one CTA's program for one attention.
#ifndef ATTN_PASSES_TILING_KERNELWRITER_H
#define ATTN_PASSES_TILING_KERNELWRITER_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Writes `name` before the function round `attention`, which has a config.
tile::KernelOp writeKernel(AttentionOp attention, llvm::StringRef name,
                           llvm::ArrayRef<std::string> captureNames);

} // namespace attn

#endif // ATTN_PASSES_TILING_KERNELWRITER_H
