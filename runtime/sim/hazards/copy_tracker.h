// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async: a thread's copies complete in the order of their issue, as far as
// any thread can know.

#ifndef ATTN_SIM_HAZARDS_COPY_TRACKER_H
#define ATTN_SIM_HAZARDS_COPY_TRACKER_H

#include "hazards/mbarrier_tracker.h"

namespace attn::sim {

/// A cp.async.
struct CopyAction {
  uint32_t shared = 0;
  uint32_t bytes = 0;
  uint64_t global = 0;
  uint32_t sourceBytes = 0;
};

/// The cp.async of a thread.
struct CopyState {
  uint32_t component = 0;
  /// The number of copies, and the number at the end of each group.
  uint32_t count = 0;
  std::vector<uint32_t> groups;
};

class CopyTracker {
public:
  CopyTracker(ThreadKnowledge &knowledge, AccessHistory &history,
              MbarrierTracker &mbarriers)
      : knowledge(knowledge), history(history), mbarriers(mbarriers) {}

  void issueCopy(const Warp &warp, unsigned lane, const CopyAction &action);
  void commitCopies(const Warp &warp, unsigned lane);
  /// Records that the lane knows all but `pending` of its groups of cp.async to
  /// be complete, or all copies.
  void waitCopies(const Warp &warp, unsigned lane, size_t pending, bool all);
  /// The number of cp.async that the lane has issued; and an arrival when those
  /// are complete.
  uint32_t countCopies(const Warp &warp, unsigned lane);
  void arriveCopies(const Warp &warp, unsigned lane, uint32_t address,
                    uint32_t count);

private:
  CopyState &copiesOf(const Warp &warp, unsigned lane);

  ThreadKnowledge &knowledge;
  AccessHistory &history;
  MbarrierTracker &mbarriers;
  /// By thread.
  std::unordered_map<uint32_t, CopyState> copies;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_COPY_TRACKER_H
