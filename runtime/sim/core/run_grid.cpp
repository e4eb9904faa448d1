// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CTAs of a grid, on several threads.

#include "core/cta.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace attn::sim;

static constexpr unsigned kMaxThreads = 1024;
static constexpr uint64_t kMaxSharedMemory = 228 * 1024;

/// Why the launch is not possible, or "".
static std::string checkLaunch(const Program &program,
                               const GridLaunch &launch) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.grid[i] == 0 || launch.block[i] == 0 ||
        launch.block[i] > kMaxThreads) {
      return "expected a grid and a block of at least 1 and at most 1024 "
             "threads in each dimension";
    }
    if (launch.cluster[i] != 1) {
      return "clusters are not supported by the simulator yet";
    }
    threads *= launch.block[i];
  }
  uint64_t most = program.maxThreads ? program.maxThreads : kMaxThreads;
  if (threads > std::min<uint64_t>(most, kMaxThreads)) {
    return "expected at most " + std::to_string(most) + " threads a CTA, got " +
           std::to_string(threads);
  }
  if (uint64_t(program.dynamicShared) + launch.dynamicShared >
      kMaxSharedMemory) {
    return "expected at most " +
           std::to_string(kMaxSharedMemory - program.dynamicShared) +
           " bytes of dynamic shared memory, got " +
           std::to_string(launch.dynamicShared);
  }
  if (launch.params.size() != program.paramBytes) {
    return "expected " + std::to_string(program.paramBytes) +
           " bytes of parameters, got " + std::to_string(launch.params.size());
  }
  return "";
}

namespace {

/// What the threads share.
struct Pool {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> firstFailed{~uint64_t(0)};
  std::mutex mutex;
  GridResult result;
};

} // namespace

static void work(const Program &program, const GridLaunch &launch,
                 const GlobalMemory &memory, const SimOptions &options,
                 GridHazards *hazards, uint64_t count, Pool &pool) {
  for (;;) {
    uint64_t number = pool.next++;
    if (number >= count || number > pool.firstFailed) {
      return;
    }
    Cta cta(program, launch, memory, options, hazards, number);
    std::string failure = cta.run();
    std::lock_guard<std::mutex> lock(pool.mutex);
    pool.result.warpInstructions += cta.getInstructionCount();
    pool.result.reports.merge(cta.getReports());
    if (!failure.empty() && number < pool.firstFailed) {
      pool.firstFailed = number;
      pool.result.failure = std::move(failure);
    }
  }
}

GridResult attn::sim::runGrid(const Program &program, const GridLaunch &launch,
                              const GlobalMemory &memory,
                              const SimOptions &options) {
  Pool pool;
  pool.result.failure = checkLaunch(program, launch);
  if (!pool.result.failure.empty()) {
    return pool.result;
  }
  uint64_t count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  uint64_t threads =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  threads = std::clamp<uint64_t>(threads, 1, count);
  std::vector<std::thread> others;
  std::unique_ptr<GridHazards> hazards;
  if (options.hazards != HazardMode::Off) {
    hazards = std::make_unique<GridHazards>();
  }
  auto run = [&] {
    work(program, launch, memory, options, hazards.get(), count, pool);
  };
  for (uint64_t i = 1; i < threads; ++i) {
    others.emplace_back(run);
  }
  run();
  for (std::thread &other : others) {
    other.join();
  }
  return pool.result;
}
