// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/remote_uses.h"

#include "core/cluster.h"
#include "hazards/access_report.h"
#include "hazards/mbarrier_signals.h"

using namespace attn::sim;

RemoteUses::RemoteUses(ThreadKnowledge &knowledge)
    : knowledge(knowledge), uses(knowledge.cluster.size()),
      commits(knowledge.cluster.size()) {}

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

void RemoteUses::addCommit(const Accessor &by, uint32_t address,
                           uint32_t operation, uint32_t operationEpoch) {
  useCta(by, address, /*ends=*/false);
  uint32_t rank = address >> kSharedRankShift;
  if (rank != by.warp.cta.rank) {
    uint32_t thread = knowledge.componentOf(by.warp, by.lane);
    commits[rank][{address, thread}] = {
        {&by.warp, by.pc, by.lane, knowledge.threadsOf(by.warp).epoch},
        operation,
        operationEpoch};
  }
}

/// Nobody has waited for the arrival of these commits. If the CTA's threads
/// know that the operations of a commit are complete, its arrival alone is
/// outstanding, as it is at the end of known kernels.
void RemoteUses::finishCommits(uint32_t rank, const Knowledge &known,
                               const MbarrierSignals &signals) {
  for (const auto &[key, commit] : commits[rank]) {
    auto [address, thread] = key;
    if (signals.isCommitAwaited(address)) {
      continue;
    }
    bool isBehind =
        known.generic[thread] >= commit.use.epoch &&
        known.tensor.ordered[commit.operation] >= commit.operationEpoch;
    std::string cta = "the CTA of rank " + std::to_string(rank);
    report(isBehind ? Rule::ClusterArrival : Rule::ClusterExited,
           Accessor(*commit.use.warp, commit.use.pc, commit.use.lane),
           isBehind ? cta + " may exit before the arrival at its mbarrier at " +
                          toHex(address) +
                          ": it waits for the operations, but not for this"
                    : cta + " may exit before this is complete: it does not "
                            "wait for it");
  }
}

void RemoteUses::finishRemote(uint32_t rank, const MbarrierSignals &signals) {
  Knowledge known;
  for (uint32_t i = 0; i < knowledge.warpsPerCta; ++i) {
    for (const LaneView &view :
         knowledge.warps[rank * knowledge.warpsPerCta + i].views) {
      known.generic.join(view.known.generic);
      known.tensor.ordered.join(view.known.tensor.ordered);
    }
  }
  for (const auto &[component, use] : uses[rank]) {
    if (known.generic[component] < use.epoch) {
      report(Rule::ClusterExited, Accessor(*use.warp, use.pc, use.lane),
             "the CTA of rank " + std::to_string(rank) +
                 " may exit before this: it does not wait for it");
    }
  }
  finishCommits(rank, known, signals);
}
