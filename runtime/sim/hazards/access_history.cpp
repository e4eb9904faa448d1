// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/access_history.h"

#include "core/cluster.h"
#include "hazards/access_report.h"

#include <algorithm>

using namespace attn::sim;

AccessHistory::AccessHistory(ThreadKnowledge &knowledge, GridHazards &grid)
    : grid(grid), sharedMemory{shadow, accesses, false},
      globalMemory{grid.shadow, grid.accesses, true}, knowledge(knowledge),
      shadow(/*maxReads=*/~0u) {
  SharedView memory = knowledge.cluster.getCta(0).sharedView();
  wordsPerCta = (kSharedBase + memory.size + 7) / 8;
  barrierWords.resize(knowledge.cluster.size() * wordsPerCta);
}

void AccessHistory::setMbarrier(uint32_t address, bool isLive) {
  auto word = barrierWords[(address >> kSharedRankShift) * wordsPerCta +
                           (address & kSharedOffsetMask) / 8];
  liveBarriers += uint32_t(isLive) - uint32_t(word);
  word = isLive;
}

Accessor AccessHistory::accessorOf(const Warp &warp, unsigned lane,
                                   uint32_t index) {
  Accessor by(warp, warp.now.pc, lane);
  by.known = &knowledge.viewOf(warp, lane % kLanes).known;
  by.id = AccessId(index, lane % kLanes);
  return by;
}

uint32_t AccessHistory::addAccess(TrackedMemory &memory, const Warp &warp,
                                  Agent agent, uint32_t component,
                                  uint32_t epoch) {
  Access access;
  access.cta = warp.cta.number;
  access.cluster = knowledge.number;
  access.rank = uint8_t(warp.cta.rank);
  access.pc = warp.now.pc;
  access.warp = warp.index;
  access.component = component;
  access.epoch = epoch;
  access.agent = agent;
  return memory.accesses.add(access);
}

bool AccessHistory::isOwn(const Accessor &by, const Access &other,
                          unsigned lane) const {
  return by.lane < kLanes && other.cluster == knowledge.number &&
         other.agent == Agent::Thread &&
         other.component == knowledge.componentOf(by.warp, 0) &&
         by.lane == lane;
}

AccessHistory::Order AccessHistory::compare(const Accessor &by,
                                            const Access &other, unsigned lane,
                                            bool isGlobal) const {
  if (other.epoch == kPending) {
    return Order::None;
  }
  if (other.agent == Agent::Umma) {
    bool isKnown = by.known->tensor.ordered[other.component] >= other.epoch;
    return isKnown ? Order::Before : Order::None;
  }
  static const Clock nothing;
  const Clock *generic = &by.known->generic;
  const Clock *async =
      isGlobal ? &by.known->asyncGlobal : &by.known->asyncShared;
  if (other.cluster != knowledge.number) {
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
  const WarpThreads &threads = knowledge.threadsOf(by.warp);
  uint32_t fenced = !own       ? 0
                    : isGlobal ? threads.fencedGlobal[lane]
                               : threads.fencedShared[lane];
  return fenced >= other.epoch ? Order::Before : Order::NoProxyFence;
}

/// Two strong accesses do not race if the scope of each includes both threads.
static bool areMorallyStrong(const Access &a, const Access &b) {
  Scope needed = a.cta == b.cta           ? Scope::Cta
                 : a.cluster == b.cluster ? Scope::Cluster
                                          : Scope::Device;
  return a.scope >= needed && b.scope >= needed;
}

/// Whether access `id` is by another lane of the same instruction, which stores
/// the same value.
static bool isTwin(const Accessor &by, AccessId id, const Access &other) {
  return id.index() >= by.firstTwin && other.pc == by.pc &&
         other.cta == by.warp.cta.number && other.warp == by.warp.index;
}

static Rule chooseRule(const Accessor &by, AccessId id, const Access &other,
                       bool isGlobal, bool wrote) {
  switch (other.agent) {
  case Agent::Thread:
    if (wrote && by.keeps && !isGlobal) {
      return Rule::RaceSame;
    }
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
    return !wrote                  ? Rule::StoreSource
           : isTwin(by, id, other) ? Rule::RaceSame
                                   : Rule::StoreNotAwaited;
  case Agent::Wgmma:
    return Rule::WgmmaSource;
  case Agent::Umma:
    return Rule::TmemOperand;
  }
  return isGlobal ? Rule::RaceGlobal : Rule::RaceShared;
}

/// Kernels that are known to work let tcgen05 read what cp.async has written.
static Rule chooseProxyRule(const Accessor &by, const Access &self,
                            const Access &other, bool wrote) {
  if (!wrote || by.writes) {
    return Rule::ProxyReuse;
  }
  bool isCopied = other.agent == Agent::Copy && self.agent == Agent::Umma;
  return isCopied ? Rule::ProxyCopyFence : Rule::ProxyFence;
}

void AccessHistory::check(TrackedMemory &memory, Accessor &by, AccessId id,
                          bool wrote, uint64_t address) {
  if (id == by.before) {
    return;
  }
  const Access &other = memory.accesses[id];
  const Access &self = memory.accesses[by.id];
  bool sameInstruction = id.index() == by.id.index();
  if (sameInstruction || areMorallyStrong(self, other)) {
    if (grid.ordersSums && self.adds && other.adds) {
      checkSum(memory, by, id, address);
    }
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
    reportConflict(chooseProxyRule(by, self, other, wrote), memory, by, id,
                   wrote, address);
    return;
  case Order::SomeWarps:
    reportConflict(Rule::WgmmaWait, memory, by, id, wrote, address);
    return;
  case Order::None:
    reportConflict(chooseRule(by, id, other, memory.isGlobal, wrote), memory,
                   by, id, wrote, address);
    return;
  }
}

/// Additions of floating-point numbers do not race, but their order decides how
/// they are rounded.
void AccessHistory::checkSum(TrackedMemory &memory, Accessor &by, AccessId id,
                             uint64_t address) {
  const Access &other = memory.accesses[id];
  if (compare(by, other, id.lane(), memory.isGlobal) == Order::Before) {
    by.before = id;
  } else {
    reportConflict(Rule::RaceSum, memory, by, id, /*wrote=*/true, address);
  }
}

bool AccessHistory::isFresh(uint64_t address) const {
  const std::vector<GlobalRange> &fresh =
      knowledge.cluster.getCta(0).launch.fresh;
  return std::any_of(fresh.begin(), fresh.end(), [&](const GlobalRange &range) {
    return address - range.address < range.bytes;
  });
}

void AccessHistory::visit(TrackedMemory &memory, Accessor &by, uint64_t address,
                          uint32_t bytes) {
  if (memory.isGlobal && !by.known->previousEnded) {
    report(Rule::RaceLaunch, by,
           std::string(by.writes ? "writes" : "reads") + " global address " +
               toHex(address) +
               ", and has not waited for the launches before this one");
  }
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

bool AccessHistory::touchesMbarrier(const Accessor &by, uint32_t address,
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

void AccessHistory::visitShared(Accessor &by, uint32_t address,
                                uint32_t bytes) {
  if (liveBarriers == 0 || !touchesMbarrier(by, address, bytes)) {
    visit(sharedMemory, by, address, bytes);
  }
}
