// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies, wgmma, and what must not be left when a CTA ends.

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

void HazardTracker::visitGlobalSide(Accessor &by, const BulkAction &bulk,
                                    RowEnd rowEnd) {
  if (!bulk.map) {
    visit(globalMemory, by, bulk.global, bulk.bytes);
    return;
  }
  for (const BoxRun &run : boxRuns(*bulk.map, bulk.coordinates, rowEnd)) {
    if (run.inside) {
      visit(globalMemory, by, run.address, run.bytes);
    }
  }
}

/// A tensor store reads what lies inside the tensor only.
void HazardTracker::visitSource(Accessor &by, const BulkAction &bulk) {
  if (!bulk.map) {
    visitShared(by, bulk.shared, bulk.bytes);
    return;
  }
  constexpr uint32_t chunk = 16;
  for (const BoxRun &run :
       boxRuns(*bulk.map, bulk.coordinates, RowEnd::Whole16)) {
    uint32_t end = run.inside ? run.boxOffset + run.bytes : 0;
    for (uint32_t at = run.boxOffset; at < end;) {
      uint32_t next = std::min(end, (at / chunk + 1) * chunk);
      visitShared(by, bulk.shared + imageOffset(*bulk.map, bulk.shared, at),
                  next - at);
      at = next;
    }
  }
}

uint32_t HazardTracker::issueLoad(const Warp &warp, unsigned lane,
                                  const BulkAction &bulk) {
  MbarrierState &barrier = barriers[bulk.mbarrier];
  useCta(accessorOf(warp, lane), bulk.shared, /*ends=*/false);
  useMbarrier(warp, lane, bulk.mbarrier);
  LoadState load;
  load.lane = lane;
  load.mbarrier = bulk.mbarrier;
  load.index =
      addAccess(sharedMemory, warp, Agent::Load, barrier.component, kPending);
  accesses[load.index].scope = bulk.reduces ? Scope::Device : Scope::None;
  Accessor by = accessorOf(warp, lane, load.index);
  by.isAsync = !bulk.isGeneric;
  by.reads = bulk.reduces;
  by.writes = true;
  if (by.isAsync) {
    useForLoad(by, bulk.mbarrier);
  }
  visitShared(by, bulk.shared, bulk.bytes);
  barrier.loads.push_back(load.index);
  readSource(warp, lane, bulk, load);
  loads.push_back(load);
  return uint32_t(loads.size() - 1);
}

/// What a load reads, until its bytes are delivered.
void HazardTracker::readSource(const Warp &warp, unsigned lane,
                               const BulkAction &bulk, LoadState &load) {
  uint32_t component = barriers[bulk.mbarrier].component;
  if (bulk.source == BulkAction::Source::Shared) {
    load.sharedSource =
        addAccess(sharedMemory, warp, Agent::Load, component, kPending);
    Accessor by = accessorOf(warp, lane, load.sharedSource);
    by.isAsync = true;
    by.reads = true;
    visitShared(by, uint32_t(bulk.global), bulk.bytes);
  } else if (bulk.source == BulkAction::Source::Global) {
    std::lock_guard<std::mutex> lock(grid.mutex);
    load.globalSource =
        addAccess(globalMemory, warp, Agent::Load, component, kPending);
    Accessor by = accessorOf(warp, lane, load.globalSource);
    by.isAsync = true;
    by.reads = true;
    visitGlobalSide(by, bulk, RowEnd::Exact);
  }
}

void HazardTracker::completeLoad(uint32_t load, uint32_t address,
                                 uint64_t phase) {
  MbarrierState &barrier = barriers[address];
  barrier.events.hasAsync = true;
  const LoadState &state = loads[load];
  uint32_t epoch = barrier.base + uint32_t(phase) + 1;
  accesses[state.index].epoch = epoch;
  barrier.loads.erase(
      std::find(barrier.loads.begin(), barrier.loads.end(), state.index));
  if (state.sharedSource) {
    accesses[state.sharedSource].epoch = epoch;
  }
  if (state.globalSource) {
    std::lock_guard<std::mutex> lock(grid.mutex);
    grid.accesses[state.globalSource].epoch = epoch;
  }
}

StoreState &HazardTracker::storesOf(const Warp &warp, unsigned lane) {
  auto [found, isNew] = stores.try_emplace(componentOf(warp, lane));
  if (isNew) {
    found->second.readComponent = components++;
    found->second.doneComponent = components++;
  }
  return found->second;
}

void HazardTracker::issueStore(const Warp &warp, unsigned lane,
                               const BulkAction &bulk) {
  StoreState &state = storesOf(warp, lane);
  state.last = uint32_t(bulk.group) + 1;
  state.pc = warp.now.pc;
  Accessor by = accessorOf(warp, lane,
                           addAccess(sharedMemory, warp, Agent::Store,
                                     state.readComponent, state.last));
  by.isAsync = true;
  by.reads = true;
  visitSource(by, bulk);

  std::lock_guard<std::mutex> lock(grid.mutex);
  uint32_t index = addAccess(globalMemory, warp, Agent::Store,
                             state.doneComponent, state.last);
  grid.accesses[index].scope = bulk.reduces ? Scope::Device : Scope::None;
  Accessor writer = accessorOf(warp, lane, index);
  writer.isAsync = true;
  writer.writes = true;
  visitGlobalSide(writer, bulk, RowEnd::Whole16);
}

void HazardTracker::waitStores(const Warp &warp, unsigned lane, uint64_t groups,
                               bool onlyReads) {
  if (groups == 0 || !stores.count(componentOf(warp, lane))) {
    return;
  }
  const StoreState &state = storesOf(warp, lane);
  forViews(warp, 1u << lane, [&](LaneView &view) {
    view.known.generic.raise(state.readComponent, uint32_t(groups));
    if (!onlyReads) {
      view.known.generic.raise(state.doneComponent, uint32_t(groups));
    }
    touch(view);
  });
}

WgmmaState &HazardTracker::groupOf(const Warp &warp) {
  return groups[warp.cta.rank * ((warpsPerCta + 3) / kGroupWarps) +
                warp.index / kGroupWarps];
}

Knowledge HazardTracker::commonKnowledge(const Warp &warp) const {
  const std::vector<LaneView> &views = threadsOf(warp).views;
  Knowledge common = views[0].known;
  for (size_t i = 1; i < views.size(); ++i) {
    common.generic.meet(views[i].known.generic);
    common.asyncShared.meet(views[i].known.asyncShared);
  }
  return common;
}

void HazardTracker::visitRows(Accessor &by, const MatrixOperand &operand,
                              uint32_t first, uint32_t rows) {
  uint32_t perChunk = 16 / matrixTypeBytes(operand.type);
  uint32_t rowStep = operand.mnMajor ? perChunk : 1;
  uint32_t columnStep = operand.mnMajor ? 1 : perChunk;
  for (uint32_t row = first; row < first + rows; row += rowStep) {
    for (uint32_t k = 0; k < wgmmaK(operand.type); k += columnStep) {
      uint32_t address = by.warp.cta.ownAddress(chunkAddress(operand, row, k));
      if (by.warp.cta.shared(address, 16)) {
        visitShared(by, address, 16);
      }
    }
  }
}

/// A warp reads its own 16 rows of A, and all of B once the four warps are
/// there.
void HazardTracker::issueWgmma(const Warp &warp, const WgmmaOp &op,
                               uint64_t number) {
  constexpr uint32_t warpRows = 16;
  threadsOf(warp).wgmmas = number;
  threadsOf(warp).wgmmaPc = warp.now.pc;
  WgmmaState &group = groupOf(warp);
  Knowledge known = commonKnowledge(warp);
  size_t at = size_t(number - group.first);
  if (at == group.partial.size()) {
    group.partial.push_back({addAccess(sharedMemory, warp, Agent::Wgmma,
                                       group.component, uint32_t(number)),
                             0, known});
  }
  PartialWgmma &partial = group.partial[at];
  Accessor by = accessorOf(warp, kLanes, partial.index);
  by.isAsync = true;
  by.reads = true;
  by.known = &known;
  if (!op.aInRegisters) {
    visitRows(by, op.a, warp.index % kGroupWarps * warpRows, warpRows);
  }
  partial.common.generic.meet(known.generic);
  partial.common.asyncShared.meet(known.asyncShared);
  if (++partial.warps == kGroupWarps) {
    by.known = &partial.common;
    by.before = {};
    visitRows(by, op.b, 0, op.b.rows);
    group.partial.pop_front();
    ++group.first;
  }
}

void HazardTracker::waitWgmma(const Warp &warp, uint64_t number) {
  uint32_t component = groupOf(warp).component;
  forViews(warp, warp.exec, [&](LaneView &view) {
    view.known.generic.raise(component, uint32_t(number));
    view.known.generic.raise(component + 1 + warp.index % kGroupWarps,
                             uint32_t(number));
    touch(view);
  });
}

void HazardTracker::finishLoads() {
  for (const LoadState &load : loads) {
    const MbarrierState &barrier = barriers[load.mbarrier];
    const Access &access = accesses[load.index];
    if (access.epoch == kPending ||
        access.epoch > barrier.base + barrier.awaited) {
      Accessor by(warpOf(access), access.pc, load.lane);
      report(Rule::ExitLoad, by,
             "no thread has waited for this copy when the CTA ends");
    }
  }
}

void HazardTracker::finishWarp(const Warp &warp) {
  const WarpThreads &threads = threadsOf(warp);
  uint32_t component = groupOf(warp).component;
  Accessor by(warp, threads.wgmmaPc, kLanes);
  for (const LaneView &view : threads.views) {
    if (view.known.generic[component] < threads.wgmmas) {
      report(Rule::ExitWgmma, by, "the warp ends before this is complete");
      break;
    }
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto found = stores.find(componentOf(warp, lane));
    if (found != stores.end() &&
        viewOf(warp, lane).known.generic[found->second.readComponent] <
            found->second.last) {
      by.pc = found->second.pc;
      by.lane = lane;
      report(Rule::ExitStore, by,
             "the thread ends before it knows that the source has been read");
    }
  }
}

void HazardTracker::finishBarriers() {
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    for (const auto &[address, barrier] : cluster.getCta(rank).mbarriers) {
      if (!barrier.live) {
        continue;
      }
      const Access &init = accesses[barriers[address].init];
      Accessor by(warpOf(init), init.pc, kLanes);
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

void HazardTracker::finish() {
  finishLoads();
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    for (uint32_t i = 0; i < warpsPerCta; ++i) {
      finishWarp(cluster.getCta(rank).getWarp(i));
    }
    finishRemote(rank);
  }
  finishBarriers();
}
