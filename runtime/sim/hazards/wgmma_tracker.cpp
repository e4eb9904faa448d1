// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/wgmma_tracker.h"

#include "core/cluster.h"

using namespace attn::sim;

WgmmaTracker::WgmmaTracker(ThreadKnowledge &knowledge, AccessHistory &history)
    : knowledge(knowledge), history(history),
      groups(knowledge.cluster.size() *
             ((knowledge.warpsPerCta + kGroupWarps - 1) / kGroupWarps)) {
  for (WgmmaState &group : groups) {
    // Of the group, and of each of its warps.
    group.component = knowledge.addComponents(1 + kGroupWarps);
  }
}

WgmmaState &WgmmaTracker::groupOf(const Warp &warp) {
  return groups[warp.cta.rank *
                    ((knowledge.warpsPerCta + kGroupWarps - 1) / kGroupWarps) +
                warp.index / kGroupWarps];
}

Knowledge WgmmaTracker::commonKnowledge(const Warp &warp) const {
  const std::vector<LaneView> &views = knowledge.threadsOf(warp).views;
  Knowledge common = views[0].known;
  for (size_t i = 1; i < views.size(); ++i) {
    common.generic.meet(views[i].known.generic);
    common.asyncShared.meet(views[i].known.asyncShared);
  }
  return common;
}

void WgmmaTracker::visitRows(Accessor &by, const MatrixOperand &operand,
                             uint32_t first, uint32_t rows) {
  uint32_t perChunk = 16 / matrixTypeBytes(operand.type);
  uint32_t rowStep = operand.mnMajor ? perChunk : 1;
  uint32_t columnStep = operand.mnMajor ? 1 : perChunk;
  for (uint32_t row = first; row < first + rows; row += rowStep) {
    for (uint32_t k = 0; k < wgmmaK(operand.type); k += columnStep) {
      uint32_t address = by.warp.cta.ownAddress(chunkAddress(operand, row, k));
      if (by.warp.cta.shared(address, 16)) {
        history.visitShared(by, address, 16);
      }
    }
  }
}

/// A warp reads its own 16 rows of A, and all of B after all four warps have
/// issued.
void WgmmaTracker::issueWgmma(const Warp &warp, const WgmmaOp &op,
                              uint64_t number) {
  constexpr uint32_t warpRows = 16;
  knowledge.threadsOf(warp).wgmmas = number;
  knowledge.threadsOf(warp).wgmmaPc = warp.now.pc;
  WgmmaState &group = groupOf(warp);
  Knowledge known = commonKnowledge(warp);
  size_t at = size_t(number - group.first);
  if (at == group.partial.size()) {
    group.partial.push_back(
        {history.addAccess(history.sharedMemory, warp, Agent::Wgmma,
                           group.component, uint32_t(number)),
         0, known});
  }
  PartialWgmma &partial = group.partial[at];
  Accessor by = history.accessorOf(warp, kLanes, partial.index);
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

void WgmmaTracker::waitWgmma(const Warp &warp, uint64_t number) {
  uint32_t component = groupOf(warp).component;
  knowledge.forViews(warp, warp.exec, [&](LaneView &view) {
    view.known.generic.raise(component, uint32_t(number));
    view.known.generic.raise(component + 1 + warp.index % kGroupWarps,
                             uint32_t(number));
    knowledge.touch(view);
  });
}

void WgmmaTracker::finishWgmma(const Warp &warp) {
  const WarpThreads &threads = knowledge.threadsOf(warp);
  uint32_t component = groupOf(warp).component;
  for (const LaneView &view : threads.views) {
    if (view.known.generic[component] < threads.wgmmas) {
      report(Rule::ExitWgmma, Accessor(warp, threads.wgmmaPc, kLanes),
             "the warp ends before this is complete");
      break;
    }
  }
}
