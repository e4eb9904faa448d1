// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records timelines of the simulator's execution.
//
// Times are steps: they show which events must precede which, not how long they
// take. Every warp executes one instruction per step, all warps in parallel; a
// wait ends when its event has happened; asynchronous operations take a nominal
// number of steps (see recorder.cpp). The order in which the simulator happens
// to run the warps matters only if they race for a barrier or a unit; it is the
// events' `order`.

#ifndef ATTN_SIM_TRACE_RECORDER_H
#define ATTN_SIM_TRACE_RECORDER_H

#include "core/observer.h"
#include "trace/timeline.h"

#include <mutex>

namespace attn::sim {

/// Warps with the same role.
struct TraceRole {
  std::string name;
  uint32_t firstWarp = 0;
  uint32_t warps = 1;
};

/// Records the first CTAs of each grid.
class Recorder final : public ObserverSource {
public:
  Recorder(std::vector<TraceRole> roles, uint64_t most)
      : roles(std::move(roles)), most(most) {}

  std::unique_ptr<Observer> watch(const Cta &cta) override;
  /// Returns everything that was recorded, in order of kernels and CTAs. Call
  /// it once, when nothing runs.
  trace::Timeline take();

  const std::vector<TraceRole> &getRoles() const { return roles; }
  /// `place` orders the CTAs.
  void add(uint64_t place, trace::CtaTimeline timeline);

private:
  std::vector<TraceRole> roles;
  uint64_t most;
  std::mutex mutex;
  /// In order of their first CTAs.
  std::vector<std::string> kernels;
  std::vector<std::pair<uint64_t, trace::CtaTimeline>> done;
};

} // namespace attn::sim

#endif // ATTN_SIM_TRACE_RECORDER_H
