// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads make a section of the work items of a kernel.
#ifndef ATTN_PASSES_KERNELS_TILING_WORKSECTION_H
#define ATTN_PASSES_KERNELS_TILING_WORKSECTION_H

#include "../TileBuilder.h"

namespace attn {

/// Returns the number of heads of K and V, of so many in all batches, whose
/// `keys` of `bytesOfKey` fit `section_mib` of the config: at least one, and
/// about the same number in all sections. Null if the config names no size.
mlir::Value writeSection(TileBuilder &b, ConfigAttr config,
                         mlir::Value keyHeads, mlir::Value keys,
                         int64_t bytesOfKey);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_WORKSECTION_H
