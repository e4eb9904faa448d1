// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CTA says when something is wrong.

#include "core/cluster.h"

#include <cstdio>

using namespace attn::sim;

static std::string hex(uint64_t value) {
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

std::string Cta::describePlace(const Warp &warp, uint32_t pc,
                               unsigned lane) const {
  const ptx::Instruction &origin = program.origin(program.code[pc]);
  std::string text = "PTX line " + std::to_string(origin.at.line);
  if (origin.source.line) {
    text += " (source " + std::to_string(origin.source.line) + ":" +
            std::to_string(origin.source.column) + ")";
  }
  text += ", CTA (" + std::to_string(position[0]) + "," +
          std::to_string(position[1]) + "," + std::to_string(position[2]) +
          "), warp " + std::to_string(warp.index);
  if (lane < kLanes) {
    text += ", lane " + std::to_string(lane);
  }
  return text + ": '" + shorten(ptx::print(origin)) + "'";
}

void Cta::reportFault(const Warp &warp, const std::string &message,
                      unsigned lane) {
  if (failure.empty()) {
    failure = describePlace(warp, warp.now.pc, lane) + ": " + message;
  }
}

std::string Cta::describeWait(const Wait &wait) const {
  switch (wait.kind) {
  case Wait::Kind::None:
    return "is ready";
  case Wait::Kind::Convergence:
    return "waits for the warp's other lanes (" + hex(wait.value) +
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
    std::string text = "waits at mbarrier " + hex(wait.object) +
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
           std::to_string(freeRegisters) + " free";
  }
  return "";
}

std::string Cta::describeBlocked() const {
  std::string text;
  for (const auto &warp : warps) {
    if (warp->isDone()) {
      continue;
    }
    auto add = [&](const LaneGroup &group) {
      if (group.lanes) {
        text += "\n  " + describePlace(*warp, group.pc, kLanes) + " lanes " +
                hex(group.lanes) + " " + describeWait(group.wait);
      }
    };
    add(warp->now);
    for (const LaneGroup &group : warp->others) {
      add(group);
    }
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].queue.empty()) {
      text += "\n  warpgroup " + std::to_string(i) + ": " +
              std::to_string(groups[i].queue.size()) +
              " wgmma wait for warps that did not issue them (issued by " +
              hex(groups[i].queue.front().issued) + ")";
    }
  }
  return text;
}
