// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parallel loop over the host's cores.

#ifndef ATTN_TOOLS_ATTN_RUN_PARALLEL_H
#define ATTN_TOOLS_ATTN_RUN_PARALLEL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace attn::run {

/// Calls `body(begin, end)` from several threads, on chunks of at most `chunk`
/// indices that together cover [0, count).
template <typename Body>
void parallelFor(int64_t count, int64_t chunk, const Body &body) {
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t begin; (begin = next.fetch_add(chunk)) < count;) {
      body(begin, std::min(begin + chunk, count));
    }
  };
  int64_t threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, (count + chunk - 1) / chunk);
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < threads; ++i) {
    pool.emplace_back(work);
  }
  work();
  for (std::thread &thread : pool) {
    thread.join();
  }
}

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PARALLEL_H
