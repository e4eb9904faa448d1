// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attn-run.

#ifndef ATTN_TOOLS_ATTN_RUN_OPTIONS_H
#define ATTN_TOOLS_ATTN_RUN_OPTIONS_H

#include "captures.h"
#include "inputs.h"

#include <array>
#include <cstdint>
#include <string>

namespace attn::run {

/// Batch, sequence length, heads, head dim.
using Shape = std::array<int64_t, 4>;

struct Options {
  bool help = false;
  std::string input;
  std::string device = "cuda";
  int ordinal = 0;
  bool hasShape = false;
  Shape q{};
  Shape kv{};
  double scale = 0; // 0: 1/sqrt(head dim)
  uint64_t seed = 0;
  bool padStrides = false;
  bool broadcastKv = false;
  Inputs inputs;
  bool check = false;
  bool bench = false;
  bool guard = false;
  int64_t repeat = 0;
  int64_t random = 0;
  uint64_t firstSeed = 0;
  int64_t rounds = 5;
  double timeout = 60; // seconds
  // For the simulator: the number of schedules for a problem, and the first
  // seed.
  int64_t schedules = 1;
  // Whether these may have other bits.
  bool anyOrder = false;
  uint64_t scheduleSeed = 0;
  // How the simulator treats hazards.
  std::string hazards = "error";
  // How the simulator adds products in matrix instructions.
  std::string sums = "hardware";
  // CTAs of two clusters share tensor memory.
  bool tmemContention = false;
  uint64_t budget = 0;         // instructions of the simulator; 0: its default
  int64_t multiprocessors = 0; // threads of the simulator; 0: its default
  // The file for the trace of the first launch.
  std::string trace;
  // For PTX input: the file that describes the launch.
  std::string launch;
  std::string json;
  // The captures of regions.
  GivenCaptures captures;
  // For input that must be compiled first:
  std::string target; // of IR; empty for the compiler's default
  std::string schedule;
  bool bwd = false;
  bool instrument = false;
};

/// The text of --help.
const char *helpText();

/// Reads the arguments after the program's name. On failure, returns false and
/// names the option in `err`.
bool parseOptions(int argc, const char *const *argv, Options &options,
                  std::string &err);

/// Reads "BxSxHxD", each a decimal number, D at least 1.
bool parseShape(const std::string &text, Shape &shape);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_OPTIONS_H
