// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events in some CTAs of a kernel, as a list on tracks. The source does not
// matter here: the simulator, or a GPU's clock.

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
  Mma,
  TensorCopy, // to tensor memory, from shared memory
  TensorShift,
  Commit,  // of tcgen05: from issue to arrival
  Columns, // of tensor memory, from alloc to dealloc
  ReadColumns,
  WriteColumns
};

using Details = std::vector<std::pair<std::string, std::string>>;

struct Event {
  Kind kind = Kind::Run;
  std::string name;
  /// Equal for an instant.
  uint64_t begin = 0;
  uint64_t end = 0;
  /// The time at which the unit began an asynchronous operation, or `begin`.
  uint64_t started = 0;
  /// Increases in the order in which the events were recorded.
  uint64_t order = 0;
  Details details;
};

enum class TrackKind : uint8_t {
  Warp,
  CopyUnit,
  TensorCore,
  TensorMemory,
  Barriers
};

struct Track {
  TrackKind kind = TrackKind::Warp;
  std::string name;
  /// Whether this warp represents its role in a picture.
  bool isMain = true;
  /// Ordered by begin. Spans of a Warp nest; others may overlap.
  std::vector<Event> events;
};

struct CtaTimeline {
  std::string name;
  std::vector<Track> tracks;
};

struct Timeline {
  /// The unit of times, for example "steps".
  std::string unit;
  /// The meaning and source of the times, for people.
  std::string source;
  /// More information about the run.
  Details details;
  std::vector<CtaTimeline> ctas;
};

const char *nameOf(Kind kind);

/// Returns the timeline in Chrome's trace format, which Perfetto reads too: one
/// process for each CTA, one thread for each track. One unit of time is written
/// as one microsecond. The same timeline always gives the same bytes;
/// bench/timeline.py draws it.
std::string writeChromeTrace(const Timeline &timeline);

} // namespace attn::trace

#endif // ATTN_TRACE_TIMELINE_H
