// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program of one CTA for an attn.sum_gradient.
#ifndef ATTN_PASSES_KERNELS_SUMS_SUMWRITER_H
#define ATTN_PASSES_KERNELS_SUMS_SUMWRITER_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Writes kernel `name` before the function of `op`, which has a config.
tile::KernelOp writeSumKernel(SumGradientOp op, llvm::StringRef name);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_SUMS_SUMWRITER_H
