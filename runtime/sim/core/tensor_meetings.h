// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The changes that a pair of CTAs makes to its allocations of tensor memory
// together. A warp of each CTA takes part, and the n-th change of one CTA is
// the n-th of the other.

#ifndef ATTN_SIM_CORE_TENSOR_MEETINGS_H
#define ATTN_SIM_CORE_TENSOR_MEETINGS_H

#include "core/tensor_allocator.h"

namespace attn::sim {

struct TensorMeeting {
  enum class Kind : uint8_t { Allocate, Release };
  Kind kind = Kind::Allocate;
  /// By CTA of the pair: what each asks for.
  TmemAllocation wanted[2];
  /// The CTAs that have arrived, one bit each.
  uint32_t arrived = 0;
  /// The columns are allocated.
  bool isDone = false;
};

class TensorMeetings {
public:
  /// Returns the current meeting of CTA `side` of the pair, and creates it if
  /// necessary.
  TensorMeeting &current(uint32_t side) {
    if (next[side] == meetings.size()) {
      meetings.emplace_back();
    }
    return meetings[next[side]];
  }
  void leave(uint32_t side) { ++next[side]; }

private:
  std::vector<TensorMeeting> meetings;
  size_t next[2] = {0, 0};
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_TENSOR_MEETINGS_H
