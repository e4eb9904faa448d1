// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a CTA, and its scheduler.

#include "core/cluster.h"
#include "core/presets.h"

#include <algorithm>

using namespace attn::sim;

std::array<uint32_t, 3> attn::sim::findPosition(const GridLaunch &launch,
                                                uint64_t cluster,
                                                uint32_t rank) {
  std::array<uint32_t, 3> position;
  for (size_t i = 0; i < 3; ++i) {
    uint32_t extent = launch.cluster[i];
    uint32_t clusters = launch.grid[i] / extent;
    position[i] = uint32_t(cluster % clusters) * extent + rank % extent;
    cluster /= clusters;
    rank /= extent;
  }
  return position;
}

Cta::Cta(const Program &program, const GridLaunch &launch,
         const GlobalMemory &memory, const SimOptions &options,
         Cluster &cluster, uint64_t clusterNumber, uint32_t rank)
    : program(program), launch(launch), cluster(cluster), rank(rank),
      position(findPosition(launch, clusterNumber, rank)),
      number(position[0] +
             uint64_t(launch.grid[0]) *
                 (position[1] + uint64_t(launch.grid[1]) * position[2])),
      threads(launch.block[0] * launch.block[1] * launch.block[2]),
      sums(options.sums), reports(program, launch, options.hazards, number),
      registers(program, threads), global(memory),
      inFlight(*this, options, random), params(launch.params),
      randomly(options.seed > 1), slowness(uint64_t(1) << options.seed % 6),
      random(options.seed * 0x9e3779b97f4a7c15 + number + 1),
      budget(options.budget) {
  sharedBytes.assign(program.dynamicShared - kSharedBase + launch.dynamicShared,
                     kSharedPoison);
  localBytes.assign(uint64_t(program.localBytes) * threads, kSharedPoison);
  makeWarps();
  if (options.observers) {
    observer = options.observers->watch(*this);
  }
}

void Cta::makeWarps() {
  for (uint32_t first = 0; first < threads; first += kLanes) {
    uint32_t count = std::min<uint32_t>(kLanes, threads - first);
    uint32_t lanes = count == kLanes ? kAllLanes : (1u << count) - 1;
    warps.push_back(
        std::make_unique<Warp>(*this, uint32_t(warps.size()), lanes));
    fillPresets(*warps.back());
  }
}

Cta *Cta::findOwner(uint32_t address, std::string &problem) {
  uint32_t owner = address >> kSharedRankShift;
  return owner == rank ? this : cluster.findRank(owner, problem);
}

uint8_t *Cta::resolve(Space space, uint64_t address, uint32_t bytes, bool write,
                      const Warp &warp, unsigned lane, std::string &problem) {
  space = classify(space, address);
  uint8_t *found = nullptr;
  const char *name = "global";
  if (space == Space::Shared || space == Space::SharedCluster) {
    name = space == Space::Shared ? "shared" : "shared::cluster";
    if (space == Space::Shared && address >> kSharedRankShift != rank) {
      problem = "shared address " + toHex(address) +
                " is not of this CTA, which has rank " + std::to_string(rank) +
                " (.shared::cluster accesses others)" +
                ruleSuffix(Rule::Bounds);
      return nullptr;
    }
    Cta *owner = findOwner(uint32_t(address), problem);
    if (!owner) {
      return nullptr;
    }
    found = address <= UINT32_MAX ? owner->shared(uint32_t(address), bytes)
                                  : nullptr;
  } else if (space == Space::Global) {
    found = global.find(address, bytes);
  } else if (space == Space::Param) {
    name = "param";
    bool inside = address <= params.size() && bytes <= params.size() - address;
    found = inside && !write ? params.data() + address : nullptr;
  } else {
    name = "local";
    bool inside =
        address <= program.localBytes && bytes <= program.localBytes - address;
    uint64_t thread = warp.index * kLanes + lane;
    found = inside ? localBytes.data() + thread * program.localBytes + address
                   : nullptr;
  }
  if (!found) {
    char text[128];
    std::snprintf(text, sizeof(text), "%s of %u bytes at %s address 0x%llx",
                  write ? "write" : "read", bytes, name,
                  static_cast<unsigned long long>(address));
    problem = std::string(text) + " is out of bounds";
    if (space == Space::Global) {
      problem += ": " + global.describe(address);
    }
    problem += ruleSuffix(Rule::Bounds);
  }
  return found;
}

Mbarrier *Cta::findMbarrier(uint32_t address, std::string &problem) {
  if (address % 8 != 0 || !shared(address, 8)) {
    problem = "no mbarrier can be at shared address " + toHex(address) +
              ruleSuffix(Rule::MbarrierAddress);
    return nullptr;
  }
  return &mbarriers[address];
}

void Cta::storeMbarrier(uint32_t address, const Mbarrier &barrier) {
  uint64_t image = packMbarrier(barrier);
  std::memcpy(shared(address, 8), &image, sizeof(image));
  ++changes;
}

/// Returns the next warp that may run: in order, or any. Null if there is none.
Warp *Cta::pickWarp() {
  size_t first = randomly ? random.below(warps.size()) : turn;
  for (size_t i = 0; i < warps.size(); ++i) {
    Warp &warp = *warps[(first + i) % warps.size()];
    if (!warp.isDone() && warp.mayRun()) {
      turn = (first + i + 1) % warps.size();
      return &warp;
    }
  }
  return nullptr;
}

uint64_t Cta::readClock() const {
  uint64_t steps = 0;
  for (const auto &warp : warps) {
    steps += warp->steps;
  }
  return steps;
}

bool Cta::isDone() const {
  return std::all_of(warps.begin(), warps.end(),
                     [](const auto &warp) { return warp->isDone(); });
}

bool Cta::takeTurn() {
  constexpr uint64_t longQuantum = 2000;
  constexpr uint64_t manyPolls = 256;
  bool completes = randomly && random.below(slowness) == 0;
  if (polls >= manyPolls) {
    polls = 0;
    completes = true;
  }
  // Another CTA may have waited for it.
  bool hasCompleted = completes && inFlight.completeOne();
  Warp *warp = pickWarp();
  if (!warp) {
    return hasCompleted;
  }
  uint64_t quantum = randomly ? 1 + random.below(512) : longQuantum;
  uint64_t before = quantum;
  warp->run(quantum);
  instructions += before - quantum;
  if (instructions > budget && !reports.hasFailed()) {
    reports.fail(warp->index, warp->now.pc, kLanes,
                 "no end within the budget of " + std::to_string(budget) +
                     " instructions, which option 'budget' raises (livelock?)" +
                     ruleSuffix(Rule::Livelock));
  }
  return true;
}
