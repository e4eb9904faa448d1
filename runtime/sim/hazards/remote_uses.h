// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether CTAs are there when others use their shared memory.

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

  /// A lane is about to use the shared memory of a CTA, perhaps another's.
  /// `ends`: the use is over when the lane next releases.
  void useCta(const Accessor &by, uint32_t address, bool ends);
  /// Whether what others did to a CTA's shared memory is before its end.
  void finishRemote(uint32_t rank);

private:
  ThreadKnowledge &knowledge;
  /// By CTA that is used, the last use by each thread of another.
  std::vector<std::map<uint32_t, RemoteUse>> uses;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REMOTE_USES_H
