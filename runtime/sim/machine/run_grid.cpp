// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clusters of a grid, on several threads.

#include "machine/run_grid.h"

#include "core/cluster.h"
#include "hazards/tracker.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace attn::sim;

static constexpr unsigned kMaxThreads = 1024;
/// A size above 8 is not portable, but possible.
static constexpr unsigned kMaxClusterSize = 16;
static constexpr uint64_t kMaxSharedMemory = 228 * 1024;
/// The host memory for registers and local memory of the clusters that run at
/// the same time.
static constexpr uint64_t kMaxThreadState = uint64_t(4) << 30;
/// The largest number of clusters that one thread runs at the same time.
static constexpr uint64_t kResident = 3;
/// Clusters that share multiprocessors.
static constexpr uint64_t kNeighbors = 2;
/// The number of turns that one cluster may be ahead of another.
static constexpr uint64_t kMostTurns = 64;

static std::string checkCluster(const Program &program,
                                const GridLaunch &launch) {
  uint64_t size = 1;
  for (int i = 0; i < 3; ++i) {
    unsigned extent = launch.cluster[i];
    if (program.cluster[i] != 0 && extent != program.cluster[i]) {
      return "expected clusters of " + std::to_string(program.cluster[i]) +
             " CTAs in dimension " + std::to_string(i) +
             " as the kernel says, got " + std::to_string(extent);
    }
    if (extent == 0 || launch.grid[i] % extent != 0) {
      return "expected a grid of whole clusters, got " +
             std::to_string(launch.grid[i]) + " CTAs in clusters of " +
             std::to_string(extent);
    }
    size *= extent;
  }
  return size <= kMaxClusterSize ? ""
                                 : "expected at most 16 CTAs a cluster, got " +
                                       std::to_string(size);
}

/// Bytes of registers and local memory of a cluster's threads.
static uint64_t threadStateBytes(const Program &program,
                                 const GridLaunch &launch) {
  uint64_t ctas =
      uint64_t(launch.cluster[0]) * launch.cluster[1] * launch.cluster[2];
  uint64_t threads =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t warps = (threads + kLanes - 1) / kLanes;
  uint64_t registers =
      sizeof(uint32_t) * (uint64_t(program.words) + program.predicates);
  return ctas * (warps * registers + threads * program.localBytes);
}

static std::string checkMemory(const Program &program,
                               const GridLaunch &launch) {
  uint64_t used = program.dynamicShared;
  if (used > kMaxSharedMemory) {
    return "expected at most " +
           std::to_string(kMaxSharedMemory - kSharedBase) +
           " bytes of shared memory, got " + std::to_string(used - kSharedBase);
  }
  if (used + launch.dynamicShared > kMaxSharedMemory) {
    return "expected at most " + std::to_string(kMaxSharedMemory - used) +
           " bytes of dynamic shared memory, got " +
           std::to_string(launch.dynamicShared);
  }
  uint64_t bytes = threadStateBytes(program, launch);
  return bytes <= kMaxThreadState
             ? ""
             : "expected at most " + std::to_string(kMaxThreadState) +
                   " bytes of registers and local memory a cluster, got " +
                   std::to_string(bytes);
}

static std::string checkBlock(const Program &program,
                              const GridLaunch &launch) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.grid[i] == 0 || launch.block[i] == 0 ||
        launch.block[i] > kMaxThreads) {
      return "expected a grid and a block of at least 1 and at most 1024 "
             "threads in each dimension";
    }
    if (program.block[i] != 0 && launch.block[i] != program.block[i]) {
      return "expected CTAs of " + std::to_string(program.block[i]) +
             " threads in dimension " + std::to_string(i) +
             " as the kernel says, got " + std::to_string(launch.block[i]);
    }
    threads *= launch.block[i];
  }
  uint64_t most = std::min<uint64_t>(
      program.maxThreads ? program.maxThreads : kMaxThreads, kMaxThreads);
  return threads <= most ? ""
                         : "expected at most " + std::to_string(most) +
                               " threads a CTA, got " + std::to_string(threads);
}

static std::string checkRegisters(const Program &program,
                                  const SimOptions &options) {
  uint64_t got = program.registers.registerBlocks;
  return options.hazards == HazardMode::Off || got <= kMaxRegisterBlocks
             ? ""
             : "expected a kernel of at most " +
                   std::to_string(kMaxRegisterBlocks) +
                   " registers times blocks of instructions, got " +
                   std::to_string(got) + "; hazards=off executes it";
}

/// Returns the reason why the launch is impossible, or "".
static std::string checkLaunch(const Program &program, const GridLaunch &launch,
                               const SimOptions &options) {
  std::string problem = checkBlock(program, launch);
  if (problem.empty()) {
    problem = checkCluster(program, launch);
  }
  if (problem.empty()) {
    problem = checkMemory(program, launch);
  }
  if (problem.empty()) {
    problem = checkRegisters(program, options);
  }
  if (!problem.empty()) {
    return problem;
  }
  if (launch.params.size() != program.paramBytes) {
    return "expected " + std::to_string(program.paramBytes) +
           " bytes of parameters, got " + std::to_string(launch.params.size());
  }
  return "";
}

namespace {

/// The launch that runs, and its options.
struct GridRun {
  const Program &program;
  const GridLaunch &launch;
  const GlobalMemory &memory;
  const SimOptions &options;
  /// Null if hazards are not tracked.
  GridHazards *hazards;
};

/// State that the threads share.
struct Pool {
  explicit Pool(uint64_t count) : queue(count) {}

  ClusterQueue queue;
  std::atomic<uint64_t> firstFailed{Cluster::kNoneFailed};
  std::mutex mutex;
  GridResult result;
};

} // namespace

/// Returns the number of clusters that a thread runs at the same time; ordered
/// schedules run one after the other, as on a small machine.
static uint64_t countResident(const SimOptions &options, uint64_t bytes) {
  if (options.contendsTensorMemory) {
    return kNeighbors;
  }
  bool isRandom = options.seed > 1;
  return isRandom ? std::clamp<uint64_t>(kMaxThreadState / bytes, 1, kResident)
                  : 1;
}

namespace {

/// The clusters that one host thread runs.
class Worker {
public:
  Worker(const GridRun &run, Pool &pool, uint64_t resident)
      : run(run), pool(pool), resident(resident), random(run.options.seed) {}

  void work() {
    for (;;) {
      while (clusters.size() < resident && startNext()) {
      }
      if (clusters.empty()) {
        return;
      }
      runOne();
    }
  }

private:
  /// Returns false if there is no other cluster that is needed.
  bool startNext() {
    std::optional<uint64_t> number = pool.queue.take();
    while (number && *number > pool.firstFailed) {
      number = pool.queue.take();
    }
    if (!number) {
      return false;
    }
    clusters.push_back(std::make_unique<Cluster>(
        run.program, run.launch, run.memory, run.options, pool.queue, *number));
    if (run.hazards) {
      HazardTracker::attach(*clusters.back(), *run.hazards);
    }
    setNeighbors();
    return true;
  }

  void setNeighbors() {
    if (run.options.contendsTensorMemory && clusters.size() == kNeighbors) {
      clusters[0]->setNeighbor(clusters[1].get());
      clusters[1]->setNeighbor(clusters[0].get());
    }
  }

  void end(size_t index) {
    retire(*clusters[index]);
    clusters.erase(clusters.begin() + ptrdiff_t(index));
    if (run.options.contendsTensorMemory && !clusters.empty()) {
      clusters[0]->setNeighbor(nullptr);
    }
  }

  void runOne() {
    bool isAlone = clusters.size() == 1;
    bool isOrdered = run.options.seed < 2;
    size_t index = isAlone     ? 0
                   : isOrdered ? turn++ % clusters.size()
                               : random.below(clusters.size());
    uint64_t turns = isAlone     ? kMostTurns
                     : isOrdered ? 1
                                 : 1 + random.below(kMostTurns);
    for (uint64_t i = 0; i < turns; ++i) {
      if (!clusters[index]->run(pool.firstFailed)) {
        end(index);
        return;
      }
    }
  }

  void retire(const Cluster &cluster) {
    std::lock_guard<std::mutex> lock(pool.mutex);
    pool.result.warpInstructions += cluster.getInstructionCount();
    cluster.mergeReports(pool.result.reports);
    if (!cluster.getFailure().empty() &&
        cluster.getNumber() < pool.firstFailed) {
      pool.firstFailed = cluster.getNumber();
      pool.result.failure = cluster.getFailure();
    }
  }

  const GridRun &run;
  Pool &pool;
  const uint64_t resident;
  Random random;
  size_t turn = 0;
  std::vector<std::unique_ptr<Cluster>> clusters;
};

} // namespace

/// The launch after this one waits for its end, and so for the one before only
/// if this one does.
static void addUnawaited(HazardMode mode, GridResult &result) {
  std::string text = "the launch ends, and no thread of it has waited for the "
                     "launches before" +
                     ruleSuffix(Rule::RaceLaunch);
  if (mode != HazardMode::Error) {
    result.reports.add({Rule::RaceLaunch, kNone, kNone}, {text, 0});
  } else if (result.failure.empty()) {
    result.failure = text;
  }
}

GridResult attn::sim::runGrid(const Program &program,
                              const GridLaunch &requested,
                              const GlobalMemory &memory,
                              const SimOptions &options) {
  GridResult refused;
  GridLaunch launch = requested;
  // A launch without a cluster size uses the kernel's.
  bool silent = launch.cluster[0] == 1 && launch.cluster[1] == 1 &&
                launch.cluster[2] == 1;
  if (silent && program.cluster[0] != 0) {
    std::copy_n(program.cluster, 3, launch.cluster);
  }
  refused.failure = checkLaunch(program, launch, options);
  if (!refused.failure.empty()) {
    return refused;
  }
  uint64_t count = uint64_t(launch.grid[0] / launch.cluster[0]) *
                   (launch.grid[1] / launch.cluster[1]) *
                   (launch.grid[2] / launch.cluster[2]);
  Pool pool(count);
  if (options.seed > 1 && launch.resident && count > launch.resident) {
    Random random(options.seed);
    pool.queue.mix(random);
  }
  uint64_t threads =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  uint64_t bytes = std::max<uint64_t>(1, threadStateBytes(program, launch));
  uint64_t resident = countResident(options, bytes);
  threads = std::min(threads, kMaxThreadState / (bytes * resident));
  uint64_t most = options.contendsTensorMemory ? count / kNeighbors : count;
  threads = std::clamp<uint64_t>(threads, 1, std::max<uint64_t>(1, most));
  std::vector<std::thread> others;
  std::unique_ptr<GridHazards> hazards;
  if (options.hazards != HazardMode::Off) {
    hazards = std::make_unique<GridHazards>(options.ordersSums);
  }
  GridRun all{program, launch, memory, options, hazards.get()};
  auto run = [&] { Worker(all, pool, resident).work(); };
  for (uint64_t i = 1; i < threads; ++i) {
    others.emplace_back(run);
  }
  run();
  for (std::thread &other : others) {
    other.join();
  }
  if (launch.dependent && hazards && !hazards->awaitsPrevious) {
    addUnawaited(options.hazards, pool.result);
  }
  return pool.result;
}
