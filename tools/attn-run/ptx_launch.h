// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run on a PTX file, with a launch file.

#ifndef ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H
#define ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H

#include "launch_buffer.h"
#include "options.h"

#include "machine/run_grid.h"

namespace attn::run {

/// PTX and the launch file of the options.
class PtxRun {
public:
  /// Sets `err` when something fails.
  PtxRun(const Options &options, std::string &err)
      : options(options), err(err) {}

  /// Reads the launch file and allocates the buffers.
  bool prepare(std::string ptx);
  /// Runs one schedule on fresh buffers.
  bool launch(uint64_t seed);
  /// Checks the outputs and, the first time, writes them to files.
  bool checkOutputs(bool isFirst);
  const LaunchSpec &getSpec() const { return spec; }
  std::string kernelName() const { return std::string(program.function->name); }

private:
  bool fail(const std::string &message);
  bool readProgram(std::string ptx);
  bool makeBuffers();
  bool checkParamCount();
  bool pack(const ParamSpec &param, uint8_t *to, uint64_t size,
            const std::string &name);
  bool packFields(const ParamSpec &param, uint8_t *to, uint64_t size,
                  const std::string &name);
  bool require(const ParamSpec &param, const std::string &name, uint64_t want,
               uint64_t size);

  const Options &options;
  std::string &err;
  LaunchSpec spec;
  sim::Program program;
  std::vector<LaunchBuffer> buffers;
  sim::GlobalMemory memory;
  sim::GridLaunch grid;
};

/// Runs the PTX of the options as its launch file describes, once for each
/// schedule, prints the results, and returns whether all checks passed. Returns
/// false with `err` set if it could not run.
bool runPtx(const Options &options, std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H
