// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a grid.

#ifndef ATTN_SIM_CORE_LAUNCH_H
#define ATTN_SIM_CORE_LAUNCH_H

#include "core/memory.h"
#include "core/program.h"

namespace attn::sim {

/// When asynchronous operations complete, within what is legal.
enum class AsyncPolicy : uint8_t {
  Late,  // when no warp can run otherwise
  Early, // as soon as they can
  Random
};

struct SimOptions {
  /// 0: warps in turn and everything asynchronous late; 1: in turn and early;
  /// others: warps and completions at random.
  uint64_t seed = 0;
  /// 0: as many as the host has cores.
  unsigned threads = 0;
  /// Warp instructions that one CTA may execute.
  uint64_t budget = uint64_t(1) << 32;
};

struct GridLaunch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {1, 1, 1};
  uint32_t dynamicShared = 0;
  /// Program::paramBytes bytes.
  std::vector<uint8_t> params;
};

struct GridResult {
  /// Empty, or what went wrong first (in the lowest cluster).
  std::string failure;
  uint64_t warpInstructions = 0;
};

/// Executes a grid and waits for its end.
GridResult runGrid(const Program &program, const GridLaunch &launch,
                   const GlobalMemory &memory, const SimOptions &options);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_LAUNCH_H
