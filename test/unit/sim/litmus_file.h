// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A litmus test: a small kernel in test/sim/litmus/ whose comments say how to
// launch it and what the simulator is to report.
//
//   // expect: race.shared line 24
//   // expect: silent
//   // launch: grid=1 block=64 shared=1024 params=data,map,7
//
// `seeds=N` says that only the first N schedules show what is wrong,
// `contention=1` that two clusters at a time share tensor memory,
// `additions=1` that floating-point additions have to be ordered, and
// `dependent=1` that the launch may begin before the one before it has ended.
//
// Parameters: `data` is the address of 16 KiB that are written, `fresh` of 16
// KiB that are not, `map` a tensor map of 64 x 128 bf16 in `data`, in boxes of
// 64 x 16 without swizzle, `row` one in boxes of 64 x 1, and a number is 32
// bits.

#ifndef ATTN_TEST_UNIT_SIM_LITMUS_FILE_H
#define ATTN_TEST_UNIT_SIM_LITMUS_FILE_H

#include "machine/instruction_set.h"
#include "machine/run_grid.h"

namespace attn::sim {

struct LitmusFile {
  std::string text;
  /// The rule's id and the PTX line that its reports name; empty and 0 if no
  /// report is expected.
  std::string rule;
  unsigned line = 0;
  GridLaunch launch;
  std::vector<std::string> params;
  /// Clusters contend for tensor memory.
  bool contends = false;
  /// Floating-point additions have to be ordered.
  bool ordersSums = false;
  /// Schedules to run.
  uint64_t seeds = 16;
};

/// Reads a file. Returns "" or what is wrong with its comments.
std::string readLitmus(const std::string &path, LitmusFile &file);

/// The outcome of one schedule.
struct LitmusResult {
  /// Why it could not run.
  std::string problem;
  GridResult grid;
};

LitmusResult runLitmus(const LitmusFile &file, uint64_t seed);

} // namespace attn::sim

#endif // ATTN_TEST_UNIT_SIM_LITMUS_FILE_H
