// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/plain_accesses.h"

#include "core/cluster.h"
#include "hazards/access_report.h"

#include <algorithm>

using namespace attn::sim;

void PlainAccesses::begin(const Warp &, const MemoryAction &what) {
  action = what;
  sharedIndex = 0;
  globalIndex = 0;
}

/// Returns the access of the current instruction; repeated reads count as one.
uint32_t PlainAccesses::threadAccess(TrackedMemory &memory, const Warp &warp) {
  WarpThreads &threads = knowledge.threadsOf(warp);
  bool mayRepeat = !action.writes && !memory.isGlobal;
  if (mayRepeat && threads.readPc == warp.now.pc &&
      threads.readEpoch == threads.epoch) {
    return threads.readIndex;
  }
  uint32_t index =
      history.addAccess(memory, warp, Agent::Thread,
                        knowledge.componentOf(warp, /*lane=*/0), threads.epoch);
  memory.accesses[index].scope = action.scope;
  memory.accesses[index].readOnly = action.readOnly;
  memory.accesses[index].adds = action.adds;
  if (mayRepeat) {
    threads.readPc = warp.now.pc;
    threads.readEpoch = threads.epoch;
    threads.readIndex = index;
  }
  return index;
}

void PlainAccesses::access(const Warp &warp, unsigned lane, Space space,
                           uint64_t address, uint32_t bytes, bool keeps) {
  space = classify(space, address);
  if (isShared(space)) {
    remoteUses.useCta(history.accessorOf(warp, lane), uint32_t(address),
                      /*ends=*/true);
    sharedIndex =
        sharedIndex ? sharedIndex : threadAccess(history.sharedMemory, warp);
    Accessor by = history.accessorOf(warp, lane, sharedIndex);
    by.reads = action.reads;
    by.writes = action.writes;
    by.keeps = keeps;
    bool isRemote = address >> kSharedRankShift != warp.cta.rank;
    if (isRemote && action.writes) {
      knowledge.threadsOf(warp).wroteRemoteAt[lane] =
          knowledge.threadsOf(warp).epoch;
    }
    history.visitShared(by, uint32_t(address), bytes);
    if (action.scope != Scope::None) {
      synchronize(warp, lane, variables, address);
    }
  } else if (space == Space::Global) {
    std::lock_guard<std::mutex> lock(history.grid.mutex);
    globalIndex =
        globalIndex ? globalIndex : threadAccess(history.globalMemory, warp);
    Accessor by = history.accessorOf(warp, lane, globalIndex);
    by.reads = action.reads;
    by.writes = action.writes;
    by.keeps = keeps;
    history.visit(history.globalMemory, by, address, bytes);
    if (action.scope != Scope::None) {
      synchronize(warp, lane, history.grid.variables, address);
    }
  }
}

void PlainAccesses::overwritten(const Warp &warp, unsigned lane,
                                uint64_t address) {
  report(Rule::RaceLanes, history.accessorOf(warp, lane),
         "another lane of this instruction stores another value at " +
             toHex(address));
}

AccessId PlainAccesses::storeShared(const Warp &warp, unsigned lane,
                                    uint32_t address, uint32_t bytes) {
  MemoryAction store;
  store.writes = true;
  begin(warp, store);
  access(warp, lane, Space::Shared, address, bytes);
  return AccessId(sharedIndex, lane);
}

/// Whether a write of the current instruction passes on any knowledge.
bool PlainAccesses::hasReleased(const Warp &warp, unsigned lane) const {
  const LaneView &view = knowledge.viewOf(warp, lane);
  return action.releases || view.releasedToCta || !view.known.device.isEmpty();
}

/// Returns what a relaxed write releases to the device: the effects of fences,
/// including fences of other threads that are ordered before.
Knowledge PlainAccesses::performed(const Warp &warp, unsigned lane) {
  const WarpThreads &threads = knowledge.threadsOf(warp);
  const LaneView &view = knowledge.viewOf(warp, lane);
  uint32_t component = knowledge.componentOf(warp, lane);
  uint32_t epoch = threads.performedAt[lane];
  Knowledge known;
  known.generic = view.known.device;
  known.asyncGlobal = view.known.asyncGlobal;
  known.asyncGlobal.meet(known.generic);
  known.generic.raise(component, epoch);
  known.asyncGlobal.raise(component,
                          std::min(epoch, threads.fencedGlobal[lane]));
  known.device = known.generic;
  if (epoch && view.releasedToCluster) {
    known.remote = view.releasedToCluster->remote;
    known.previousEnded = view.releasedToCluster->previousEnded;
  }
  return known;
}

void PlainAccesses::release(const Warp &warp, unsigned lane,
                            SyncVariable &variable) {
  WarpThreads &threads = knowledge.threadsOf(warp);
  const LaneView &view = knowledge.viewOf(warp, lane);
  Knowledge known;
  if (action.releases) {
    known = view.known;
    knowledge.publishOwn(warp, lane, known, knowledge.threadsOf(warp).epoch);
    ++threads.epoch;
  } else {
    known = performed(warp, lane);
  }
  if (action.scope == Scope::Device) {
    variable.toDevice[knowledge.number].join(known);
  }
  auto addFenced = [&](Scope scope) {
    if (!action.releases) {
      knowledge.publishFenced(warp, lane, scope, known);
    }
  };
  if (action.scope >= Scope::Cluster) {
    addFenced(Scope::Cluster);
    variable.toCluster[knowledge.number].join(known);
  }
  addFenced(Scope::Cta);
  variable.toCta[warp.cta.number].join(known);
}

void PlainAccesses::meet(const Warp &warp, unsigned lane,
                         const SyncVariable &variable) {
  auto met = std::make_shared<Knowledge>();
  auto joinFrom = [&](const std::map<uint64_t, Knowledge> &all, uint64_t from) {
    auto found = all.find(from);
    if (found != all.end()) {
      met->join(found->second);
    }
  };
  joinFrom(variable.toCta, warp.cta.number);
  if (action.scope >= Scope::Cluster) {
    joinFrom(variable.toCluster, knowledge.number);
  }
  if (action.scope == Scope::Device) {
    for (const auto &[from, known] : variable.toDevice) {
      met->joinRemote(known, from, knowledge.number);
    }
  }
  if (action.acquires) {
    knowledge.acquire(warp, 1u << lane, *met);
    return;
  }
  knowledge.forViews(warp, 1u << lane, [&](LaneView &view) { view.meet(met); });
}

/// Strong accesses order threads: a read of a value acquires what its write
/// released, directly or with a fence. A red does not read for its thread, but
/// passes on what earlier writes have released. Most additions release nothing.
void PlainAccesses::synchronize(const Warp &warp, unsigned lane,
                                SyncVariables &all, uint64_t address) {
  auto found = all.find(address);
  if (found != all.end() && action.reads && action.returns) {
    meet(warp, lane, found->second);
  }
  if (found != all.end() && action.writes && !action.reads) {
    all.erase(found);
  }
  if (action.writes && hasReleased(warp, lane)) {
    release(warp, lane, all[address]);
  }
}
