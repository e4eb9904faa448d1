// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trials of a kernel.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCCASES_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCCASES_H

#include "SyncRun.h"

namespace attn {

/// One trial: the work items of a CTA, and whether tiles are followed as well.
struct SyncCase {
  llvm::SmallVector<SyncItem, 3> items;
  bool followTiles = false;
};

/// Returns single items with 0 or 1 block in each range of the loop, with 3 in
/// one, and with 3 in all, for which tiles are followed; with 2 blocks in one
/// range, and with enough to wrap every ring twice, an even and an odd number.
/// Items that can be rejected also have second runs. If a CTA runs several
/// items, there are triples a, b, a of items without blocks, with blocks in one
/// range, or with 1 in each; and two parts of items before an item that is
/// rejected. With `exhaustive` there are single items, pairs, and triples a, b,
/// a with 0 to 3 blocks in each range. The smallest come first.
std::vector<SyncCase> casesToTry(ws::KernelOp kernel, bool exhaustive);

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCCASES_H
