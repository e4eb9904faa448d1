// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that the clusters of a grid share: the shadow of global memory, and
// variables through which they synchronize.

#ifndef ATTN_SIM_HAZARDS_GRID_HAZARDS_H
#define ATTN_SIM_HAZARDS_GRID_HAZARDS_H

#include "hazards/knowledge.h"
#include "hazards/shadow.h"

#include <atomic>
#include <mutex>

namespace attn::sim {

/// The knowledge that strong writes to an address have released, by CTA or
/// cluster.
struct SyncVariable {
  std::map<uint64_t, Knowledge> toCta;
  std::map<uint64_t, Knowledge> toCluster;
  std::map<uint64_t, Knowledge> toDevice;
};
using SyncVariables = std::unordered_map<uint64_t, SyncVariable>;

/// For a cell that many CTAs read, two reads are kept: any writer conflicts
/// with one of them.
constexpr uint32_t kGlobalReads = 2;

struct GridHazards {
  explicit GridHazards(bool ordersSums) : ordersSums(ordersSums) {}

  /// See SimOptions.
  const bool ordersSums;
  /// Some thread waits for the launches before.
  std::atomic<bool> awaitsPrevious{false};
  /// CTAs run on several threads.
  std::mutex mutex;
  Shadow shadow{kGlobalReads};
  AccessTable accesses;
  SyncVariables variables;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_GRID_HAZARDS_H
