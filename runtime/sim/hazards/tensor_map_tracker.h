// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps that the grid itself writes: they may be used only after a fence
// that acquires them.

#ifndef ATTN_SIM_HAZARDS_TENSOR_MAP_TRACKER_H
#define ATTN_SIM_HAZARDS_TENSOR_MAP_TRACKER_H

#include "hazards/access_history.h"

namespace attn::sim {

/// The fences that acquire a tensor map.
struct TensorMapState {
  /// Epochs count the fences.
  uint32_t component = 0;
  uint32_t fences = 0;
  /// By the bits of writes to the map: the first fence that saw them.
  std::map<uint32_t, uint32_t> seen;
};

class TensorMapTracker {
public:
  TensorMapTracker(ThreadKnowledge &knowledge, AccessHistory &history)
      : knowledge(knowledge), history(history) {}

  /// Later uses of the tensor map at a global address see the writes that are
  /// known here.
  void acquireTensorMap(const Warp &warp, unsigned lane, uint64_t address);
  /// The tensor map at a global address is about to be used.
  void useTensorMap(const Warp &warp, unsigned lane, uint64_t address);

private:
  ThreadKnowledge &knowledge;
  AccessHistory &history;
  /// By global address.
  std::unordered_map<uint64_t, TensorMapState> maps;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_TENSOR_MAP_TRACKER_H
