// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --trace and --timeline: what the simulator does during one launch.

#ifndef ATTN_TOOLS_ATTN_RUN_TRACE_H
#define ATTN_TOOLS_ATTN_RUN_TRACE_H

#include "options.h"

#include "trace/recorder.h"

namespace attn::run {

/// The roles of a bundle's kernel, from its plan's report; none if it has none.
std::vector<sim::TraceRole> readRoles(const std::string &planText,
                                      size_t variant);

/// Records what the simulator executes while this lives, if the options ask
/// for it.
class Tracing {
public:
  Tracing(const Options &options, std::vector<sim::TraceRole> roles);
  ~Tracing();
  Tracing(const Tracing &) = delete;

  /// Writes the files. False with `err` set if that is not possible.
  bool write(const std::string &kernel, std::string &err);

private:
  const Options &options;
  sim::Recorder recorder;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_TRACE_H
