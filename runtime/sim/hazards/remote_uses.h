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

class RemoteUses {
public:
  explicit RemoteUses(ThreadKnowledge &knowledge);

  /// A lane is about to use the shared memory of a CTA, possibly another's.
  /// `ends`: the use is complete at the lane's next release.
  void useCta(const Accessor &by, uint32_t address, bool ends);
  /// Checks that all uses of a CTA's shared memory by others are ordered before
  /// its end.
  void finishRemote(uint32_t rank);

private:
  ThreadKnowledge &knowledge;
  /// For each CTA, the last use by each thread of another CTA.
  std::vector<std::map<uint32_t, RemoteUse>> uses;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REMOTE_USES_H
