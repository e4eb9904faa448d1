// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/tmem_tracker.h"

#include "core/cluster.h"

using namespace attn::sim;

static constexpr uint32_t kAllHalves = (1u << kTmemHalves) - 1;

TmemTracker::TmemTracker(ThreadKnowledge &knowledge, AccessHistory &history)
    : knowledge(knowledge), history(history), ctas(knowledge.cluster.size()) {}

TmemTracker::WarpState &TmemTracker::stateOf(const Warp &warp) {
  knowledge.usesTensor = true;
  auto [found, isNew] = warps.try_emplace(knowledge.indexOf(warp));
  if (isNew) {
    found->second.loadComponent = knowledge.addComponents(2);
    found->second.storeComponent = found->second.loadComponent + 1;
  }
  return found->second;
}

TmemTracker::ThreadState &TmemTracker::stateOf(const Warp &warp,
                                               unsigned lane) {
  knowledge.usesTensor = true;
  auto [found, isNew] = threads.try_emplace(knowledge.componentOf(warp, lane));
  if (isNew) {
    found->second.component = knowledge.addComponents(1);
    found->second.warp = &warp;
  }
  return found->second;
}

void TmemTracker::meet(const Warp &warp, Clock &ordered, Clock &seen) const {
  const std::vector<LaneView> &views = knowledge.threadsOf(warp).views;
  ordered = views[0].known.tensor.ordered;
  seen = views[0].tensorSeen;
  for (size_t i = 1; i < views.size(); ++i) {
    ordered.meet(views[i].known.tensor.ordered);
    seen.meet(views[i].tensorSeen);
  }
}

void TmemTracker::reportConflict(const Warp &warp, const TmemAccessor &by,
                                 bool writes, const TmemAccess &other,
                                 bool wrote, Rule rule, TmemPlace place) {
  const CtaReports &reports = warp.cta.reports;
  if (!reports.wantsHazard(rule, by.access.pc, other.pc)) {
    return;
  }
  Accessor who(warp, by.access.pc, by.access.lane);
  report(
      rule, who,
      std::string(by.access.agent == TmemAgent::Free ? "frees"
                  : writes                           ? "writes"
                                                     : "reads") +
          " tensor memory at lanes " + std::to_string(place.lane) + " to " +
          std::to_string(place.lane + kTmemHalf - 1) + ", column " +
          std::to_string(place.column) + ", which " +
          reports.describePlace(other.cta, other.warp, other.pc, other.lane) +
          (wrote ? " writes: " : " reads: ") + describeMissingOrder(rule),
      other.pc);
}

void TmemTracker::visit(const Warp &warp, uint32_t rank, const TmemAccessor &by,
                        uint32_t index, const TmemRegion &region, bool reads,
                        bool writes) {
  TmemShadow &shadow = ctas[rank];
  uint32_t last = 0; // known to be no conflict
  auto check = [&](uint32_t id, bool wrote, TmemPlace place) {
    if (id == 0 || id == last || id == index) {
      return;
    }
    Rule rule = Rule::TmemResult;
    if (findTmemConflict(by, writes, shadow[id], wrote, rule)) {
      reportConflict(warp, by, writes, shadow[id], wrote, rule, place);
    } else {
      last = id;
    }
  };
  shadow.visit(region, [&](TmemCell &cell, uint32_t half, uint32_t column) {
    TmemPlace place = {half * kTmemHalf, column};
    if (reads && cell.write == 0 &&
        warp.cta.reports.wantsHazard(Rule::UninitTmem, by.access.pc, kNone)) {
      report(Rule::UninitTmem, Accessor(warp, by.access.pc, by.access.lane),
             "reads tensor memory at lanes " + std::to_string(place.lane) +
                 " to " + std::to_string(place.lane + kTmemHalf - 1) +
                 ", column " + std::to_string(column) +
                 ", which nothing has written");
    }
    check(cell.write, /*wrote=*/true, place);
    if (!writes) {
      shadow.addRead(cell, index);
      return;
    }
    for (uint32_t read : cell.reads) {
      check(read, /*wrote=*/false, place);
    }
    TmemShadow::write(cell, index);
  });
}

void TmemTracker::accessByWarp(const Warp &warp, const TmemAccess &access,
                               const std::vector<TmemRegion> &regions,
                               bool writes) {
  Clock ordered;
  Clock seen;
  meet(warp, ordered, seen);
  TmemAccessor by = {access, ordered, seen};
  by.access.cta = warp.cta.number;
  by.access.pc = warp.now.pc;
  by.access.warp = warp.index;
  by.access.lane = kLanes;
  uint32_t index = ctas[warp.cta.rank].add(by.access);
  for (const TmemRegion &region : regions) {
    visit(warp, warp.cta.rank, by, index, region, !writes, writes);
  }
}

void TmemTracker::allocate(const Warp &warp, uint32_t base, uint32_t columns) {
  knowledge.usesTensor = true;
  knowledge.syncLanes(warp, warp.exec);
  ctas[warp.cta.rank].visit(
      {kAllHalves, base, columns},
      [](TmemCell &cell, uint32_t, uint32_t) { TmemShadow::write(cell, 0); });
}

void TmemTracker::release(const Warp &warp, uint32_t base, uint32_t columns) {
  TmemAccess access;
  access.agent = TmemAgent::Free;
  accessByWarp(warp, access, {{kAllHalves, base, columns}}, /*writes=*/true);
}

void TmemTracker::issueLoad(const Warp &warp,
                            const std::vector<TmemRegion> &regions,
                            uint64_t number) {
  WarpState &state = stateOf(warp);
  auto [site, isNew] = state.sites.try_emplace(warp.now.pc);
  if (isNew) {
    site->second.component = knowledge.addComponents(1);
  }
  TmemAccess access;
  access.agent = TmemAgent::Load;
  access.component = state.loadComponent;
  access.epoch = ++state.loads;
  access.used = site->second.component;
  access.usedEpoch = ++site->second.count;
  state.uses.resize(number);
  state.uses[number - 1] = {access.used, access.usedEpoch};
  accessByWarp(warp, access, regions, /*writes=*/false);
}

void TmemTracker::useLoad(const Warp &warp, uint64_t number) {
  auto [component, epoch] = stateOf(warp).uses[number - 1];
  for (LaneView &view : knowledge.threadsOf(warp).views) {
    view.known.tensor.ordered.raise(component, epoch);
    knowledge.touch(view);
  }
}

void TmemTracker::issueStore(const Warp &warp,
                             const std::vector<TmemRegion> &regions) {
  WarpState &state = stateOf(warp);
  TmemAccess access;
  access.agent = TmemAgent::Store;
  access.component = state.storeComponent;
  access.epoch = ++state.stores;
  accessByWarp(warp, access, regions, /*writes=*/true);
}

void TmemTracker::wait(const Warp &warp, bool loads) {
  WarpState &state = stateOf(warp);
  uint32_t component = loads ? state.loadComponent : state.storeComponent;
  uint32_t count = loads ? state.loads : state.stores;
  for (LaneView &view : knowledge.threadsOf(warp).views) {
    view.known.tensor.ordered.raise(component, count);
    view.tensorSeen.raise(component, count);
    knowledge.touch(view);
  }
}

void TmemTracker::readShared(const Warp &warp, unsigned lane, uint32_t rank,
                             const ThreadState &thread,
                             const TensorAction &action) {
  if (action.chunks.empty()) {
    return;
  }
  Accessor by = history.accessorOf(
      warp, lane,
      history.addAccess(history.sharedMemory, warp, Agent::Umma,
                        thread.component, thread.count));
  by.isAsync = true;
  by.reads = true;
  for (uint32_t address : action.chunks) {
    history.visitShared(
        by, rank << kSharedRankShift | (address & kSharedOffsetMask), 16);
  }
}

void TmemTracker::issue(const Warp &warp, unsigned lane,
                        const TensorAction &action) {
  ThreadState &thread = stateOf(warp, lane);
  thread.pc = warp.now.pc;
  const LaneView &view = knowledge.viewOf(warp, lane);
  TmemAccessor by = {{}, view.known.tensor.ordered, view.tensorSeen};
  by.access.agent = action.agent;
  by.access.cta = warp.cta.number;
  by.access.pc = warp.now.pc;
  by.access.warp = warp.index;
  by.access.lane = lane;
  by.access.component = thread.component;
  by.access.epoch = ++thread.count;
  by.access.thread = knowledge.componentOf(warp, lane);
  by.access.threadEpoch = knowledge.threadsOf(warp).epoch;
  by.access.key = action.key;
  for (uint32_t left = action.ranks; left; left &= left - 1) {
    uint32_t rank = uint32_t(__builtin_ctz(left));
    uint32_t index = ctas[rank].add(by.access);
    for (const TmemRegion &read : action.reads) {
      visit(warp, rank, by, index, read, /*reads=*/true, /*writes=*/false);
    }
    visit(warp, rank, by, index, action.writes, action.accumulates,
          /*writes=*/true);
    readShared(warp, lane, rank, thread, action);
  }
}

/// A commit implies a fence::before_thread_sync, but does not release what the
/// thread has stored. It does tell which phases are complete, as far as the
/// thread knew: a complete phase is complete for all threads.
std::shared_ptr<const Knowledge> TmemTracker::issueCommit(const Warp &warp,
                                                          unsigned lane) {
  const ThreadState &thread = stateOf(warp, lane);
  const LaneView &view = knowledge.viewOf(warp, lane);
  auto known = std::make_shared<Knowledge>();
  known->tensor = view.known.tensor;
  known->tensor.fenced.join(view.tensorSeen);
  known->tensor.ordered.raise(thread.component, thread.count);
  known->tensor.fenced.raise(thread.component, thread.count);
  for (uint32_t component : knowledge.barrierComponents) {
    known->generic.raise(component, view.known.generic[component]);
  }
  return known;
}

std::pair<uint32_t, uint32_t> TmemTracker::lastOperation(const Warp &warp,
                                                         unsigned lane) {
  const ThreadState &thread = stateOf(warp, lane);
  return {thread.component, thread.count};
}

void TmemTracker::fenceBefore(const Warp &warp) {
  knowledge.usesTensor = true;
  uint32_t epoch = knowledge.threadsOf(warp).epoch;
  forLanes(warp.exec, [&](unsigned lane) {
    uint32_t component = knowledge.componentOf(warp, lane);
    if (threads.count(component)) {
      knowledge.forViews(warp, 1u << lane, [&](LaneView &view) {
        view.known.tensor.fenced.raise(component, epoch);
      });
    }
  });
  knowledge.forViews(warp, warp.exec, [&](LaneView &view) {
    view.known.tensor.fenced.join(view.tensorSeen);
    knowledge.touch(view);
  });
  ++knowledge.threadsOf(warp).epoch;
}

void TmemTracker::fenceAfter(const Warp &warp) {
  knowledge.usesTensor = true;
  knowledge.forViews(warp, warp.exec, [&](LaneView &view) {
    view.tensorSeen.join(view.known.tensor.fenced);
  });
}

void TmemTracker::finish() {
  Clock known;
  for (const WarpThreads &each : knowledge.warps) {
    for (const LaneView &view : each.views) {
      known.join(view.known.tensor.ordered);
    }
  }
  for (const auto &[component, thread] : threads) {
    if (known[thread.component] < thread.count) {
      report(Rule::ExitUmma,
             Accessor(*thread.warp, thread.pc, component % kLanes),
             "no thread has waited for this when the CTA ends");
    }
  }
  for (uint32_t rank = 0; rank < knowledge.cluster.size(); ++rank) {
    Cta &cta = knowledge.cluster.getCta(rank);
    TensorUnit *unit = cta.inFlight.findTensorUnit();
    for (size_t i = 0; unit && i < unit->allocator.get().size(); ++i) {
      const TmemAllocation &left = unit->allocator.get()[i];
      report(Rule::TmemLeak, Accessor(cta.getWarp(left.warp), left.pc, kLanes),
             "columns " + std::to_string(left.base) + " to " +
                 std::to_string(left.base + left.columns - 1) +
                 " are still allocated when the CTA ends");
    }
  }
}
