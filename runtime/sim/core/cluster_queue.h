// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clusters of a grid that have not started. Host threads take them to run
// them, and running clusters to cancel them and do their work themselves.

#ifndef ATTN_SIM_CORE_CLUSTER_QUEUE_H
#define ATTN_SIM_CORE_CLUSTER_QUEUE_H

#include <atomic>
#include <cstdint>
#include <optional>

namespace attn::sim {

class ClusterQueue {
public:
  explicit ClusterQueue(uint64_t count) : count(count) {}

  /// Removes the first cluster and returns its number; nothing if all have
  /// been taken.
  std::optional<uint64_t> take() {
    uint64_t number = next++;
    return number < count ? std::optional(number) : std::nullopt;
  }

private:
  const uint64_t count;
  std::atomic<uint64_t> next{0};
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CLUSTER_QUEUE_H
