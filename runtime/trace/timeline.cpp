// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace/timeline.h"

#include <algorithm>

using namespace attn::trace;

uint64_t attn::trace::beginOf(const CtaTimeline &cta) {
  uint64_t begin = UINT64_MAX;
  for (const Track &track : cta.tracks) {
    for (const Event &event : track.events) {
      begin = std::min(begin, event.begin);
    }
  }
  return begin == UINT64_MAX ? 0 : begin;
}

uint64_t attn::trace::endOf(const CtaTimeline &cta) {
  uint64_t end = 0;
  for (const Track &track : cta.tracks) {
    for (const Event &event : track.events) {
      end = std::max(end, event.end);
    }
  }
  return end;
}

CtaTimeline attn::trace::cut(const CtaTimeline &cta, uint64_t from,
                             uint64_t to) {
  CtaTimeline result;
  result.name = cta.name;
  for (const Track &track : cta.tracks) {
    Track kept = track;
    kept.events.clear();
    for (Event event : track.events) {
      if (event.begin >= to || event.end < from) {
        continue;
      }
      event.begin = std::max(event.begin, from);
      event.end = std::min(event.end, to);
      event.started = std::clamp(event.started, event.begin, event.end);
      kept.events.push_back(std::move(event));
    }
    result.tracks.push_back(std::move(kept));
  }
  return result;
}
