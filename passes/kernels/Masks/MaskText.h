// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intervals of keys as text for people.
#ifndef ATTN_PASSES_KERNELS_MASKS_MASKTEXT_H
#define ATTN_PASSES_KERNELS_MASKS_MASKTEXT_H

#include "KeyInterval.h"

namespace attn {

/// Returns text like "keys from 0 to min(length[b], i + 1)". `names` are those
/// of the captures; b, h and i are the batch, the head and the query.
std::string describe(const KeyInterval &interval, mlir::Region &mask,
                     llvm::ArrayRef<std::string> names);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_MASKTEXT_H
