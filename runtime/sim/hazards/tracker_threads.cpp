// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who knows what: lanes, named barriers and fences.

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

uint32_t HazardTracker::indexOf(const Warp &warp) const {
  return warp.cta.rank * warpsPerCta + warp.index;
}

const Warp &HazardTracker::warpOf(const Access &access) const {
  return cluster.getCta(access.rank).getWarp(access.warp);
}

NamedState &HazardTracker::namedOf(const Warp &warp, uint32_t barrier) {
  return named[warp.cta.rank * kNamedBarriers + barrier];
}

uint32_t HazardTracker::componentOf(const Warp &warp, unsigned lane) const {
  return indexOf(warp) * kLanes + lane;
}

LaneView &HazardTracker::viewOf(const Warp &warp, unsigned lane) {
  std::vector<LaneView> &views = threadsOf(warp).views;
  size_t i = 0;
  while (i + 1 < views.size() && !(views[i].lanes >> lane & 1)) {
    ++i;
  }
  return views[i];
}

void HazardTracker::publishOwn(const Warp &warp, unsigned lane, Knowledge &to,
                               uint32_t epoch) {
  const WarpThreads &threads = threadsOf(warp);
  uint32_t component = componentOf(warp, lane);
  to.generic.raise(component, epoch);
  to.asyncShared.raise(component, threads.fencedShared[lane]);
  to.asyncGlobal.raise(component, threads.fencedGlobal[lane]);
  to.device.raise(component, threads.performedAt[lane]);
  to.inits.raise(component, threads.initsAt[lane]);
}

void HazardTracker::publish(const Warp &warp, uint32_t lanes, Knowledge &to) {
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

void HazardTracker::acquire(const Warp &warp, uint32_t lanes,
                            const Knowledge &from) {
  forViews(warp, lanes, [&](LaneView &view) {
    view.known.join(from);
    touch(view);
  });
}

void HazardTracker::acquireEach(const Warp &warp,
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

void HazardTracker::syncLanes(const Warp &warp, uint32_t lanes) {
  LaneView together;
  together.lanes = lanes;
  publish(warp, lanes, together.known);
  touch(together);
  std::vector<LaneView> &views = threadsOf(warp).views;
  size_t kept = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    views[i].lanes &= ~lanes;
    if (views[i].lanes) {
      std::swap(views[kept++], views[i]);
    }
  }
  views.resize(kept);
  views.push_back(std::move(together));
}

void HazardTracker::arriveNamed(const Warp &warp, uint32_t lanes,
                                uint32_t barrier, bool waits) {
  std::shared_ptr<Knowledge> &arriving = namedOf(warp, barrier).arriving;
  if (!arriving) {
    arriving = std::make_shared<Knowledge>();
  }
  if (waits) {
    syncLanes(warp, lanes);
    forLanes(lanes,
             [&](unsigned lane) { threadsOf(warp).barrier[lane] = arriving; });
  }
  publish(warp, lanes, *arriving);
}

void HazardTracker::completeNamed(const Warp &warp, uint32_t barrier) {
  namedOf(warp, barrier).arriving = nullptr;
}

void HazardTracker::leaveNamed(const Warp &warp) {
  acquireEach(warp, threadsOf(warp).barrier);
}

void HazardTracker::fence(const Warp &warp, Scope scope, bool acquires,
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

void HazardTracker::proxyFence(const Warp &warp, bool shared, bool global) {
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

/// What a relaxed write releases to the device: what fences have performed,
/// those of other threads that are ordered before as well.
Knowledge HazardTracker::performed(const Warp &warp, unsigned lane) {
  const WarpThreads &threads = threadsOf(warp);
  const LaneView &view = viewOf(warp, lane);
  uint32_t component = componentOf(warp, lane);
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
  }
  return known;
}

void HazardTracker::release(const Warp &warp, unsigned lane,
                            SyncVariable &variable) {
  WarpThreads &threads = threadsOf(warp);
  const LaneView &view = viewOf(warp, lane);
  Knowledge known;
  if (action.releases) {
    known = view.known;
    publishOwn(warp, lane, known, threadsOf(warp).epoch);
    ++threads.epoch;
  } else {
    known = performed(warp, lane);
  }
  if (action.scope == Scope::Device) {
    variable.toDevice[number].join(known);
  }
  auto add = [&](const std::shared_ptr<const Knowledge> &released,
                 const uint32_t *epochs) {
    if (!action.releases && released) {
      known.join(*released);
      known.generic.raise(componentOf(warp, lane), epochs[lane]);
    }
  };
  if (action.scope >= Scope::Cluster) {
    add(view.releasedToCluster, threads.releasedToClusterAt);
    variable.toCluster[number].join(known);
  }
  add(view.releasedToCta, threads.releasedAt);
  variable.toCta[warp.cta.number].join(known);
}

void HazardTracker::meet(const Warp &warp, unsigned lane,
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
    joinFrom(variable.toCluster, number);
  }
  if (action.scope == Scope::Device) {
    for (const auto &[from, known] : variable.toDevice) {
      met->joinRemote(known, from, number);
    }
  }
  if (action.acquires) {
    acquire(warp, 1u << lane, *met);
    return;
  }
  forViews(warp, 1u << lane, [&](LaneView &view) {
    if (view.met) {
      met->join(*view.met);
    }
    view.met = met;
  });
}

/// Strong accesses order threads: what a write releases, a read of its value
/// acquires, at once or with a fence.
void HazardTracker::synchronize(const Warp &warp, unsigned lane,
                                SyncVariable &variable) {
  if (action.reads && !variable.toCta.empty()) {
    meet(warp, lane, variable);
  }
  if (action.writes && !action.reads) {
    variable = {};
  }
  if (action.writes) {
    release(warp, lane, variable);
  }
}
