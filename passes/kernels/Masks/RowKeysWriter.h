// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an interval as the `row_keys` of an attention.
#ifndef ATTN_PASSES_KERNELS_MASKS_ROWKEYSWRITER_H
#define ATTN_PASSES_KERNELS_MASKS_ROWKEYSWRITER_H

#include "KeyInterval.h"

namespace attn {

/// Writes `row_keys` from an interval of the op's mask region, whose ops it
/// copies.
void writeRowKeys(AttentionOp op, const KeyInterval &interval,
                  const RegionFacts &facts, const SumMaker &sums);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_ROWKEYSWRITER_H
