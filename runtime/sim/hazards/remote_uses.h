// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that CTAs exist while others use their shared memory.

#ifndef ATTN_SIM_HAZARDS_REMOTE_USES_H
#define ATTN_SIM_HAZARDS_REMOTE_USES_H

#include "hazards/access_report.h"
#include "hazards/thread_knowledge.h"

namespace attn::sim {

/// A use of another CTA's shared memory.
struct RemoteUse {
  const Warp *warp = nullptr;
  uint32_t pc = 0;
  uint32_t lane = 0;
  uint32_t epoch = 0;
};

/// A tcgen05.commit for an mbarrier of another CTA.
struct RemoteCommit {
  RemoteUse use;
  /// The last operation of the queue that it waits for.
  uint32_t operation = 0;
  uint32_t operationEpoch = 0;
};

class MbarrierSignals;

class RemoteUses {
public:
  explicit RemoteUses(ThreadKnowledge &knowledge);

  /// A lane is about to use the shared memory of a CTA, possibly another's.
  /// `ends`: the use is complete at the lane's next release.
  void useCta(const Accessor &by, uint32_t address, bool ends);
  /// A lane issues a tcgen05.commit that will arrive at `address`, possibly of
  /// another CTA, once its operation of a component and epoch is complete.
  void addCommit(const Accessor &by, uint32_t address, uint32_t operation,
                 uint32_t operationEpoch);
  /// Checks that all uses of a CTA's shared memory by others are ordered before
  /// its end.
  void finishRemote(uint32_t rank, const MbarrierSignals &signals);

private:
  void finishCommits(uint32_t rank, const Knowledge &known,
                     const MbarrierSignals &signals);

  ThreadKnowledge &knowledge;
  /// For each CTA, the last use by each thread of another CTA.
  std::vector<std::map<uint32_t, RemoteUse>> uses;
  /// For each CTA, by address and thread, the last commit for an mbarrier.
  std::vector<std::map<std::pair<uint32_t, uint32_t>, RemoteCommit>> commits;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REMOTE_USES_H
