// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cells of shared memory of all CTAs of a cluster, which tokens read and
// write.
#ifndef ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCCELLS_H
#define ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCCELLS_H

#include "SharedMemory.h"
#include "SyncBarriers.h"
#include "attn/dialect/ItemMemory.h"
#include "attn/passes/schedule/TokenPrograms.h"

namespace attn {

/// Every CTA of the cluster may write a share of each cell of a slot. After
/// these cells, each CTA has its mailbox and, for each verdict, one word for
/// each agent.
class SyncCells {
public:
  SyncCells(const SyncEvents &events, const SharedMemory &memory, int agents,
            int64_t ctas)
      : events(events), memory(memory), agents(agents), ctas(ctas) {}

  int count() const { return mailbox(ctas); }
  int mailbox(int64_t cta) const {
    return memory.cellCount() * ctas * ctas +
           cta * (ws::verdictRing * agents + 1);
  }
  int verdict(int64_t cta, int64_t slot, int64_t giver) const {
    return mailbox(cta) + 1 + slot * agents + giver;
  }
  /// Appends the cells of a slot or piece of a CTA.
  void append(SlotRef slot, int64_t cta, Tag tag,
              llvm::SmallVectorImpl<Access> &list) const;
  /// Appends the share of a slot that a CTA writes in all CTAs of the cluster.
  void appendShare(SlotRef slot, int64_t cta, Tag tag,
                   llvm::SmallVectorImpl<Access> &list) const;

private:
  int at(int cell, int64_t cta, int64_t sharer) const {
    return (cta * memory.cellCount() + cell) * ctas + sharer;
  }
  CellRange rangeOf(SlotRef slot) const;

  const SyncEvents &events;
  const SharedMemory &memory;
  int agents;
  int64_t ctas;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SYNCHRONIZATION_SYNCCELLS_H
