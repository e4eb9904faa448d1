// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the events of a CTA, and counts them.

#ifndef ATTN_SIM_TRACE_EVENT_MAKER_H
#define ATTN_SIM_TRACE_EVENT_MAKER_H

#include "trace/timeline.h"

#include <algorithm>

namespace attn::sim {

class EventMaker {
public:
  trace::Event make(trace::Kind kind, std::string name, uint64_t begin,
                    uint64_t end) {
    trace::Event event;
    event.kind = kind;
    event.name = std::move(name);
    event.begin = begin;
    event.end = end;
    event.started = begin;
    event.order = order++;
    lastTime = std::max(lastTime, end);
    return event;
  }
  /// Nothing has ended later.
  uint64_t lastTime = 0;

private:
  uint64_t order = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_TRACE_EVENT_MAKER_H
