// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists of work items that a kernel is tried with.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCITEMS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCITEMS_H

#include "SyncUnroller.h"

namespace attn {

using SyncItems = llvm::SmallVector<SyncItem, 3>;

/// Lists of one item: 0 to 3 blocks in each range of the loop, and enough to
/// wrap every ring twice. Where a CTA runs several items, pairs a, b and
/// triples a, b, a as well, of items with 0 or 1 block in each range or 3 in
/// one; with `exhaustive`, of items with 0 to 3 in each. Items that can be
/// rejected are also run again. The smallest lists come first.
std::vector<SyncItems> itemsToTry(ws::KernelOp kernel, bool exhaustive);

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCITEMS_H
