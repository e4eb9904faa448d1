// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/thread_knowledge.h"

#include "core/cluster.h"

#include <algorithm>
#include <iterator>

using namespace attn::sim;

static uint32_t countWarps(const Cta &cta) {
  return (cta.threads + kLanes - 1) / kLanes;
}

ThreadKnowledge::ThreadKnowledge(Cluster &cluster)
    : cluster(cluster), number(cluster.getNumber()),
      warpsPerCta(countWarps(cluster.getCta(0))),
      warps(cluster.size() * warpsPerCta),
      components(uint32_t(warps.size()) * kLanes) {
  for (uint32_t i = 0; i < warps.size(); ++i) {
    uint32_t rank = i / warpsPerCta;
    LaneView view;
    view.lanes = cluster.getCta(rank).getWarp(i % warpsPerCta).live;
    view.known.started = 1u << rank;
    view.known.previousEnded = !cluster.getCta(rank).launch.dependent;
    touch(view);
    warps[i].views.push_back(std::move(view));
  }
}

const Warp &ThreadKnowledge::warpOf(const Access &access) const {
  return cluster.getCta(access.rank).getWarp(access.warp);
}

LaneView &ThreadKnowledge::viewOf(const Warp &warp, unsigned lane) {
  std::vector<LaneView> &views = threadsOf(warp).views;
  size_t i = 0;
  while (i + 1 < views.size() && !(views[i].lanes >> lane & 1)) {
    ++i;
  }
  return views[i];
}

void ThreadKnowledge::publishOwn(const Warp &warp, unsigned lane, Knowledge &to,
                                 uint32_t epoch) {
  const WarpThreads &threads = threadsOf(warp);
  uint32_t component = componentOf(warp, lane);
  to.generic.raise(component, epoch);
  to.asyncShared.raise(component, threads.fencedShared[lane]);
  to.asyncGlobal.raise(component, threads.fencedGlobal[lane]);
  to.device.raise(component, threads.performedAt[lane]);
  to.inits.raise(component, threads.initsAt[lane]);
  if (usesTensor) {
    to.tensor.ordered.raise(component, epoch);
  }
}

void ThreadKnowledge::publishTensor(const Warp &warp, unsigned lane,
                                    Knowledge &to) {
  if (usesTensor) {
    to.tensor.join(viewOf(warp, lane).known.tensor);
    to.tensor.ordered.raise(componentOf(warp, lane), threadsOf(warp).epoch);
    ++threadsOf(warp).epoch;
  }
}

void ThreadKnowledge::publishFenced(const Warp &warp, unsigned lane,
                                    Scope scope, Knowledge &to) {
  const WarpThreads &threads = threadsOf(warp);
  const LaneView &view = viewOf(warp, lane);
  bool isWide = scope >= Scope::Cluster;
  const auto &released = isWide ? view.releasedToCluster : view.releasedToCta;
  if (!released) {
    return;
  }
  uint32_t epoch =
      isWide ? threads.releasedToClusterAt[lane] : threads.releasedAt[lane];
  uint32_t component = componentOf(warp, lane);
  to.join(*released);
  to.generic.raise(component, epoch);
  to.asyncShared.raise(component, std::min(epoch, threads.fencedShared[lane]));
  to.asyncGlobal.raise(component, std::min(epoch, threads.fencedGlobal[lane]));
  to.device.raise(component, std::min(epoch, threads.performedAt[lane]));
}

void LaneView::meet(std::shared_ptr<const Knowledge> seen) {
  if (met) {
    auto both = std::make_shared<Knowledge>(*met);
    both->join(*seen);
    seen = std::move(both);
  }
  met = std::move(seen);
}

void ThreadKnowledge::publish(const Warp &warp, uint32_t lanes, Knowledge &to) {
  for (const LaneView &view : threadsOf(warp).views) {
    if (view.lanes & lanes) {
      to.join(view.known);
    }
  }
  forLanes(lanes, [&](unsigned lane) {
    publishOwn(warp, lane, to, threadsOf(warp).epoch);
  });
  ++threadsOf(warp).epoch;
}

void ThreadKnowledge::acquire(const Warp &warp, uint32_t lanes,
                              const Knowledge &from) {
  forViews(warp, lanes, [&](LaneView &view) {
    view.known.join(from);
    touch(view);
  });
}

void ThreadKnowledge::acquireEach(const Warp &warp,
                                  std::shared_ptr<Knowledge> *barriers) {
  for (uint32_t left = warp.exec; left;) {
    std::shared_ptr<Knowledge> barrier = barriers[__builtin_ctz(left)];
    uint32_t lanes = 0;
    forLanes(left, [&](unsigned lane) {
      bool isSame = barriers[lane] == barrier;
      lanes |= uint32_t(isSame) << lane;
      barriers[lane] = isSame ? nullptr : barriers[lane];
    });
    acquire(warp, lanes & left, *barrier);
    left &= ~lanes;
  }
}

/// Adds lanes of a view to the group with the same fences.
static void groupByFences(std::vector<LaneView> &groups, uint32_t lanes,
                          const LaneView &view) {
  for (LaneView &group : groups) {
    if (group.hasFencesOf(view)) {
      group.lanes |= lanes;
      return;
    }
  }
  LaneView group;
  group.lanes = lanes;
  group.releasedToCta = view.releasedToCta;
  group.releasedToCluster = view.releasedToCluster;
  group.met = view.met;
  groups.push_back(std::move(group));
}

/// Lanes whose fences differ keep views of their own: a fence is part of its
/// own thread's release or acquire pattern alone.
void ThreadKnowledge::syncLanes(const Warp &warp, uint32_t lanes) {
  std::vector<LaneView> &views = threadsOf(warp).views;
  if (views.size() == 1 && views[0].lanes == lanes) {
    // The usual case, without copies of clocks.
    publish(warp, lanes, views[0].known);
    touch(views[0]);
    return;
  }
  LaneView together;
  publish(warp, lanes, together.known);
  touch(together);
  for (const LaneView &view : views) {
    if (view.lanes & lanes) {
      together.tensorSeen.join(view.tensorSeen);
    }
  }
  std::vector<LaneView> others;
  std::vector<LaneView> groups;
  for (LaneView &view : views) {
    if (uint32_t inside = view.lanes & lanes) {
      groupByFences(groups, inside, view);
    }
    view.lanes &= ~lanes;
    if (view.lanes) {
      others.push_back(std::move(view));
    }
  }
  for (LaneView &group : groups) {
    group.known = together.known;
    group.tensorSeen = together.tensorSeen;
    group.serial = together.serial;
  }
  views = std::move(others);
  std::move(groups.begin(), groups.end(), std::back_inserter(views));
}

void ThreadKnowledge::fence(const Warp &warp, Scope scope, bool acquires,
                            bool releases) {
  WarpThreads &threads = threadsOf(warp);
  forViews(warp, warp.exec, [&](LaneView &view) {
    if (acquires && view.met) {
      view.known.join(*view.met);
      view.met = nullptr;
      touch(view);
    }
    if (releases) {
      if (scope == Scope::Device) {
        view.known.device.join(view.known.generic);
        touch(view);
      }
      view.releasedToCta = std::make_shared<Knowledge>(view.known);
      if (scope >= Scope::Cluster) {
        view.releasedToCluster = view.releasedToCta;
      }
    }
  });
  if (releases) {
    forLanes(warp.exec, [&](unsigned lane) {
      threads.releasedAt[lane] = threads.epoch;
      if (scope >= Scope::Cluster) {
        threads.releasedToClusterAt[lane] = threads.epoch;
      }
      if (scope == Scope::Device) {
        threads.performedAt[lane] = threads.epoch;
      }
    });
    ++threads.epoch;
  }
}

void ThreadKnowledge::proxyFence(const Warp &warp, bool shared, bool global) {
  WarpThreads &threads = threadsOf(warp);
  forViews(warp, warp.exec, [&](LaneView &view) {
    if (shared) {
      view.known.asyncShared.join(view.known.generic);
    }
    if (global) {
      view.known.asyncGlobal.join(view.known.generic);
      for (auto &[number, known] : view.known.remote) {
        known.asyncGlobal.join(known.generic);
      }
    }
    touch(view);
  });
  forLanes(warp.exec, [&](unsigned lane) {
    uint32_t &toShared = threads.fencedShared[lane];
    uint32_t &toGlobal = threads.fencedGlobal[lane];
    toShared = shared ? threads.epoch : toShared;
    toGlobal = global ? threads.epoch : toGlobal;
  });
  ++threads.epoch;
}

void ThreadKnowledge::awaitPrevious(const Warp &warp) {
  forViews(warp, warp.exec, [&](LaneView &view) {
    view.known.previousEnded = true;
    touch(view);
  });
}
