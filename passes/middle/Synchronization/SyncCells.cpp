// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncCells.h"

using namespace mlir;
using namespace attn;

CellRange SyncCells::rangeOf(SlotRef slot) const {
  const SyncObject &object = events.objects()[slot.object];
  return memory.cells(object.name, slot.number % object.depth);
}

void SyncCells::append(SlotRef slot, int64_t cta, Tag tag,
                       SmallVectorImpl<Access> &list) const {
  CellRange range = rangeOf(slot);
  for (int cell = range.begin; cell < range.end; ++cell) {
    for (int64_t sharer = 0; sharer < ctas; ++sharer) {
      list.push_back({at(cell, cta, sharer), tag});
    }
  }
}

void SyncCells::appendShare(SlotRef slot, int64_t cta, Tag tag,
                            SmallVectorImpl<Access> &list) const {
  CellRange range = rangeOf(slot);
  for (int cell = range.begin; cell < range.end; ++cell) {
    for (int64_t other = 0; other < ctas; ++other) {
      list.push_back({at(cell, other, cta), tag});
    }
  }
}
