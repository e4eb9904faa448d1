// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/tensor_map_tracker.h"

#include "core/cluster.h"
#include "hazards/access_report.h"

using namespace attn::sim;

void TensorMapTracker::acquireTensorMap(const Warp &warp, unsigned lane,
                                        uint64_t address) {
  TensorMapState &state = maps[address];
  state.component = state.fences ? state.component : knowledge.addComponents(1);
  uint32_t fence = ++state.fences;
  Accessor by = history.accessorOf(warp, lane);
  auto visitCell = [&](ShadowCell &cell, uint64_t at) {
    if (!cell.write) {
      return;
    }
    if (history.compare(by, history.grid.accesses[cell.write],
                        cell.write.lane(),
                        /*isGlobal=*/true) == AccessHistory::Order::None) {
      reportConflict(Rule::RaceGlobal, history.globalMemory, by, cell.write,
                     /*wrote=*/true, at);
    }
    state.seen.emplace(cell.write.key(), fence);
  };
  std::lock_guard<std::mutex> lock(history.grid.mutex);
  history.grid.shadow.visit(address, kTensorMapBytes, /*writes=*/false,
                            visitCell);
  knowledge.forViews(warp, 1u << lane, [&](LaneView &view) {
    view.known.generic.raise(state.component, fence);
    knowledge.touch(view);
  });
}

void TensorMapTracker::useTensorMap(const Warp &warp, unsigned lane,
                                    uint64_t address) {
  const TensorMapState &state = maps[address];
  Accessor by = history.accessorOf(warp, lane);
  auto visitCell = [&](ShadowCell &cell, uint64_t at) {
    if (!cell.write) {
      return;
    }
    auto seen = state.seen.find(cell.write.key());
    if (seen == state.seen.end() ||
        by.known->generic[state.component] < seen->second) {
      reportConflict(Rule::TensorMapWritten, history.globalMemory, by,
                     cell.write,
                     /*wrote=*/true, at);
    }
  };
  std::lock_guard<std::mutex> lock(history.grid.mutex);
  history.grid.shadow.visit(address, kTensorMapBytes, /*writes=*/false,
                            visitCell);
}
