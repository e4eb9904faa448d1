// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of wgmma in shared memory: they may be read until all four warps
// wait.

#ifndef ATTN_SIM_HAZARDS_WGMMA_TRACKER_H
#define ATTN_SIM_HAZARDS_WGMMA_TRACKER_H

#include "core/async.h"
#include "hazards/access_history.h"

namespace attn::sim {

/// A wgmma that not all four warps have issued.
struct PartialWgmma {
  uint32_t index = 0;
  uint32_t warps = 0;
  /// The knowledge that all of these warps have.
  Knowledge common;
};

struct WgmmaState {
  /// Epochs are numbers of wgmmas: the first for those that some warp has
  /// waited for, the following for each of the four warps.
  uint32_t component = 0;
  uint64_t first = 1;
  std::deque<PartialWgmma> partial;
};

class WgmmaTracker {
public:
  WgmmaTracker(ThreadKnowledge &knowledge, AccessHistory &history);

  /// `number` counts the warpgroup's operations from 1.
  void issueWgmma(const Warp &warp, const WgmmaOp &op, uint64_t number);
  void waitWgmma(const Warp &warp, uint64_t number);
  /// All threads have ended.
  void finishWgmma(const Warp &warp);

private:
  WgmmaState &groupOf(const Warp &warp);
  Knowledge commonKnowledge(const Warp &warp) const;
  /// Some rows of a matrix in shared memory.
  void visitRows(Accessor &by, const MatrixOperand &operand, uint32_t first,
                 uint32_t rows);

  ThreadKnowledge &knowledge;
  AccessHistory &history;
  std::vector<WgmmaState> groups;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_WGMMA_TRACKER_H
