// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_KERNELS_MASKS_BUILTINMATCH_H
#define ATTN_PASSES_KERNELS_MASKS_BUILTINMATCH_H

#include "KeyInterval.h"

namespace attn {

/// A built-in mask with numbers for its bounds, in the order of their kinds.
struct BuiltInMatch {
  MaskKind mask;
  MaskBounds bounds = MaskBounds::None;
  llvm::SmallVector<int64_t, 2> values = {};
};

/// Returns the built-in mask that admits the keys of an interval, if there is
/// one.
std::optional<BuiltInMatch> matchBuiltInMask(const KeyInterval &interval,
                                             const RegionFacts &facts);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_MASKS_BUILTINMATCH_H
