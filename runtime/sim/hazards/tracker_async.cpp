// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies, wgmma, and what must not be left when a CTA ends.

#include "core/cta.h"

#include <algorithm>

using namespace attn::sim;

void HazardTracker::visitGlobalSide(Accessor &by, const BulkAction &bulk) {
  if (!bulk.map) {
    visit(globalMemory, by, bulk.global, bulk.bytes);
    return;
  }
  for (const BoxRun &run : boxRuns(*bulk.map, bulk.coordinates)) {
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
  for (const BoxRun &run : boxRuns(*bulk.map, bulk.coordinates)) {
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
  useMbarrier(warp, lane, bulk.mbarrier);
  uint32_t index =
      addAccess(sharedMemory, warp, Agent::Load, barrier.component, kPending);
  Accessor by = accessorOf(warp, lane, index);
  by.isAsync = true;
  by.writes = true;
  useForLoad(by, bulk.mbarrier);
  visitShared(by, bulk.shared, bulk.bytes);
  barrier.loads.push_back(index);

  std::lock_guard<std::mutex> lock(grid.mutex);
  Accessor reader = accessorOf(
      warp, lane,
      addAccess(globalMemory, warp, Agent::Load, barrier.component, kPending));
  reader.isAsync = true;
  reader.reads = true;
  visitGlobalSide(reader, bulk);
  loads.push_back({index, reader.id.index(), lane, bulk.mbarrier});
  return uint32_t(loads.size() - 1);
}

void HazardTracker::completeLoad(uint32_t load, uint32_t address,
                                 uint64_t phase) {
  MbarrierState &barrier = barriers[address];
  const LoadState &state = loads[load];
  uint32_t epoch = barrier.base + uint32_t(phase) + 1;
  accesses[state.index].epoch = epoch;
  barrier.loads.erase(
      std::find(barrier.loads.begin(), barrier.loads.end(), state.index));
  std::lock_guard<std::mutex> lock(grid.mutex);
  grid.accesses[state.globalIndex].epoch = epoch;
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
  visitGlobalSide(writer, bulk);
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

Knowledge HazardTracker::commonKnowledge(const Warp &warp) const {
  const std::vector<LaneView> &views = warps[warp.index].views;
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
      uint32_t address = chunkAddress(operand, row, k);
      if (cta.shared(address, 16)) {
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
  warps[warp.index].wgmmas = number;
  warps[warp.index].wgmmaPc = warp.now.pc;
  WgmmaState &group = groups[warp.index / 4];
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
    visitRows(by, op.a, warp.index % 4 * warpRows, warpRows);
  }
  partial.common.generic.meet(known.generic);
  partial.common.asyncShared.meet(known.asyncShared);
  if (++partial.warps == 4) {
    by.known = &partial.common;
    by.before = {};
    visitRows(by, op.b, 0, op.b.rows);
    group.partial.pop_front();
    ++group.first;
  }
}

void HazardTracker::waitWgmma(const Warp &warp, uint64_t number) {
  uint32_t component = groups[warp.index / 4].component;
  forViews(warp, warp.exec, [&](LaneView &view) {
    view.known.generic.raise(component, uint32_t(number));
    touch(view);
  });
}

void HazardTracker::finishLoads() {
  for (const LoadState &load : loads) {
    const MbarrierState &barrier = barriers[load.mbarrier];
    const Access &access = accesses[load.index];
    if (access.epoch == kPending ||
        access.epoch > barrier.base + barrier.awaited) {
      Accessor by(cta.getWarp(access.warp), access.pc, load.lane);
      report(Rule::ExitLoad, by,
             "no thread has waited for this copy when the CTA ends");
    }
  }
}

void HazardTracker::finishWarp(const Warp &warp) {
  const WarpThreads &threads = warps[warp.index];
  uint32_t component = groups[warp.index / 4].component;
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

void HazardTracker::finish() {
  finishLoads();
  for (uint32_t i = 0; i < warps.size(); ++i) {
    finishWarp(cta.getWarp(i));
  }
  for (const auto &[address, barrier] : cta.mbarriers) {
    if (barrier.live && barrier.tx != 0) {
      const Access &init = accesses[barriers[address].init];
      Accessor by(cta.getWarp(init.warp), init.pc, kLanes);
      report(Rule::ExitTx, by,
             "the mbarrier at " + toHex(address) + " ends with " +
                 std::to_string(barrier.tx) +
                 " bytes expected and not delivered");
    }
  }
}
