// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the programs of one CTA for the sums of dQ: a block of rows, without a
// loop.
#ifndef ATTN_PASSES_KERNELS_SUMS_SUMSWRITER_H
#define ATTN_PASSES_KERNELS_SUMS_SUMSWRITER_H

#include "attn/dialect/Tile.h"

namespace attn {

/// Writes kernel `name` before the function of an op, which has a config.
tile::KernelOp writeSumsKernel(ClearSumsOp op, llvm::StringRef name);
tile::KernelOp writeSumsKernel(ConvertSumsOp op, llvm::StringRef name);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_SUMS_SUMSWRITER_H
