// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel is tried with.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCCASES_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCCASES_H

#include "SyncRun.h"

namespace attn {

/// What a kernel is tried with: the work items of a CTA, and whether the tiles
/// are followed as well.
struct SyncCase {
  llvm::SmallVector<SyncItem, 3> items;
  bool followTiles = false;
};

/// Single items with 0 or 1 block in each range of the loop, 3 in one or 3 in
/// all, whose tiles are followed; with 2 in one range, and with enough to wrap
/// every ring twice, an even and an odd number. Items that can be rejected
/// also have second runs. Where a CTA runs several, triples a, b, a of the same
/// items, of those without a block, with blocks in one range or 1 in each; and
/// two parts of items before an item that is rejected. With
/// `exhaustive`, single items, pairs and triples a, b, a with 0 to 3 blocks in
/// each range. The smallest come first.
std::vector<SyncCase> casesToTry(ws::KernelOp kernel, bool exhaustive);

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCCASES_H
