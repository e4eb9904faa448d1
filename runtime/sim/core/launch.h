// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a grid runs, and how it ends.

#ifndef ATTN_SIM_CORE_LAUNCH_H
#define ATTN_SIM_CORE_LAUNCH_H

#include "core/memory.h"
#include "core/program.h"
#include "hazards/report.h"
#include "units/wgmma.h"

namespace attn::sim {

class ObserverSource;

/// When asynchronous operations complete, within what is legal.
enum class AsyncPolicy : uint8_t {
  Late,  // when no warp can run otherwise
  Early, // as soon as they can
  Random
};

struct SimOptions {
  /// 0: warps in order and asynchronous operations late; 1: in order and early;
  /// others: warps and completions at random, and several clusters at a time.
  uint64_t seed = 0;
  /// 0: one for each core of the host.
  unsigned threads = 0;
  /// The largest number of warp instructions of one CTA.
  uint64_t budget = uint64_t(1) << 32;
  HazardMode hazards = HazardMode::Error;
  /// Of products in matrix instructions: Hardware or Exact.
  WgmmaArithmetic sums = WgmmaArithmetic::Hardware;
  /// Two clusters at a time share the tensor memory of their multiprocessors.
  bool contendsTensorMemory = false;
  /// The kernel has to order floating-point additions to one address.
  bool ordersSums = false;
  /// The source of observers of the CTAs, or null.
  ObserverSource *observers = nullptr;
};

/// A range of global memory.
struct GlobalRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct GridLaunch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {1, 1, 1};
  uint32_t dynamicShared = 0;
  /// It may begin before the launches before it have ended.
  bool dependent = false;
  /// The most clusters that the machine runs at the same time, 0 for all. If
  /// the grid has more, they may start in any order.
  uint64_t resident = 0;
  /// Program::paramBytes bytes.
  std::vector<uint8_t> params;
  /// Memory without content: the grid may only read what it has written.
  std::vector<GlobalRange> fresh;
};

struct GridResult {
  /// The first error (in the lowest cluster), or "".
  std::string failure;
  /// All other reports.
  Reports reports;
  uint64_t warpInstructions = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_LAUNCH_H
