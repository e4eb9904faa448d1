// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads make a section of the work items of a kernel.
#ifndef ATTN_PASSES_KERNELS_TILING_WORKSECTION_H
#define ATTN_PASSES_KERNELS_TILING_WORKSECTION_H

#include "../TileBuilder.h"

namespace attn {

/// Returns how many heads of K and V a section has: as many as fit the
/// `section_mib` of the config, which is not 0, but at least one. A head has
/// `keys` rows of both tensors, and all batches together have `planes` heads.
/// With `longest_first` each of these is in a section, and the sections have
/// about the same size.
mlir::Value headsOfSection(TileBuilder &b, ConfigAttr config, mlir::Value k,
                           mlir::Value v, mlir::Value planes, mlir::Value keys);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_TILING_WORKSECTION_H
