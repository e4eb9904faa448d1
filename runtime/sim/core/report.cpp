// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CTA says when something is wrong.

#include "core/cluster.h"

#include <algorithm>
#include <cstdio>

using namespace attn::sim;

std::string attn::sim::toHex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// An instruction's text, without its middle if it is long.
static std::string shorten(std::string text) {
  constexpr size_t longest = 100;
  return text.size() <= longest ? text
                                : text.substr(0, longest - 20) + " ... " +
                                      text.substr(text.size() - 15);
}

std::string Cta::describePlace(uint64_t cta, uint32_t warp, uint32_t pc,
                               unsigned lane) const {
  const ptx::Instruction &origin = program.origin(program.code[pc]);
  std::string text = "PTX line " + std::to_string(origin.at.line);
  if (origin.source.line) {
    text += " (source " + std::to_string(origin.source.line) + ":" +
            std::to_string(origin.source.column) + ")";
  }
  const unsigned *grid = launch.grid;
  text += ", CTA (" + std::to_string(cta % grid[0]) + "," +
          std::to_string(cta / grid[0] % grid[1]) + "," +
          std::to_string(cta / grid[0] / grid[1]) + "), warp " +
          std::to_string(warp);
  if (lane < kLanes) {
    text += ", lane " + std::to_string(lane);
  }
  return text + ": '" + shorten(ptx::print(origin)) + "'";
}

std::string Cta::describeLine(uint32_t pc) const {
  return "PTX line " + std::to_string(program.origin(program.code[pc]).at.line);
}

void Cta::reportFault(const Warp &warp, const std::string &message,
                      unsigned lane) {
  if (failure.empty()) {
    failure =
        describePlace(number, warp.index, warp.now.pc, lane) + ": " + message;
  }
}

static bool isFatal(HazardMode mode, Rule rule) {
  return mode == HazardMode::Error &&
         getRuleInfo(rule).severity == Severity::Error;
}

bool Cta::wantsHazard(Rule rule, uint32_t pc, uint32_t otherPc) const {
  return failure.empty() &&
         (isFatal(hazardMode, rule) || !reports.contains({rule, pc, otherPc}));
}

void Cta::reportHazard(Rule rule, const Warp &warp, uint32_t pc, unsigned lane,
                       const std::string &message, uint32_t otherPc) {
  if (!wantsHazard(rule, pc, otherPc)) {
    return;
  }
  std::string text = describePlace(number, warp.index, pc, lane) + ": " +
                     message + ruleSuffix(rule);
  if (isFatal(hazardMode, rule)) {
    failure = std::move(text);
  } else {
    reports.add({rule, pc, otherPc}, {std::move(text), number});
  }
}

bool Cta::report(Rule rule, const Warp &warp, uint32_t pc,
                 const std::string &message, unsigned lane) {
  if (hazardMode != HazardMode::Off) {
    reportHazard(rule, warp, pc, lane, message);
  }
  return failure.empty();
}

std::string Cta::describeWait(const Wait &wait) const {
  switch (wait.kind) {
  case Wait::Kind::None:
    return "is ready";
  case Wait::Kind::Convergence:
    return "waits for the warp's other lanes (" + toHex(wait.value) +
           ") to come here";
  case Wait::Kind::NamedBarrier: {
    const NamedBarrier &barrier = barriers[wait.object];
    return "waits at barrier " + std::to_string(wait.object) + ": " +
           std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected) + " threads arrived";
  }
  case Wait::Kind::ClusterBarrier:
    return "waits at the cluster's barrier: " +
           std::to_string(cluster.barrier.arrived) + " of " +
           std::to_string(cluster.barrier.live) + " threads arrived";
  case Wait::Kind::Mbarrier: {
    std::string text = "waits at mbarrier " + toHex(wait.object) +
                       " for the phase of parity " + std::to_string(wait.value);
    auto found = mbarriers.find(wait.object);
    if (found == mbarriers.end() || !found->second.live) {
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
           std::to_string(registers.getFree()) + " free";
  }
  return "";
}

template <typename Visit> void Cta::forGroups(Visit visit) const {
  for (const auto &warp : warps) {
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
bool Cta::needsExited(const NamedBarrier &barrier) const {
  uint32_t possible = 0;
  for (const auto &warp : warps) {
    bool waits = barrier.waiters >> warp->index & 1;
    possible += warp->isDone() || waits ? 0 : kLanes;
  }
  return barrier.arrived + possible < barrier.expected;
}

/// Whether a warp of the warpgroup has ended.
bool Cta::lacksWarp(uint32_t group) const {
  auto first = warps.begin() + 4 * group;
  return std::any_of(first, std::min(first + 4, warps.end()),
                     [](const auto &warp) { return warp->isDone(); });
}

Rule Cta::findDeadlockRule() const {
  Rule rule = Rule::Deadlock;
  forGroups([&](const Warp &warp, const LaneGroup &group) {
    const Wait &wait = group.wait;
    if (rule != Rule::Deadlock || !group.blocked) {
      return;
    }
    if (wait.kind == Wait::Kind::Convergence) {
      rule = Rule(wait.object);
    } else if (wait.kind == Wait::Kind::Registers) {
      rule = Rule::RegistersPool;
    } else if (wait.kind == Wait::Kind::Wgmma && lacksWarp(warp.index / 4)) {
      rule = Rule::WgmmaGroup;
    } else if (wait.kind == Wait::Kind::NamedBarrier &&
               needsExited(barriers[wait.object])) {
      rule = Rule::BarrierExited;
    }
  });
  return rule;
}

std::string Cta::describeBlocked() const {
  std::string text;
  forGroups([&](const Warp &warp, const LaneGroup &group) {
    text += "\n  " + describePlace(number, warp.index, group.pc, kLanes) +
            " lanes " + toHex(group.lanes) + " " + describeWait(group.wait);
  });
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
