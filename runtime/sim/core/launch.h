// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a grid runs, and how it ends.

#ifndef ATTN_SIM_CORE_LAUNCH_H
#define ATTN_SIM_CORE_LAUNCH_H

#include "core/memory.h"
#include "core/program.h"
#include "hazards/report.h"

namespace attn::sim {

class ObserverSource;

/// When asynchronous operations complete, within what is legal.
enum class AsyncPolicy : uint8_t {
  Late,  // when no warp can run otherwise
  Early, // as soon as they can
  Random
};

struct SimOptions {
  /// 0: warps in turn and everything asynchronous late; 1: in turn and early;
  /// others: warps and completions at random, and several clusters at a time.
  uint64_t seed = 0;
  /// 0: as many as the host has cores.
  unsigned threads = 0;
  /// Warp instructions that one CTA may execute.
  uint64_t budget = uint64_t(1) << 32;
  HazardMode hazards = HazardMode::Error;
  /// Who watches the CTAs; null: nobody.
  ObserverSource *observers = nullptr;
};

/// Bytes of global memory.
struct GlobalRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct GridLaunch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {1, 1, 1};
  uint32_t dynamicShared = 0;
  /// Program::paramBytes bytes.
  std::vector<uint8_t> params;
  /// Memory that holds nothing yet: the grid may read what it has written.
  std::vector<GlobalRange> fresh;
};

struct GridResult {
  /// Empty, or what went wrong first (in the lowest cluster).
  std::string failure;
  /// What else is wrong.
  Reports reports;
  uint64_t warpInstructions = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_LAUNCH_H
