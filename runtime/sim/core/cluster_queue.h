// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clusters of a grid that have not started. Host threads take them to run
// them, and running clusters to cancel them and do their work themselves.

#ifndef ATTN_SIM_CORE_CLUSTER_QUEUE_H
#define ATTN_SIM_CORE_CLUSTER_QUEUE_H

#include "core/random.h"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>

namespace attn::sim {

class ClusterQueue {
public:
  explicit ClusterQueue(uint64_t count) : count(count) {}

  /// Lets clusters start in an order that `random` chooses.
  void mix(Random &random) {
    if (count > UINT32_MAX) {
      return; // products of two numbers would overflow
    }
    offset = random.below(count);
    do {
      stride = 1 + random.below(count);
    } while (std::gcd(stride, count) != 1);
  }

  /// Removes the first cluster and returns its number; nothing if all have
  /// been taken.
  std::optional<uint64_t> take() {
    uint64_t turn = next++;
    return turn < count ? std::optional((turn * stride + offset) % count)
                        : std::nullopt;
  }

private:
  const uint64_t count;
  uint64_t stride = 1;
  uint64_t offset = 0;
  std::atomic<uint64_t> next{0};
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CLUSTER_QUEUE_H
