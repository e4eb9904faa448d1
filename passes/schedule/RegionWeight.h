// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compile time of score and mask regions: each op is compiled once for
// every score that a thread holds.
#ifndef ATTN_PASSES_REGIONWEIGHT_H
#define ATTN_PASSES_REGIONWEIGHT_H

#include "attn/dialect/Attn.h"

namespace attn {

/// Returns the weight of the regions of `op`: an addition weighs 1.
int64_t weighRegions(AttentionOp op);

/// The limit on the code of all kernels of a problem: the weight of its regions
/// times the keys in a block, summed over the kernels. The assembler needs
/// about 3 s for it at 2.3 GHz.
constexpr int64_t kMostRegionCode = 80 * 1024;

} // namespace attn

#endif // ATTN_PASSES_REGIONWEIGHT_H
