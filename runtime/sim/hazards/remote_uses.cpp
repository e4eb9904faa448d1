// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/remote_uses.h"

#include "core/cluster.h"
#include "hazards/access_report.h"

using namespace attn::sim;

RemoteUses::RemoteUses(ThreadKnowledge &knowledge)
    : knowledge(knowledge), uses(knowledge.cluster.size()) {}

void RemoteUses::useCta(const Accessor &by, uint32_t address, bool ends) {
  uint32_t rank = address >> kSharedRankShift;
  if (rank == by.warp.cta.rank) {
    return;
  }
  if (!(by.known->started >> rank & 1)) {
    report(Rule::ClusterStart, by,
           "the CTA of rank " + std::to_string(rank) +
               " may not have started: no barrier.cluster is before this");
  }
  if (ends) {
    uses[rank][knowledge.componentOf(by.warp, by.lane)] = {
        &by.warp, by.pc, by.lane, knowledge.threadsOf(by.warp).epoch};
  }
}

void RemoteUses::finishRemote(uint32_t rank) {
  Clock known;
  for (uint32_t i = 0; i < knowledge.warpsPerCta; ++i) {
    for (const LaneView &view :
         knowledge.warps[rank * knowledge.warpsPerCta + i].views) {
      known.join(view.known.generic);
    }
  }
  for (const auto &[component, use] : uses[rank]) {
    if (known[component] < use.epoch) {
      report(Rule::ClusterExited, Accessor(*use.warp, use.pc, use.lane),
             "the CTA of rank " + std::to_string(rank) +
                 " may exit before this: it does not wait for it");
    }
  }
}
