// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the bounds of an item's ranges of key blocks say about their sizes.

#ifndef ATTN_PASSES_PIPELINING_RANGESIZE_H
#define ATTN_PASSES_PIPELINING_RANGESIZE_H

#include "mlir/IR/Value.h"

namespace attn {

/// Whether the blocks from `low` to `high`, two results of one tile.bounds, are
/// at most one for every item: a last block that the keys fill in part.
bool holdsOneBlockAtMost(mlir::Value high, mlir::Value low);

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_RANGESIZE_H
