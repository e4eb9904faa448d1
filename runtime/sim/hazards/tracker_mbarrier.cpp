// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers: what they make known, and their misuse.

#include "core/cluster.h"

using namespace attn::sim;

void HazardTracker::setLive(uint32_t address, bool isLive) {
  MbarrierState &barrier = barriers[address];
  liveBarriers += uint32_t(isLive) - uint32_t(barrier.isLive);
  barrier.isLive = isLive;
  barrierWords[(address >> kSharedRankShift) * wordsPerCta +
               (address & kSharedOffsetMask) / 8] = isLive;
}

void HazardTracker::initMbarrier(const Warp &warp, unsigned lane,
                                 uint32_t address) {
  MemoryAction store;
  store.writes = true;
  begin(warp, store);
  access(warp, lane, Space::Shared, address, 8);
  auto [found, isNew] = barriers.try_emplace(address);
  MbarrierState &barrier = found->second;
  if (isNew) {
    barrier.component = components++;
  }
  barrier.base += uint32_t(barrier.phases) + 1;
  barrier.phases = 0;
  barrier.awaited = 0;
  barrier.events = {};
  barrier.lastEvents = {};
  barrier.arriving = {};
  barrier.published = {};
  barrier.joined = 0;
  barrier.uses = {};
  barrier.initFence = 0;
  barrier.init = AccessId(sharedIndex, lane);
  setLive(address, true);
}

/// The first other thread that was at an epoch of `events` of which `by` does
/// not know, or kNone.
uint32_t HazardTracker::findUnordered(const Accessor &by,
                                      const Clock &events) const {
  uint32_t own = componentOf(by.warp, by.lane);
  for (uint32_t thread = 0; thread < warps.size() * kLanes; ++thread) {
    if (thread != own && events[thread] > by.known->generic[thread]) {
      return thread;
    }
  }
  return kNone;
}

void HazardTracker::invalMbarrier(const Warp &warp, unsigned lane,
                                  uint32_t address) {
  useMbarrier(warp, lane, address);
  MbarrierState &barrier = barriers[address];
  Accessor by = accessorOf(warp, lane);
  uint32_t thread = findUnordered(by, barrier.uses);
  if (thread != kNone) {
    report(Rule::MbarrierInval, by,
           "a use by warp " + std::to_string(thread / kLanes % warpsPerCta) +
               " of rank " + std::to_string(thread / kLanes / warpsPerCta) +
               ", lane " + std::to_string(thread % kLanes) +
               " is not ordered before");
  }
  setLive(address, false);
  shadow.forget(address, 8);
}

/// Whether `clock`, or the thread itself, knows what `init`'s thread did up to
/// an epoch.
bool HazardTracker::knows(const Accessor &by, const Clock &clock, AccessId init,
                          uint32_t epoch) const {
  const Access &access = accesses[init];
  bool own =
      access.component == componentOf(by.warp, 0) && init.lane() == by.lane;
  return own || clock[access.component + init.lane()] >= epoch;
}

void HazardTracker::useMbarrier(const Warp &warp, unsigned lane,
                                uint32_t address) {
  auto found = barriers.find(address);
  if (found == barriers.end() || !found->second.isLive) {
    return;
  }
  MbarrierState &barrier = found->second;
  Accessor by = accessorOf(warp, lane);
  const Access &init = accesses[barrier.init];
  if (!knows(by, by.known->generic, barrier.init, init.epoch) &&
      !knows(by, by.known->inits, barrier.init, init.epoch)) {
    report(Rule::MbarrierInvisible, by,
           "the init of the mbarrier at " + toHex(address) + " by " +
               warp.cta.describePlace(init.cta, init.warp, init.pc,
                                      barrier.init.lane()) +
               " is not ordered before this",
           init.pc);
  }
  barrier.uses.raise(componentOf(warp, lane), threadsOf(warp).epoch);
}

/// The async proxy sees an init after a fence.mbarrier_init of its thread, or
/// a fence.proxy.async of any that is ordered.
void HazardTracker::useForLoad(const Accessor &by, uint32_t address) {
  const MbarrierState &barrier = barriers[address];
  const Access &init = accesses[barrier.init];
  bool fenced =
      barrier.initFence &&
      (knows(by, by.known->generic, barrier.init, barrier.initFence) ||
       knows(by, by.known->inits, barrier.init, barrier.initFence));
  if (fenced ||
      by.known->asyncShared[init.component + barrier.init.lane()] >=
          init.epoch ||
      (isOwn(by, init, barrier.init.lane()) &&
       threadsOf(by.warp).fencedShared[by.lane] >= init.epoch)) {
    return;
  }
  report(Rule::MbarrierInvisible, by,
         "no fence.mbarrier_init or fence.proxy.async orders the init of the "
         "mbarrier at " +
             toHex(address) + " before this copy",
         init.pc);
}

void HazardTracker::initFence(const Warp &warp) {
  for (auto &[address, barrier] : barriers) {
    const Access &init = accesses[barrier.init];
    if (barrier.isLive && init.component == componentOf(warp, 0) &&
        (warp.exec >> barrier.init.lane() & 1)) {
      barrier.initFence = threadsOf(warp).epoch;
    }
  }
  forLanes(warp.exec, [&](unsigned lane) {
    threadsOf(warp).initsAt[lane] = threadsOf(warp).epoch;
  });
  ++threadsOf(warp).epoch;
}

/// Whoever comes behind a wait for the last phase, or behind all that completed
/// it. When bytes arrive is up to the schedule.
bool HazardTracker::knowsLastPhase(const Accessor &by,
                                   const MbarrierState &barrier,
                                   uint64_t phase) const {
  uint32_t epoch = barrier.base + uint32_t(phase);
  return phase == 0 || by.known->generic[barrier.component] >= epoch ||
         (!barrier.lastEvents.hasAsync &&
          findUnordered(by, barrier.lastEvents.threads) == kNone);
}

/// Of another CTA's mbarrier, the end of a copy from there may tell that a
/// phase is complete, which is not followed.
void HazardTracker::checkArrival(const Accessor &by, uint32_t address,
                                 uint64_t phase) {
  const MbarrierState &barrier = barriers[address];
  bool isOwn = address >> kSharedRankShift == by.warp.cta.rank;
  bool isAwaited = phase <= barrier.awaited;
  if (isAwaited && (!isOwn || knowsLastPhase(by, barrier, phase))) {
    return;
  }
  std::string last = "wait for phase " + std::to_string(phase - 1);
  report(isAwaited ? Rule::MbarrierUnknown : Rule::MbarrierUnwaited, by,
         "arrives for phase " + std::to_string(phase) + " of the mbarrier at " +
             toHex(address) + ", and " +
             (isAwaited
                  ? "neither a " + last +
                        " nor all that completed it is ordered before this"
                  : "no " + last + " has been made"));
}

/// Up to which of the thread's epochs an arrival releases what it did. One at
/// another CTA's barrier, of the CTA's scope, does so for reads; of writes to
/// other CTAs only for those before the thread's last fence for the cluster.
uint32_t HazardTracker::releasedBy(const Warp &warp, unsigned lane,
                                   uint32_t address, Scope scope) {
  const WarpThreads &threads = threadsOf(warp);
  bool isNarrow =
      scope == Scope::Cta && address >> kSharedRankShift != warp.cta.rank;
  uint32_t wrote = threads.wroteRemoteAt[lane];
  return isNarrow && wrote > threads.releasedToClusterAt[lane] ? wrote - 1
                                                               : threads.epoch;
}

void HazardTracker::arriveMbarrier(const Warp &warp, unsigned lane,
                                   uint32_t address, uint64_t phase,
                                   bool releases, Scope scope) {
  MbarrierState &barrier = barriers[address];
  Accessor by = accessorOf(warp, lane);
  useCta(by, address, releases);
  checkArrival(by, address, phase);
  barrier.events.threads.raise(componentOf(warp, lane), threadsOf(warp).epoch);
  if (!releases) {
    return;
  }
  const LaneView &view = viewOf(warp, lane);
  if (barrier.joined != view.serial) {
    barrier.arriving.join(view.known);
    barrier.joined = view.serial;
  }
  publishOwn(warp, lane, barrier.arriving,
             releasedBy(warp, lane, address, scope));
  ++threadsOf(warp).epoch;
}

void HazardTracker::changeBytes(const Warp &warp, unsigned lane,
                                uint32_t address) {
  barriers[address].events.threads.raise(componentOf(warp, lane),
                                         threadsOf(warp).epoch);
}

void HazardTracker::completePhase(const Warp &warp, uint32_t pc, unsigned lane,
                                  uint32_t address) {
  MbarrierState &barrier = barriers[address];
  barrier.published = barrier.arriving;
  barrier.lastEvents = std::move(barrier.events);
  barrier.events = {};
  ++barrier.phases;
  if (barrier.loads.empty()) {
    return;
  }
  Accessor by(warp, pc, lane);
  const Access &load = accesses[AccessId(barrier.loads.front(), 0)];
  report(Rule::MbarrierEarly, by,
         "completes a phase of the mbarrier at " + toHex(address) +
             ", to which the copy of " +
             warp.cta.describePlace(load.cta, load.warp, load.pc, kLanes) +
             " is still to deliver bytes",
         load.pc);
}

void HazardTracker::waitMbarrier(const Warp &warp, uint32_t lanes,
                                 uint32_t address, uint64_t phase,
                                 uint32_t parity, bool passed, bool acquires) {
  MbarrierState &barrier = barriers[address];
  forViews(warp, lanes, [&](LaneView &view) {
    uint32_t epoch = view.known.generic[barrier.component];
    uint64_t known = epoch > barrier.base ? epoch - barrier.base : 0;
    if (parity < 2 && (known & 1) == parity && phase >= known + 2) {
      unsigned lane = unsigned(__builtin_ctz(view.lanes));
      report(Rule::MbarrierAlias, accessorOf(warp, lane),
             "waits for phase " + std::to_string(known) +
                 " of the mbarrier at " + toHex(address) +
                 ", which is in phase " + std::to_string(phase) + " already");
    }
    if (passed && phase > 0) {
      view.known.generic.raise(barrier.component,
                               barrier.base + uint32_t(phase));
      if (acquires) {
        view.known.join(barrier.published);
      }
      touch(view);
    }
  });
  if (passed && phase > barrier.awaited) {
    barrier.awaited = phase;
  }
}
