// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an interval as the `row_keys` of an attention.
#ifndef ATTN_PASSES_KERNELS_MASKS_ROWKEYSWRITER_H
#define ATTN_PASSES_KERNELS_MASKS_ROWKEYSWRITER_H

#include "KeyInterval.h"

namespace attn {

/// Writes the empty region `rowKeys` from an interval of the mask region, whose
/// ops it copies.
void writeRowKeys(mlir::Region &rowKeys, mlir::Region &mask,
                  const KeyInterval &interval, const RegionFacts &facts,
                  const SumMaker &sums);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_ROWKEYSWRITER_H
