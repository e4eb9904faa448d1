// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --trace: what happens during one launch, as the simulator sees it or as an
// instrumented kernel wrote it down.

#ifndef ATTN_TOOLS_ATTN_RUN_TRACE_H
#define ATTN_TOOLS_ATTN_RUN_TRACE_H

#include "options.h"

#include "trace/recorder.h"

namespace attn::run {

/// The roles of a variant's kernel, from its report in the bundle's plan; none
/// if it has none.
std::vector<sim::TraceRole> readRoles(const std::string &planText,
                                      size_t variant);

/// Whether the options ask for a trace.
bool isTracing(const Options &options);

/// Writes the files that the options ask for. False with `err` set if that is
/// not possible.
bool writeTimeline(const Options &options, const std::string &kernel,
                   trace::Timeline timeline, std::string &err);

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
