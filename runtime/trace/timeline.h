// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happened in some CTAs of a kernel, as a list of events on tracks. It
// does not matter here who saw them: the simulator, or a GPU's clock.

#ifndef ATTN_TRACE_TIMELINE_H
#define ATTN_TRACE_TIMELINE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attn::trace {

enum class Kind : uint8_t {
  Run,  // a warp, from its start to its end
  Item, // a work item
  WaitMbarrier,
  WaitBarrier, // a named barrier
  WaitMma,
  WaitCopy, // a bulk group
  WaitOther,
  Signal, // an arrival, an instant
  Phase,  // of an mbarrier
  Load,
  Store,
  Mma
};

using Details = std::vector<std::pair<std::string, std::string>>;

struct Event {
  Kind kind = Kind::Run;
  std::string name;
  /// Equal for an instant.
  uint64_t begin = 0;
  uint64_t end = 0;
  /// When an asynchronous operation's unit began with it; else `begin`.
  uint64_t started = 0;
  /// Increases in the order in which the events were seen.
  uint64_t order = 0;
  Details details;
};

enum class TrackKind : uint8_t { Warp, CopyUnit, TensorCore, Barriers };

struct Track {
  TrackKind kind = TrackKind::Warp;
  std::string name;
  /// Of a role's warps, the one that stands for it in a picture.
  bool isMain = true;
  /// Ordered by begin. Spans of a Warp nest, others may overlap.
  std::vector<Event> events;
};

struct CtaTimeline {
  std::string name;
  std::vector<Track> tracks;
};

struct Timeline {
  /// Of times, for example "steps".
  std::string unit;
  /// What the times mean and where they are from, for people.
  std::string source;
  /// More about the run.
  Details details;
  std::vector<CtaTimeline> ctas;
};

const char *nameOf(Kind kind);

/// The timeline in Chrome's trace format, which Perfetto reads too: a process a
/// CTA, a thread a track. One unit of time is written as one microsecond. The
/// same timeline always gives the same bytes; bench/timeline.py draws it.
std::string writeChromeTrace(const Timeline &timeline);

} // namespace attn::trace

#endif // ATTN_TRACE_TIMELINE_H
