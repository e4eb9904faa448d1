// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/mbarrier_tracker.h"

#include "core/cluster.h"
#include "hazards/access_report.h"

using namespace attn::sim;

void MbarrierTracker::initMbarrier(const Warp &warp, unsigned lane,
                                   uint32_t address) {
  AccessId store = plain.storeShared(warp, lane, address, 8);
  auto [found, isNew] = states.try_emplace(address);
  MbarrierState &barrier = found->second;
  if (isNew) {
    barrier.component = knowledge.addComponents(1);
    knowledge.barrierComponents.push_back(barrier.component);
  }
  barrier.base += uint32_t(barrier.phases) + 1;
  barrier.phases = 0;
  barrier.awaited = 0;
  barrier.events = {};
  barrier.lastEvents = {};
  barrier.arriving = {};
  barrier.published = nullptr;
  barrier.joined = 0;
  barrier.uses = {};
  barrier.commits = 0;
  barrier.commitEpoch = 0;
  barrier.initFence = 0;
  barrier.init = store;
  barrier.isLive = true;
  history.setMbarrier(address, true);
}

/// Returns the first other thread that was at an epoch of `events` unknown to
/// `by`, or kNone.
static uint32_t findUnordered(const ThreadKnowledge &knowledge,
                              const Accessor &by, const Clock &events) {
  uint32_t own = knowledge.componentOf(by.warp, by.lane);
  for (uint32_t thread = 0; thread < knowledge.warps.size() * kLanes;
       ++thread) {
    if (thread != own && events[thread] > by.known->generic[thread]) {
      return thread;
    }
  }
  return kNone;
}

void MbarrierTracker::invalMbarrier(const Warp &warp, unsigned lane,
                                    uint32_t address) {
  useMbarrier(warp, lane, address);
  MbarrierState &barrier = states[address];
  Accessor by = history.accessorOf(warp, lane);
  uint32_t thread = findUnordered(knowledge, by, barrier.uses);
  if (thread != kNone) {
    report(Rule::MbarrierInval, by,
           "a use by warp " +
               std::to_string(thread / kLanes % knowledge.warpsPerCta) +
               " of rank " +
               std::to_string(thread / kLanes / knowledge.warpsPerCta) +
               ", lane " + std::to_string(thread % kLanes) +
               " is not ordered before");
  }
  bool isLast = barrier.commits == 0 &&
                by.known->generic[barrier.component] >= barrier.commitEpoch;
  if (!isLast) {
    report(Rule::MbarrierGone, by,
           "no wait for the phase of a tcgen05.commit is before this");
  }
  barrier.isLive = false;
  history.setMbarrier(address, false);
  history.sharedMemory.shadow.forget(address, 8);
}

/// Whether `clock`, or the thread itself, knows the actions of `init`'s thread
/// up to an epoch.
bool MbarrierTracker::knows(const Accessor &by, const Clock &clock,
                            AccessId init, uint32_t epoch) const {
  const Access &access = history.accesses[init];
  bool own = access.component == knowledge.componentOf(by.warp, 0) &&
             init.lane() == by.lane;
  return own || clock[access.component + init.lane()] >= epoch;
}

void MbarrierTracker::useMbarrier(const Warp &warp, unsigned lane,
                                  uint32_t address) {
  auto found = states.find(address);
  if (found == states.end() || !found->second.isLive) {
    return;
  }
  MbarrierState &barrier = found->second;
  Accessor by = history.accessorOf(warp, lane);
  const Access &init = history.accesses[barrier.init];
  if (!knows(by, by.known->generic, barrier.init, init.epoch) &&
      !knows(by, by.known->inits, barrier.init, init.epoch)) {
    report(Rule::MbarrierInvisible, by,
           "the init of the mbarrier at " + toHex(address) + " by " +
               warp.cta.reports.describePlace(init.cta, init.warp, init.pc,
                                              barrier.init.lane()) +
               " is not ordered before this",
           init.pc);
  }
  barrier.uses.raise(knowledge.componentOf(warp, lane),
                     knowledge.threadsOf(warp).epoch);
}

/// The async proxy sees an init after a fence.mbarrier_init of the initializing
/// thread, or after any ordered fence.proxy.async. On sm_100, where proven
/// kernels have neither, copies signal in the generic proxy, as the ISA says.
void MbarrierTracker::useForLoad(const Accessor &by, uint32_t address) {
  if (by.warp.cta.program.target & kBlackwell) {
    return;
  }
  const MbarrierState &barrier = states[address];
  const Access &init = history.accesses[barrier.init];
  bool fenced =
      barrier.initFence &&
      (knows(by, by.known->generic, barrier.init, barrier.initFence) ||
       knows(by, by.known->inits, barrier.init, barrier.initFence));
  if (fenced ||
      by.known->asyncShared[init.component + barrier.init.lane()] >=
          init.epoch ||
      (history.isOwn(by, init, barrier.init.lane()) &&
       knowledge.threadsOf(by.warp).fencedShared[by.lane] >= init.epoch)) {
    return;
  }
  report(Rule::MbarrierInvisible, by,
         "no fence.mbarrier_init or fence.proxy.async orders the init of the "
         "mbarrier at " +
             toHex(address) + " before this copy",
         init.pc);
}

void MbarrierTracker::initFence(const Warp &warp) {
  for (auto &[address, barrier] : states) {
    const Access &init = history.accesses[barrier.init];
    if (barrier.isLive && init.component == knowledge.componentOf(warp, 0) &&
        (warp.exec >> barrier.init.lane() & 1)) {
      barrier.initFence = knowledge.threadsOf(warp).epoch;
    }
  }
  forLanes(warp.exec, [&](unsigned lane) {
    knowledge.threadsOf(warp).initsAt[lane] = knowledge.threadsOf(warp).epoch;
  });
  ++knowledge.threadsOf(warp).epoch;
}

/// Whether a thread knows that the last phase is complete: after a wait for it,
/// or after everything that completed it. The schedule decides when bytes
/// arrive.
bool MbarrierTracker::knowsLastPhase(const Accessor &by,
                                     const MbarrierState &barrier,
                                     uint64_t phase) const {
  uint32_t epoch = barrier.base + uint32_t(phase);
  return phase == 0 || by.known->generic[barrier.component] >= epoch ||
         (!barrier.lastEvents.hasAsync &&
          findUnordered(knowledge, by, barrier.lastEvents.threads) == kNone);
}

/// For another CTA's mbarrier, the end of a copy from there may imply that a
/// phase is complete; this is not tracked.
void MbarrierTracker::checkArrival(const Accessor &by, uint32_t address,
                                   uint64_t phase) {
  const MbarrierState &barrier = states[address];
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

/// Returns the last epoch of the thread whose accesses an arrival releases. An
/// arrival at another CTA's barrier that says no scope releases reads, and of
/// the writes to other CTAs only those before the thread's last fence of
/// cluster scope.
uint32_t MbarrierTracker::releasedBy(const Warp &warp, unsigned lane,
                                     uint32_t address, Scope scope) {
  const WarpThreads &threads = knowledge.threadsOf(warp);
  bool isNarrow =
      scope == Scope::None && address >> kSharedRankShift != warp.cta.rank;
  uint32_t wrote = threads.wroteRemoteAt[lane];
  return isNarrow && wrote > threads.releasedToClusterAt[lane] ? wrote - 1
                                                               : threads.epoch;
}

void MbarrierTracker::arriveMbarrier(const Warp &warp, unsigned lane,
                                     uint32_t address, uint64_t phase,
                                     bool releases, Scope scope) {
  MbarrierState &barrier = states[address];
  Accessor by = history.accessorOf(warp, lane);
  remoteUses.useCta(by, address, releases);
  checkArrival(by, address, phase);
  barrier.events.threads.raise(knowledge.componentOf(warp, lane),
                               knowledge.threadsOf(warp).epoch);
  bool isOwn = address >> kSharedRankShift == warp.cta.rank;
  bool isNarrow = releases && scope == Scope::Cta && !isOwn;
  if (!releases || isNarrow) {
    knowledge.publishTensor(warp, lane, barrier.arriving);
    if (isOwn || isNarrow || scope >= Scope::Cluster) {
      knowledge.publishFenced(warp, lane, isOwn ? Scope::Cta : Scope::Cluster,
                              barrier.arriving);
    }
    return;
  }
  const LaneView &view = knowledge.viewOf(warp, lane);
  if (barrier.joined != view.serial) {
    barrier.arriving.join(view.known);
    barrier.joined = view.serial;
  }
  knowledge.publishOwn(warp, lane, barrier.arriving,
                       releasedBy(warp, lane, address, scope));
  ++knowledge.threadsOf(warp).epoch;
}

void MbarrierTracker::changeBytes(const Warp &warp, unsigned lane,
                                  uint32_t address) {
  states[address].events.threads.raise(knowledge.componentOf(warp, lane),
                                       knowledge.threadsOf(warp).epoch);
}

void MbarrierTracker::completePhase(const Warp &warp, uint32_t pc,
                                    unsigned lane, uint32_t address) {
  MbarrierState &barrier = states[address];
  barrier.published = std::make_shared<const Knowledge>(barrier.arriving);
  barrier.lastEvents = std::move(barrier.events);
  barrier.events = {};
  ++barrier.phases;
  if (barrier.loads.empty()) {
    return;
  }
  Accessor by(warp, pc, lane);
  const Access &load = history.accesses[AccessId(barrier.loads.front(), 0)];
  report(
      Rule::MbarrierEarly, by,
      "completes a phase of the mbarrier at " + toHex(address) +
          ", to which the copy of " +
          warp.cta.reports.describePlace(load.cta, load.warp, load.pc, kLanes) +
          " is still to deliver bytes",
      load.pc);
}

void MbarrierTracker::waitMbarrier(const Warp &warp, uint32_t lanes,
                                   uint32_t address, uint64_t phase,
                                   uint32_t parity, bool passed,
                                   bool acquires) {
  MbarrierState &barrier = states[address];
  knowledge.forViews(warp, lanes, [&](LaneView &view) {
    uint32_t epoch = view.known.generic[barrier.component];
    uint64_t known = epoch > barrier.base ? epoch - barrier.base : 0;
    if (parity < 2 && (known & 1) == parity && phase >= known + 2) {
      unsigned lane = unsigned(__builtin_ctz(view.lanes));
      report(Rule::MbarrierAlias, history.accessorOf(warp, lane),
             "waits for phase " + std::to_string(known) +
                 " of the mbarrier at " + toHex(address) +
                 ", which is in phase " + std::to_string(phase) + " already");
    }
    if (passed && phase > 0) {
      view.known.generic.raise(barrier.component,
                               barrier.base + uint32_t(phase));
      if (acquires) {
        view.known.join(*barrier.published);
      } else {
        view.known.tensor.join(barrier.published->tensor);
        view.meet(barrier.published);
      }
      knowledge.touch(view);
    }
  });
  if (passed && phase > barrier.awaited) {
    barrier.awaited = phase;
  }
}

void MbarrierTracker::finishBarriers() {
  for (uint32_t rank = 0; rank < knowledge.cluster.size(); ++rank) {
    for (const auto &[address, barrier] :
         knowledge.cluster.getCta(rank).mbarriers) {
      if (!barrier.live) {
        continue;
      }
      const Access &init = history.accesses[states[address].init];
      Accessor by(knowledge.warpOf(init), init.pc, kLanes);
      std::string name = "the mbarrier at " + toHex(address) + " ends with ";
      if (barrier.tx != 0) {
        report(Rule::ExitTx, by,
               name + std::to_string(barrier.tx) +
                   " bytes expected and not delivered");
      }
      if (barrier.pending != barrier.expected && barrier.pending != 0) {
        report(Rule::ExitPhase, by,
               name + std::to_string(barrier.expected - barrier.pending) +
                   " of the " + std::to_string(barrier.expected) +
                   " arrivals of a phase");
      }
    }
  }
}
