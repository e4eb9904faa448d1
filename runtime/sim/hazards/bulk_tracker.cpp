// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/bulk_tracker.h"

#include "core/cluster.h"
#include "hazards/access_report.h"

#include <algorithm>

using namespace attn::sim;

void BulkTracker::visitGlobalSide(Accessor &by, const BulkAction &bulk,
                                  RowEnd rowEnd) {
  if (!bulk.map) {
    history.visit(history.globalMemory, by, bulk.global, bulk.bytes);
    return;
  }
  for (const BoxRun &run :
       boxRuns(*bulk.map, bulk.coordinates, rowEnd, bulk.mode)) {
    if (run.inside) {
      history.visit(history.globalMemory, by, run.address, run.bytes);
    }
  }
}

/// A tensor store only reads the part of its source that is inside the tensor.
void BulkTracker::visitSource(Accessor &by, const BulkAction &bulk) {
  if (!bulk.map) {
    history.visitShared(by, bulk.shared, bulk.bytes);
    return;
  }
  constexpr uint32_t chunk = 16;
  for (const BoxRun &run :
       boxRuns(*bulk.map, bulk.coordinates, RowEnd::Whole16, bulk.mode)) {
    uint32_t end = run.inside ? run.boxOffset + run.bytes : 0;
    for (uint32_t at = run.boxOffset; at < end;) {
      uint32_t next = std::min(end, (at / chunk + 1) * chunk);
      history.visitShared(
          by, bulk.shared + imageOffset(*bulk.map, bulk.shared, at), next - at);
      at = next;
    }
  }
}

uint32_t BulkTracker::issueLoad(const Warp &warp, unsigned lane,
                                const BulkAction &bulk) {
  remoteUses.useCta(history.accessorOf(warp, lane), bulk.shared,
                    /*ends=*/false);
  remoteUses.useCta(history.accessorOf(warp, lane), bulk.mbarrier,
                    /*ends=*/false);
  mbarriers.useMbarrier(warp, lane, bulk.mbarrier);
  LoadState load;
  load.lane = lane;
  load.mbarrier = bulk.mbarrier;
  load.index =
      history.addAccess(history.sharedMemory, warp, Agent::Load,
                        mbarriers.signals.componentOf(bulk.mbarrier), kPending);
  history.accesses[load.index].scope =
      bulk.reduces ? Scope::Device : Scope::None;
  Accessor by = history.accessorOf(warp, lane, load.index);
  by.isAsync = !bulk.isGeneric;
  by.reads = bulk.reduces;
  by.writes = true;
  if (by.isAsync) {
    mbarriers.useForLoad(by, bulk.mbarrier);
  }
  history.visitShared(by, bulk.shared, bulk.bytes);
  mbarriers.signals.beginLoad(bulk.mbarrier, load.index);
  readSource(warp, lane, bulk, load);
  loads.push_back(load);
  return uint32_t(loads.size() - 1);
}

/// Tracks the reads of a load, until its bytes are delivered.
void BulkTracker::readSource(const Warp &warp, unsigned lane,
                             const BulkAction &bulk, LoadState &load) {
  uint32_t component = mbarriers.signals.componentOf(bulk.mbarrier);
  if (bulk.source == BulkAction::Source::Shared) {
    load.sharedSource = history.addAccess(history.sharedMemory, warp,
                                          Agent::Load, component, kPending);
    Accessor by = history.accessorOf(warp, lane, load.sharedSource);
    by.isAsync = true;
    by.reads = true;
    history.visitShared(by, uint32_t(bulk.global), bulk.bytes);
  } else if (bulk.source == BulkAction::Source::Global) {
    std::lock_guard<std::mutex> lock(history.grid.mutex);
    load.globalSource = history.addAccess(history.globalMemory, warp,
                                          Agent::Load, component, kPending);
    Accessor by = history.accessorOf(warp, lane, load.globalSource);
    by.isAsync = true;
    by.reads = true;
    visitGlobalSide(by, bulk, RowEnd::Exact);
  }
}

void BulkTracker::completeLoad(uint32_t load, uint32_t address,
                               uint64_t phase) {
  const LoadState &state = loads[load];
  uint32_t epoch = mbarriers.signals.endLoad(address, state.index, phase);
  history.accesses[state.index].epoch = epoch;
  if (state.sharedSource) {
    history.accesses[state.sharedSource].epoch = epoch;
  }
  if (state.globalSource) {
    std::lock_guard<std::mutex> lock(history.grid.mutex);
    history.grid.accesses[state.globalSource].epoch = epoch;
  }
}

StoreState &BulkTracker::storesOf(const Warp &warp, unsigned lane) {
  auto [found, isNew] = stores.try_emplace(knowledge.componentOf(warp, lane));
  if (isNew) {
    found->second.readComponent = knowledge.addComponents(1);
    found->second.doneComponent = knowledge.addComponents(1);
  }
  return found->second;
}

/// Lanes may all issue one copy; the tensor unit may make it once.
void BulkTracker::findTwins(Accessor &writer, const BulkAction &bulk,
                            uint32_t index) {
  uint64_t global = bulk.map ? bulk.map->globalAddress : bulk.global;
  uint32_t count = bulk.map ? countCoordinates(*bulk.map, bulk.mode) : 0;
  if (firstStore.index == kNone) {
    firstStore.index = index;
    firstStore.shared = bulk.shared;
    firstStore.global = global;
    std::copy_n(bulk.coordinates, count, firstStore.coordinates);
    return;
  }
  bool isSame = firstStore.shared == bulk.shared &&
                firstStore.global == global && !bulk.reduces &&
                std::equal(bulk.coordinates, bulk.coordinates + count,
                           firstStore.coordinates);
  writer.firstTwin = isSame ? firstStore.index : kNone;
}

void BulkTracker::issueStore(const Warp &warp, unsigned lane,
                             const BulkAction &bulk) {
  StoreState &state = storesOf(warp, lane);
  state.last = uint32_t(bulk.group) + 1;
  state.pc = warp.now.pc;
  Accessor by = history.accessorOf(
      warp, lane,
      history.addAccess(history.sharedMemory, warp, Agent::Store,
                        state.readComponent, state.last));
  by.isAsync = true;
  by.reads = true;
  visitSource(by, bulk);

  std::lock_guard<std::mutex> lock(history.grid.mutex);
  uint32_t index = history.addAccess(history.globalMemory, warp, Agent::Store,
                                     state.doneComponent, state.last);
  history.grid.accesses[index].scope =
      bulk.reduces ? Scope::Device : Scope::None;
  history.grid.accesses[index].adds = bulk.adds;
  Accessor writer = history.accessorOf(warp, lane, index);
  writer.isAsync = true;
  writer.writes = true;
  findTwins(writer, bulk, index);
  visitGlobalSide(writer, bulk, RowEnd::Whole16);
}

void BulkTracker::waitStores(const Warp &warp, unsigned lane, uint64_t groups,
                             bool onlyReads) {
  if (groups == 0 || !stores.count(knowledge.componentOf(warp, lane))) {
    return;
  }
  const StoreState &state = storesOf(warp, lane);
  knowledge.forViews(warp, 1u << lane, [&](LaneView &view) {
    view.known.generic.raise(state.readComponent, uint32_t(groups));
    if (!onlyReads) {
      view.known.generic.raise(state.doneComponent, uint32_t(groups));
    }
    knowledge.touch(view);
  });
}

void BulkTracker::finishLoads() {
  for (const LoadState &load : loads) {
    const Access &access = history.accesses[load.index];
    if (access.epoch == kPending ||
        !mbarriers.signals.isAwaited(load.mbarrier, access.epoch)) {
      Accessor by(knowledge.warpOf(access), access.pc, load.lane);
      report(Rule::ExitLoad, by,
             "no thread has waited for this copy when the CTA ends");
    }
  }
}

void BulkTracker::finishStores(const Warp &warp) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto found = stores.find(knowledge.componentOf(warp, lane));
    if (found != stores.end() &&
        knowledge.viewOf(warp, lane)
                .known.generic[found->second.readComponent] <
            found->second.last) {
      report(Rule::ExitStore, Accessor(warp, found->second.pc, lane),
             "the thread ends before it knows that the source has been read");
    }
  }
}
