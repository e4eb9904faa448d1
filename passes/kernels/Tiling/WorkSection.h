// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads make a section of the work items of a kernel.
#ifndef ATTN_PASSES_KERNELS_TILING_WORKSECTION_H
#define ATTN_PASSES_KERNELS_TILING_WORKSECTION_H

#include "../TileBuilder.h"

namespace attn {

/// Returns the number of heads of K and V in a section, at least one: so many
/// that their `keys` of `bytesOfKey` each fit the `section_mib` of the config,
/// which is not 0. Where all heads are in sections, of which there are
/// `planes` in all batches, these have about the same size.
mlir::Value headsOfSection(TileBuilder &b, ConfigAttr config,
                           mlir::Value planes, mlir::Value keys,
                           int64_t bytesOfKey);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_WORKSECTION_H
