// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to memory and what they conflict with.

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

HazardTracker::HazardTracker(Cluster &cluster, GridHazards &grid,
                             uint64_t number)
    : cluster(cluster), grid(grid), number(number),
      shadow(/*maxReads=*/~0u), sharedMemory{shadow, accesses, false},
      globalMemory{grid.shadow, grid.accesses, true},
      named(cluster.size() * kNamedBarriers), remoteUses(cluster.size()) {
  Cta &first = cluster.getCta(0);
  warpsPerCta = (first.threads + kLanes - 1) / kLanes;
  warps.resize(cluster.size() * warpsPerCta);
  components = uint32_t(warps.size()) * kLanes;
  for (uint32_t i = 0; i < warps.size(); ++i) {
    uint32_t rank = i / warpsPerCta;
    LaneView view;
    view.lanes = cluster.getCta(rank).getWarp(i % warpsPerCta).live;
    view.known.started = 1u << rank;
    touch(view);
    warps[i].views.push_back(std::move(view));
  }
  groups.resize(cluster.size() * ((warpsPerCta + 3) / 4));
  for (WgmmaState &group : groups) {
    group.component = components;
    components += 1 + kGroupWarps;
  }
  wordsPerCta = (kSharedBase + first.sharedView().size + 7) / 8;
  barrierWords.resize(cluster.size() * wordsPerCta);
}

Accessor HazardTracker::accessorOf(const Warp &warp, unsigned lane,
                                   uint32_t index) {
  Accessor by(warp, warp.now.pc, lane);
  by.known = &viewOf(warp, lane % kLanes).known;
  by.id = AccessId(index, lane % kLanes);
  return by;
}

uint32_t HazardTracker::addAccess(TrackedMemory &memory, const Warp &warp,
                                  Agent agent, uint32_t component,
                                  uint32_t epoch) {
  Access access;
  access.cta = warp.cta.number;
  access.cluster = number;
  access.rank = uint8_t(warp.cta.rank);
  access.pc = warp.now.pc;
  access.warp = warp.index;
  access.component = component;
  access.epoch = epoch;
  access.agent = agent;
  return memory.accesses.add(access);
}

/// The access of the current instruction; a read that is repeated is one.
uint32_t HazardTracker::threadAccess(TrackedMemory &memory, const Warp &warp) {
  WarpThreads &threads = threadsOf(warp);
  bool mayRepeat = !action.writes && !memory.isGlobal;
  if (mayRepeat && threads.readPc == warp.now.pc &&
      threads.readEpoch == threads.epoch) {
    return threads.readIndex;
  }
  uint32_t index = addAccess(memory, warp, Agent::Thread,
                             componentOf(warp, /*lane=*/0), threads.epoch);
  memory.accesses[index].scope = action.scope;
  memory.accesses[index].readOnly = action.readOnly;
  if (mayRepeat) {
    threads.readPc = warp.now.pc;
    threads.readEpoch = threads.epoch;
    threads.readIndex = index;
  }
  return index;
}

void HazardTracker::begin(const Warp &, const MemoryAction &what) {
  action = what;
  sharedIndex = 0;
  globalIndex = 0;
}

void HazardTracker::access(const Warp &warp, unsigned lane, Space space,
                           uint64_t address, uint32_t bytes) {
  space = classify(space, address);
  if (isShared(space)) {
    useCta(accessorOf(warp, lane), uint32_t(address), /*ends=*/true);
    sharedIndex = sharedIndex ? sharedIndex : threadAccess(sharedMemory, warp);
    Accessor by = accessorOf(warp, lane, sharedIndex);
    by.reads = action.reads;
    by.writes = action.writes;
    bool isRemote = address >> kSharedRankShift != warp.cta.rank;
    if (isRemote && action.writes) {
      threadsOf(warp).wroteRemoteAt[lane] = threadsOf(warp).epoch;
    }
    visitShared(by, uint32_t(address), bytes);
    if (action.scope != Scope::None) {
      synchronize(warp, lane, variables[address]);
    }
  } else if (space == Space::Global) {
    std::lock_guard<std::mutex> lock(grid.mutex);
    globalIndex = globalIndex ? globalIndex : threadAccess(globalMemory, warp);
    Accessor by = accessorOf(warp, lane, globalIndex);
    by.reads = action.reads;
    by.writes = action.writes;
    visit(globalMemory, by, address, bytes);
    if (action.scope != Scope::None) {
      synchronize(warp, lane, grid.variables[address]);
    }
  }
}

bool HazardTracker::isOwn(const Accessor &by, const Access &other,
                          unsigned lane) const {
  return by.lane < kLanes && other.cluster == number &&
         other.agent == Agent::Thread &&
         other.component == componentOf(by.warp, 0) && by.lane == lane;
}

HazardTracker::Order HazardTracker::compare(const Accessor &by,
                                            const Access &other, unsigned lane,
                                            bool isGlobal) const {
  if (other.epoch == kPending) {
    return Order::None;
  }
  static const Clock nothing;
  const Clock *generic = &by.known->generic;
  const Clock *async =
      isGlobal ? &by.known->asyncGlobal : &by.known->asyncShared;
  if (other.cluster != number) {
    auto found = by.known->remote.find(other.cluster);
    bool known = found != by.known->remote.end();
    generic = known ? &found->second.generic : &nothing;
    async = known ? &found->second.asyncGlobal : &nothing;
  }
  bool ofThread = other.agent == Agent::Thread;
  uint32_t component = other.component + (ofThread ? lane : 0);
  bool own = isOwn(by, other, lane);
  if (!own && (*generic)[component] < other.epoch) {
    return Order::None;
  }
  for (uint32_t warp = 1; other.agent == Agent::Wgmma && warp <= kGroupWarps;
       ++warp) {
    if ((*generic)[component + warp] < other.epoch) {
      return Order::SomeWarps;
    }
  }
  bool isGeneric = ofThread || other.agent == Agent::Copy;
  if (!by.isAsync || !isGeneric || (*async)[component] >= other.epoch) {
    return Order::Before;
  }
  const WarpThreads &threads = threadsOf(by.warp);
  uint32_t fenced = !own       ? 0
                    : isGlobal ? threads.fencedGlobal[lane]
                               : threads.fencedShared[lane];
  return fenced >= other.epoch ? Order::Before : Order::NoProxyFence;
}

/// Strong accesses whose scopes have both do not race.
static bool areMorallyStrong(const Access &a, const Access &b) {
  Scope needed = a.cta == b.cta           ? Scope::Cta
                 : a.cluster == b.cluster ? Scope::Cluster
                                          : Scope::Device;
  return a.scope >= needed && b.scope >= needed;
}

static Rule chooseRule(const Access &other, bool isGlobal, bool wrote) {
  switch (other.agent) {
  case Agent::Thread:
    break;
  case Agent::Copy:
    if (wrote) {
      return Rule::CopyNotAwaited;
    }
    break;
  case Agent::Load:
    if (wrote) {
      return Rule::LoadNotAwaited;
    }
    break;
  case Agent::Store:
    return wrote ? Rule::StoreNotAwaited : Rule::StoreSource;
  case Agent::Wgmma:
    return Rule::WgmmaSource;
  }
  return isGlobal ? Rule::RaceGlobal : Rule::RaceShared;
}

void HazardTracker::check(TrackedMemory &memory, Accessor &by, AccessId id,
                          bool wrote, uint64_t address) {
  if (id == by.before) {
    return;
  }
  const Access &other = memory.accesses[id];
  const Access &self = memory.accesses[by.id];
  bool sameInstruction = id.index() == by.id.index();
  if (sameInstruction || areMorallyStrong(self, other)) {
    return;
  }
  if (self.readOnly || (other.readOnly && by.writes)) {
    reportConflict(Rule::RaceReadOnly, memory, by, id, wrote, address);
    return;
  }
  switch (compare(by, other, id.lane(), memory.isGlobal)) {
  case Order::Before:
    by.before = id;
    return;
  case Order::NoProxyFence:
    reportConflict(wrote && !by.writes ? Rule::ProxyFence : Rule::ProxyReuse,
                   memory, by, id, wrote, address);
    return;
  case Order::SomeWarps:
    reportConflict(Rule::WgmmaWait, memory, by, id, wrote, address);
    return;
  case Order::None:
    reportConflict(chooseRule(other, memory.isGlobal, wrote), memory, by, id,
                   wrote, address);
    return;
  }
}

bool HazardTracker::isFresh(uint64_t address) const {
  const std::vector<GlobalRange> &fresh = cluster.getCta(0).launch.fresh;
  return std::any_of(fresh.begin(), fresh.end(), [&](const GlobalRange &range) {
    return address - range.address < range.bytes;
  });
}

void HazardTracker::visit(TrackedMemory &memory, Accessor &by, uint64_t address,
                          uint32_t bytes) {
  auto visitCell = [&](ShadowCell &cell, uint64_t at) {
    if (cell.write) {
      check(memory, by, cell.write, /*wrote=*/true, at);
    } else if (by.reads && (!memory.isGlobal || isFresh(at))) {
      reportUninitialized(memory, by, at);
    }
    if (!by.writes) {
      memory.shadow.addRead(cell, by.id, memory.accesses);
      return;
    }
    memory.shadow.forReads(
        cell, [&](AccessId id) { check(memory, by, id, /*wrote=*/false, at); });
    memory.shadow.write(cell, by.id);
  };
  memory.shadow.visit(address, bytes, by.writes, visitCell);
}

bool HazardTracker::touchesMbarrier(const Accessor &by, uint32_t address,
                                    uint32_t bytes) {
  uint32_t base = (address >> kSharedRankShift) * wordsPerCta;
  uint32_t offset = address & kSharedOffsetMask;
  for (uint32_t word = offset / 8; word <= (offset + bytes - 1) / 8; ++word) {
    if (barrierWords[base + word]) {
      report(Rule::MbarrierAccess, by,
             std::string(by.writes ? "writes" : "reads") +
                 " the live mbarrier at " +
                 toHex((address & ~kSharedOffsetMask) + word * 8));
      return true;
    }
  }
  return false;
}

void HazardTracker::visitShared(Accessor &by, uint32_t address,
                                uint32_t bytes) {
  if (liveBarriers == 0 || !touchesMbarrier(by, address, bytes)) {
    visit(sharedMemory, by, address, bytes);
  }
}

void HazardTracker::acquireTensorMap(const Warp &warp, unsigned lane,
                                     uint64_t address) {
  TensorMapState &state = tensorMaps[address];
  state.component = state.fences ? state.component : components++;
  uint32_t fence = ++state.fences;
  Accessor by = accessorOf(warp, lane);
  auto visitCell = [&](ShadowCell &cell, uint64_t at) {
    if (!cell.write) {
      return;
    }
    if (compare(by, grid.accesses[cell.write], cell.write.lane(),
                /*isGlobal=*/true) == Order::None) {
      reportConflict(Rule::RaceGlobal, globalMemory, by, cell.write,
                     /*wrote=*/true, at);
    }
    state.seen.emplace(cell.write.key(), fence);
  };
  std::lock_guard<std::mutex> lock(grid.mutex);
  grid.shadow.visit(address, kTensorMapBytes, /*writes=*/false, visitCell);
  forViews(warp, 1u << lane, [&](LaneView &view) {
    view.known.generic.raise(state.component, fence);
    touch(view);
  });
}

void HazardTracker::useTensorMap(const Warp &warp, unsigned lane,
                                 uint64_t address) {
  const TensorMapState &state = tensorMaps[address];
  Accessor by = accessorOf(warp, lane);
  auto visitCell = [&](ShadowCell &cell, uint64_t at) {
    if (!cell.write) {
      return;
    }
    auto seen = state.seen.find(cell.write.key());
    if (seen == state.seen.end() ||
        by.known->generic[state.component] < seen->second) {
      reportConflict(Rule::TensorMapWritten, globalMemory, by, cell.write,
                     /*wrote=*/true, at);
    }
  };
  std::lock_guard<std::mutex> lock(grid.mutex);
  grid.shadow.visit(address, kTensorMapBytes, /*writes=*/false, visitCell);
}

void HazardTracker::overwritten(const Warp &warp, unsigned lane,
                                uint64_t address) {
  report(Rule::RaceLanes, accessorOf(warp, lane),
         "another lane of this instruction stores another value at " +
             toHex(address));
}
