// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async: each thread's copies are complete in the order of their issue as
// far as anybody can know.

#include "core/cluster.h"

using namespace attn::sim;

CopyState &HazardTracker::copiesOf(const Warp &warp, unsigned lane) {
  auto [found, isNew] = copies.try_emplace(componentOf(warp, lane));
  if (isNew) {
    found->second.component = components++;
  }
  return found->second;
}

void HazardTracker::issueCopy(const Warp &warp, unsigned lane,
                              const CopyAction &copy) {
  CopyState &state = copiesOf(warp, lane);
  ++state.count;
  Accessor writer = accessorOf(
      warp, lane,
      addAccess(sharedMemory, warp, Agent::Copy, state.component, state.count));
  writer.writes = true;
  visitShared(writer, copy.shared, copy.bytes);
  if (copy.sourceBytes == 0) {
    return;
  }
  std::lock_guard<std::mutex> lock(grid.mutex);
  Accessor reader = accessorOf(
      warp, lane,
      addAccess(globalMemory, warp, Agent::Copy, state.component, state.count));
  reader.reads = true;
  visit(globalMemory, reader, copy.global, copy.sourceBytes);
}

void HazardTracker::commitCopies(const Warp &warp, unsigned lane) {
  CopyState &state = copiesOf(warp, lane);
  state.groups.push_back(state.count);
}

void HazardTracker::waitCopies(const Warp &warp, unsigned lane, size_t pending,
                               bool all) {
  const CopyState &state = copiesOf(warp, lane);
  uint32_t count = all ? state.count
                   : state.groups.size() <= pending
                       ? 0
                       : state.groups[state.groups.size() - pending - 1];
  forViews(warp, 1u << lane, [&](LaneView &view) {
    view.known.generic.raise(state.component, count);
    touch(view);
  });
}

uint32_t HazardTracker::countCopies(const Warp &warp, unsigned lane) {
  return copiesOf(warp, lane).count;
}

void HazardTracker::arriveCopies(const Warp &warp, unsigned lane,
                                 uint32_t address, uint32_t count) {
  MbarrierState &barrier = barriers[address];
  barrier.events.hasAsync = true;
  barrier.arriving.generic.raise(copiesOf(warp, lane).component, count);
}
