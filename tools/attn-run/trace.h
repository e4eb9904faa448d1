// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --trace: the events of one launch, from the simulator or from the stamps of
// an instrumented kernel.

#ifndef ATTN_TOOLS_ATTN_RUN_TRACE_H
#define ATTN_TOOLS_ATTN_RUN_TRACE_H

#include "options.h"

#include "trace/recorder.h"

#include <nlohmann/json.hpp>

namespace attn::run {

/// The kernel that a trace of a variant is about, and what the plan reports of
/// it; null without a report.
struct TracedKernel {
  std::string name;
  nlohmann::json report;
};

/// Of several launches it is the one with stamps, or the first of those with
/// the most replicas of roles.
TracedKernel readTracedKernel(const std::string &planText, size_t variant);

/// Reads the roles from what the plan reports of a kernel; none without it.
std::vector<sim::TraceRole> rolesOf(const nlohmann::json &report);

/// Reads the roles of a variant's kernel; none if there are several launches,
/// which have different ones.
std::vector<sim::TraceRole> readRoles(const std::string &planText,
                                      size_t variant);

/// Whether the options ask for a trace.
bool isTracing(const Options &options);

/// Writes the requested files. Returns false with `err` set on failure.
bool writeTimeline(const Options &options, const std::string &kernel,
                   trace::Timeline timeline, std::string &err);

/// Records the simulator's execution during its lifetime, if the options ask
/// for it.
class Tracing {
public:
  Tracing(const Options &options, std::vector<sim::TraceRole> roles);
  ~Tracing();
  Tracing(const Tracing &) = delete;

  /// Writes the files. Returns false with `err` set on failure.
  bool write(const std::string &kernel, std::string &err);

private:
  const Options &options;
  sim::Recorder recorder;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_TRACE_H
