// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and registers of a CTA, and its scheduler.

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

/// Of CTA `rank` of a cluster.
static std::array<uint32_t, 3> findPosition(const GridLaunch &launch,
                                            uint64_t cluster, uint32_t rank) {
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
      registers(program, threads), global(memory), params(launch.params),
      randomly(options.seed > 1), slowness(uint64_t(1) << options.seed % 6),
      preference(Preference(options.seed / 2 % 3)),
      random(options.seed * 0x9e3779b97f4a7c15 + number + 1),
      budget(options.budget), hazardMode(options.hazards) {
  policy = options.seed == 0   ? AsyncPolicy::Late
           : options.seed == 1 ? AsyncPolicy::Early
                               : AsyncPolicy::Random;
  sharedBytes.assign(program.dynamicShared - kSharedBase + launch.dynamicShared,
                     kSharedPoison);
  localBytes.assign(uint64_t(program.localBytes) * threads, kSharedPoison);
  bulk.resize((threads + kLanes - 1) / kLanes * kLanes);
  groups.resize((threads + 127) / 128);
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

uint64_t Cta::specialValue(Special special, const Warp &warp,
                           unsigned lane) const {
  uint32_t thread = warp.index * kLanes + lane;
  const unsigned *block = launch.block;
  const uint32_t bit = 1u << lane;
  unsigned axis = 0;
  switch (special) {
  case Special::TidX:
    return thread % block[0];
  case Special::TidY:
    return thread / block[0] % block[1];
  case Special::TidZ:
    return thread / block[0] / block[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return block[unsigned(special) - unsigned(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return position[unsigned(special) - unsigned(Special::CtaidX)];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return launch.grid[unsigned(special) - unsigned(Special::NctaidX)];
  case Special::ClusteridX:
  case Special::ClusteridY:
  case Special::ClusteridZ:
    axis = unsigned(special) - unsigned(Special::ClusteridX);
    return position[axis] / launch.cluster[axis];
  case Special::NclusteridX:
  case Special::NclusteridY:
  case Special::NclusteridZ:
    axis = unsigned(special) - unsigned(Special::NclusteridX);
    return launch.grid[axis] / launch.cluster[axis];
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ:
    axis = unsigned(special) - unsigned(Special::ClusterCtaidX);
    return position[axis] % launch.cluster[axis];
  case Special::ClusterNctaidX:
  case Special::ClusterNctaidY:
  case Special::ClusterNctaidZ:
    return launch
        .cluster[unsigned(special) - unsigned(Special::ClusterNctaidX)];
  case Special::ClusterCtaRank:
    return rank;
  case Special::ClusterNctaRank:
    return cluster.size();
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.index;
  case Special::NWarpId:
    return (threads + kLanes - 1) / kLanes;
  case Special::LanemaskEq:
    return bit;
  case Special::LanemaskLe:
    return bit | (bit - 1);
  case Special::LanemaskLt:
    return bit - 1;
  case Special::LanemaskGe:
    return ~(bit - 1);
  case Special::LanemaskGt:
    return ~(bit | (bit - 1));
  case Special::NSmId:
    return 1;
  case Special::DynamicSmemSize:
    return launch.dynamicShared;
  case Special::TotalSmemSize:
    return sharedBytes.size();
  default:
    return 0;
  }
}

void Cta::fillPresets(Warp &warp) {
  for (const PresetSlot &preset : program.presets) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t value = preset.value;
      if (preset.kind == PresetSlot::Kind::Special) {
        value = specialValue(preset.special, warp, lane);
      } else if (preset.kind == PresetSlot::Kind::SharedAddress) {
        value = ownAddress(uint32_t(preset.value));
      }
      if (preset.wide) {
        warp.wide(preset.slot)[lane] = value;
      } else {
        warp.word(preset.slot)[lane] = uint32_t(value);
      }
    }
  }
  for (uint32_t slot : program.truePredicates) {
    warp.predicates[slot] = kAllLanes;
  }
  if (program.explicitClusterPredicate != kNone) {
    bool isExplicit = program.hasExplicitCluster || cluster.size() > 1;
    warp.predicates[program.explicitClusterPredicate] =
        isExplicit ? kAllLanes : 0;
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

void Cta::start(std::unique_ptr<AsyncCopy> copy) {
  copies.push_back(std::move(copy));
  if (observer) {
    observer->onIssue(*warps[copies.back()->warp], *copies.back());
  }
  if (policy == AsyncPolicy::Early) {
    completeCopy(copies.size() - 1);
  }
}

void Cta::completeCopy(size_t index) {
  std::unique_ptr<AsyncCopy> copy = std::move(copies[index]);
  copies.erase(copies.begin() + int64_t(index));
  if (observer) {
    observer->onComplete(*copy);
  }
  std::string problem = copy->complete(*this);
  ++changes;
  if (!problem.empty() && failure.empty()) {
    failure = describePlace(number, copy->warp, copy->pc, copy->lane) + ": " +
              problem;
  }
}

void attn::sim::finishGroup(BulkGroups &groups, uint64_t group) {
  uint64_t index = group - groups.oldest;
  if (index >= groups.pending.size()) {
    --groups.open;
    return;
  }
  --groups.pending[index];
  while (!groups.pending.empty() && groups.pending.front() == 0) {
    groups.pending.pop_front();
    ++groups.oldest;
  }
}

void attn::sim::commitGroup(BulkGroups &groups) {
  groups.pending.push_back(groups.open);
  groups.open = 0;
  while (!groups.pending.empty() && groups.pending.front() == 0) {
    groups.pending.pop_front();
    ++groups.oldest;
  }
}

bool attn::sim::isGroupDone(const BulkGroups &groups, size_t pending) {
  size_t count = groups.pending.size();
  for (size_t i = 0; i + pending < count; ++i) {
    if (groups.pending[i] != 0) {
      return false;
    }
  }
  return true;
}

static bool isReady(const WarpGroup &group) {
  return !group.queue.empty() && group.queue.front().issued == 0xf;
}

void Cta::completeEarly(WarpGroup &group, uint32_t firstWarp) {
  while (policy == AsyncPolicy::Early && isReady(group)) {
    completeWgmma(group, firstWarp);
  }
}

bool Cta::completeOne() {
  std::vector<size_t> ready;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (isReady(groups[i])) {
      ready.push_back(i);
    }
  }
  std::vector<size_t> readyCopies;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (copies[i]->mayComplete()) {
      readyCopies.push_back(i);
    }
  }
  size_t count = ready.size() + readyCopies.size();
  if (count == 0) {
    return false;
  }
  size_t chosen = 0;
  if (policy == AsyncPolicy::Random) {
    bool onlyCopies =
        preference == Preference::Copies ? !readyCopies.empty() : ready.empty();
    bool onlyWgmma =
        preference == Preference::Wgmma ? !ready.empty() : readyCopies.empty();
    chosen = onlyCopies  ? ready.size() + random.below(readyCopies.size())
             : onlyWgmma ? random.below(ready.size())
                         : random.below(count);
  }
  if (chosen < ready.size()) {
    completeWgmma(groups[ready[chosen]], uint32_t(4 * ready[chosen]));
  } else {
    completeCopy(readyCopies[chosen - ready.size()]);
  }
  return true;
}

/// The next warp that may run: in turn, or any. Null if there is none.
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
  bool completes = policy == AsyncPolicy::Random && random.below(slowness) == 0;
  if (polls >= manyPolls) {
    polls = 0;
    completes = true;
  }
  // Another CTA may have waited for it.
  bool hasCompleted = completes && completeOne();
  Warp *warp = pickWarp();
  if (!warp) {
    return hasCompleted;
  }
  uint64_t quantum = randomly ? 1 + random.below(512) : longQuantum;
  uint64_t before = quantum;
  warp->run(quantum);
  instructions += before - quantum;
  if (instructions > budget && failure.empty()) {
    failure = describePlace(number, warp->index, warp->now.pc, kLanes) +
              ": no end within the budget of " + std::to_string(budget) +
              " instructions, which option 'budget' raises (livelock?)" +
              ruleSuffix(Rule::Livelock);
  }
  return true;
}
