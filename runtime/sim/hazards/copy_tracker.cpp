// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/copy_tracker.h"

#include "core/cluster.h"

using namespace attn::sim;

CopyState &CopyTracker::copiesOf(const Warp &warp, unsigned lane) {
  auto [found, isNew] = copies.try_emplace(knowledge.componentOf(warp, lane));
  if (isNew) {
    found->second.component = knowledge.addComponents(1);
  }
  return found->second;
}

void CopyTracker::issueCopy(const Warp &warp, unsigned lane,
                            const CopyAction &copy) {
  CopyState &state = copiesOf(warp, lane);
  ++state.count;
  Accessor writer = history.accessorOf(
      warp, lane,
      history.addAccess(history.sharedMemory, warp, Agent::Copy,
                        state.component, state.count));
  writer.writes = true;
  history.visitShared(writer, copy.shared, copy.bytes);
  if (copy.sourceBytes == 0) {
    return;
  }
  std::lock_guard<std::mutex> lock(history.grid.mutex);
  Accessor reader = history.accessorOf(
      warp, lane,
      history.addAccess(history.globalMemory, warp, Agent::Copy,
                        state.component, state.count));
  reader.reads = true;
  history.visit(history.globalMemory, reader, copy.global, copy.sourceBytes);
}

void CopyTracker::commitCopies(const Warp &warp, unsigned lane) {
  CopyState &state = copiesOf(warp, lane);
  state.groups.push_back(state.count);
}

void CopyTracker::waitCopies(const Warp &warp, unsigned lane, size_t pending,
                             bool all) {
  const CopyState &state = copiesOf(warp, lane);
  uint32_t count = all ? state.count
                   : state.groups.size() <= pending
                       ? 0
                       : state.groups[state.groups.size() - pending - 1];
  knowledge.forViews(warp, 1u << lane, [&](LaneView &view) {
    view.known.generic.raise(state.component, count);
    knowledge.touch(view);
  });
}

uint32_t CopyTracker::countCopies(const Warp &warp, unsigned lane) {
  return copiesOf(warp, lane).count;
}

void CopyTracker::arriveCopies(const Warp &warp, unsigned lane,
                               uint32_t address, uint32_t count) {
  Knowledge known;
  known.generic.raise(copiesOf(warp, lane).component, count);
  mbarriers.signals.arriveAsync(address, known);
}
