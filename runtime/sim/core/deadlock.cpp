// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/deadlock.h"

#include "core/cluster.h"

#include <algorithm>

using namespace attn::sim;

static std::string describeWait(const Cta &cta, const Wait &wait) {
  switch (wait.kind) {
  case Wait::Kind::None:
    return "is ready";
  case Wait::Kind::Convergence:
    return "waits for the warp's other lanes (" + toHex(wait.value) +
           ") to come here";
  case Wait::Kind::NamedBarrier: {
    const NamedBarrier &barrier = cta.barriers[wait.object];
    return "waits at barrier " + std::to_string(wait.object) + ": " +
           std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected) + " threads arrived";
  }
  case Wait::Kind::ClusterBarrier:
    return "waits at the cluster's barrier: " +
           std::to_string(cta.cluster.barrier.arrived) + " of " +
           std::to_string(cta.cluster.barrier.live) + " threads arrived";
  case Wait::Kind::Mbarrier: {
    std::string text = "waits at mbarrier " + toHex(wait.object) +
                       " for the phase of parity " + std::to_string(wait.value);
    auto found = cta.mbarriers.find(wait.object);
    if (found == cta.mbarriers.end() || !found->second.live) {
      return text + ", which is not initialized";
    }
    const Mbarrier &barrier = found->second;
    return text + ": in phase " + std::to_string(barrier.phase) + ", " +
           std::to_string(barrier.pending) + " of " +
           std::to_string(barrier.expected) + " arrivals and " +
           std::to_string(barrier.tx) + " bytes pending";
  }
  case Wait::Kind::Wgmma:
    return "waits for wgmma: at most " + std::to_string(wait.value) +
           " groups pending";
  case Wait::Kind::BulkGroup:
    return "waits for bulk copies: at most " + std::to_string(wait.value) +
           " groups pending";
  case Wait::Kind::AsyncGroup:
    return "waits for cp.async: at most " + std::to_string(wait.value) +
           " groups pending";
  case Wait::Kind::Registers:
    return "waits for registers: " + std::to_string(wait.value) + " wanted, " +
           std::to_string(cta.registers.getFree()) + " free";
  case Wait::Kind::TensorMemory:
    return "waits for " + std::to_string(wait.value) +
           " columns of tensor memory: " + std::to_string(wait.object) +
           " free";
  }
  return "";
}

/// Calls `visit(warp, group)` for the lanes of each warp that has not ended.
template <typename Visit> static void forGroups(const Cta &cta, Visit visit) {
  for (const auto &warp : cta.getWarps()) {
    if (warp->isDone()) {
      continue;
    }
    if (warp->now.lanes) {
      visit(*warp, warp->now);
    }
    for (const LaneGroup &group : warp->others) {
      visit(*warp, group);
    }
  }
}

/// Whether the warps that may still arrive are too few.
static bool needsExited(const Cta &cta, const NamedBarrier &barrier) {
  uint32_t possible = 0;
  for (const auto &warp : cta.getWarps()) {
    bool waits = barrier.waiters >> warp->index & 1;
    possible += warp->isDone() || waits ? 0 : kLanes;
  }
  return barrier.arrived + possible < barrier.expected;
}

/// Whether a warp of the warpgroup has ended.
static bool lacksWarp(const Cta &cta, uint32_t group) {
  auto first = cta.getWarps().begin() + 4 * group;
  return std::any_of(first, std::min(first + 4, cta.getWarps().end()),
                     [](const auto &warp) { return warp->isDone(); });
}

Rule attn::sim::findDeadlockRule(const Cta &cta) {
  Rule rule = Rule::Deadlock;
  forGroups(cta, [&](const Warp &warp, const LaneGroup &group) {
    const Wait &wait = group.wait;
    if (rule != Rule::Deadlock || !group.blocked) {
      return;
    }
    if (wait.kind == Wait::Kind::Convergence) {
      rule = Rule(wait.object);
    } else if (wait.kind == Wait::Kind::Registers) {
      rule = Rule::RegistersPool;
    } else if (wait.kind == Wait::Kind::Wgmma &&
               lacksWarp(cta, warp.index / 4)) {
      rule = Rule::WgmmaGroup;
    } else if (wait.kind == Wait::Kind::NamedBarrier &&
               needsExited(cta, cta.barriers[wait.object])) {
      rule = Rule::BarrierExited;
    }
  });
  return rule;
}

bool attn::sim::waitsForTensorMemory(const Cta &cta) {
  bool waits = false;
  forGroups(cta, [&](const Warp &, const LaneGroup &group) {
    waits |= group.blocked && group.wait.kind == Wait::Kind::TensorMemory;
  });
  return waits;
}

std::string attn::sim::describeBlocked(const Cta &cta) {
  std::string text;
  forGroups(cta, [&](const Warp &warp, const LaneGroup &group) {
    text +=
        "\n  " +
        cta.reports.describePlace(cta.number, warp.index, group.pc, kLanes) +
        " lanes " + toHex(group.lanes) + " " + describeWait(cta, group.wait);
  });
  const std::vector<WarpGroup> &groups = cta.inFlight.getGroups();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].queue.empty()) {
      text += "\n  warpgroup " + std::to_string(i) + ": " +
              std::to_string(groups[i].queue.size()) +
              " wgmma wait for warps that did not issue them (issued by " +
              toHex(groups[i].queue.front().issued) + ")";
    }
  }
  return text;
}
