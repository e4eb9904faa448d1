// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "stamps.h"

#include "trace.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

using namespace attn;
using namespace attn::run;
using trace::CtaTimeline;
using trace::Event;
using trace::Kind;
using trace::Track;
using trace::TrackKind;

namespace {

// The layout that the compiler uses.
constexpr uint64_t kHeaderBytes = 32;
constexpr uint64_t kEventBytes = 8;
constexpr uint64_t kMostEvents = uint64_t(1) << 20;
constexpr uint64_t kMostCtas = 64;

/// The data at the beginning and at the end of a role.
struct Mark {
  uint32_t clock = 0;
  /// At the beginning the number of the SM, at the end the number of stamps.
  uint32_t word = 0;
  uint64_t nanoseconds = 0;
};

struct Stamp {
  uint64_t time = 0;
  const StampPlan::Name *name = nullptr;
};

struct Ring {
  Mark begin, end;
  /// In cycles since the beginning of the CTA.
  uint64_t beginTime = 0, endTime = 0;
  std::vector<Stamp> stamps;

  bool hasBegun() const { return begin.nanoseconds != 0; }
  bool hasEnded() const { return end.nanoseconds != 0; }
  uint64_t dropped() const {
    return end.word > stamps.size() ? end.word - stamps.size() : 0;
  }
};

/// Maps activities to kinds of events in a picture.
const std::map<std::string, Kind> &kindsOfActivities() {
  static const std::map<std::string, Kind> kinds = {
      {"item", Kind::Item},
      {"run", Kind::Run},
      {"acquire", Kind::WaitMbarrier},
      {"wait", Kind::WaitMbarrier},
      {"wait_edge", Kind::WaitMbarrier},
      {"take", Kind::WaitBarrier},
      {"sync", Kind::WaitBarrier},
      {"copy", Kind::Load},
      {"mma", Kind::Mma},
      {"await", Kind::WaitMma},
      {"store", Kind::Store},
      {"await_store", Kind::WaitCopy}};
  return kinds;
}

class Decoder {
public:
  Decoder(const StampPlan &plan, const std::vector<unsigned char> &bytes)
      : plan(plan), bytes(bytes) {}

  trace::Timeline decode();

private:
  Mark readMark(uint64_t at) const;
  Ring readRing(uint64_t number) const;
  std::vector<Ring> readCta(uint64_t place) const;
  double findRate(const std::vector<std::vector<Ring>> &ctas) const;
  Event makeEvent(Kind kind, std::string name, uint64_t begin, uint64_t end);
  CtaTimeline drawCta(uint64_t place, const std::vector<Ring> &rings,
                      uint64_t shift);
  Track drawRole(const Ring &ring, const std::string &role);
  void addMmas(const Ring &ring, const std::string &role,
               std::vector<Event> &events);
  Track drawCopies(const std::vector<Ring> &rings);

  const StampPlan &plan;
  const std::vector<unsigned char> &bytes;
  uint64_t order = 0;
};

} // namespace

uint64_t StampPlan::end() const {
  return offset + ringCount() * (kHeaderBytes + events * kEventBytes);
}

static bool readCount(const nlohmann::json &json, const char *key,
                      uint64_t least, uint64_t most, uint64_t &out) {
  auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) {
    return false;
  }
  out = found->get<uint64_t>();
  return out >= least && out <= most;
}

static bool readNames(const nlohmann::json &json, StampPlan &plan) {
  if (!json.is_array()) {
    return false;
  }
  for (const nlohmann::json &name : json) {
    bool good = name.is_array() && name.size() == 2 && name[0].is_string() &&
                name[1].is_string() &&
                kindsOfActivities().count(name[0].get<std::string>());
    if (!good) {
      return false;
    }
    plan.names.push_back(
        {name[0].get<std::string>(), name[1].get<std::string>()});
  }
  return true;
}

bool run::readStampPlan(const std::string &planText, size_t variant,
                        StampPlan &plan, std::string &err) {
  TracedKernel traced = readTracedKernel(planText, variant);
  const nlohmann::json &report = traced.report;
  plan.kernel = traced.name;
  if (!report.is_object() || !report.contains("stamps")) {
    return false;
  }
  const nlohmann::json &stamps = report["stamps"];
  for (const sim::TraceRole &role : rolesOf(report)) {
    plan.roles.push_back(role.name);
  }
  bool good = stamps.is_object() && !plan.roles.empty() &&
              readCount(stamps, "offset", 0, INT32_MAX, plan.offset) &&
              readCount(stamps, "events", 1, kMostEvents, plan.events) &&
              readCount(stamps, "ctas", 1, kMostCtas, plan.ctas) &&
              stamps.contains("names") && readNames(stamps["names"], plan);
  if (!good) {
    err = "plan: report.stamps: expected offset, events, ctas and names of "
          "known activities, and roles beside them";
  }
  return good;
}

Mark Decoder::readMark(uint64_t at) const {
  Mark mark;
  std::memcpy(&mark.clock, &bytes[at], 4);
  std::memcpy(&mark.word, &bytes[at + 4], 4);
  std::memcpy(&mark.nanoseconds, &bytes[at + 8], 8);
  return mark;
}

/// Clocks have 32 bits, so only the differences between stamps are used.
Ring Decoder::readRing(uint64_t number) const {
  Ring ring;
  uint64_t header = plan.offset + number * kHeaderBytes;
  ring.begin = readMark(header);
  ring.end = readMark(header + kHeaderBytes / 2);
  if (!ring.hasBegun()) {
    return ring;
  }
  uint64_t first = plan.offset + plan.ringCount() * kHeaderBytes;
  uint32_t clock = ring.begin.clock;
  uint64_t time = 0;
  for (uint64_t i = 0; i < plan.events; ++i) {
    uint64_t at = first + (i * plan.ringCount() + number) * kEventBytes;
    uint32_t words[2];
    std::memcpy(words, &bytes[at], sizeof(words));
    if (words[1] == 0 || words[1] > plan.names.size()) {
      break;
    }
    time += uint32_t(words[0] - clock);
    clock = words[0];
    ring.stamps.push_back({time, &plan.names[words[1] - 1]});
  }
  ring.endTime = time;
  if (ring.hasEnded()) {
    ring.endTime += uint32_t(ring.end.clock - clock);
  }
  return ring;
}

/// The roles of one CTA share the clock of its SM.
std::vector<Ring> Decoder::readCta(uint64_t place) const {
  std::vector<Ring> rings;
  for (uint64_t i = 0; i < plan.roles.size(); ++i) {
    rings.push_back(readRing(place * plan.roles.size() + i));
  }
  auto reference = std::find_if(rings.begin(), rings.end(),
                                [](const Ring &r) { return r.hasBegun(); });
  if (reference == rings.end()) {
    return rings;
  }
  uint32_t clock = reference->begin.clock;
  auto since = [&](const Ring &ring) {
    return int64_t(int32_t(ring.begin.clock - clock));
  };
  int64_t earliest = 0;
  for (const Ring &ring : rings) {
    earliest = std::min(earliest, ring.hasBegun() ? since(ring) : 0);
  }
  for (Ring &ring : rings) {
    uint64_t begin = ring.hasBegun() ? uint64_t(since(ring) - earliest) : 0;
    ring.beginTime = begin;
    ring.endTime += begin;
    for (Stamp &stamp : ring.stamps) {
      stamp.time += begin;
    }
  }
  return rings;
}

/// Returns cycles per nanosecond, from the longest role; 0 if no role ended.
double Decoder::findRate(const std::vector<std::vector<Ring>> &ctas) const {
  double rate = 0;
  uint64_t longest = 0;
  for (const std::vector<Ring> &rings : ctas) {
    for (const Ring &ring : rings) {
      uint64_t length = ring.hasBegun() && ring.hasEnded()
                            ? ring.end.nanoseconds - ring.begin.nanoseconds
                            : 0;
      if (length > longest) {
        longest = length;
        rate = double(ring.endTime - ring.beginTime) / double(length);
      }
    }
  }
  return rate;
}

Event Decoder::makeEvent(Kind kind, std::string name, uint64_t begin,
                         uint64_t end) {
  Event event;
  event.kind = kind;
  event.name = std::move(name);
  event.begin = begin;
  event.end = end;
  event.started = begin;
  event.order = order++;
  return event;
}

/// Draws the life of a role, its items, and within them its waits and issues.
Track Decoder::drawRole(const Ring &ring, const std::string &role) {
  Track track;
  track.name = role;
  Event life = makeEvent(Kind::Run, role, ring.beginTime, ring.endTime);
  life.details.push_back({"stamps", std::to_string(ring.stamps.size())});
  life.details.push_back({"not kept", std::to_string(ring.dropped())});
  if (!ring.hasEnded()) {
    life.details.push_back({"ends", "never"});
  }
  track.events.push_back(std::move(life));
  // The activity during lost stamps is unknown.
  uint64_t known = ring.dropped() && !ring.stamps.empty()
                       ? ring.stamps.back().time
                       : ring.endTime;
  uint64_t items = 0;
  size_t openItem = 0;
  for (size_t i = 0; i < ring.stamps.size(); ++i) {
    const Stamp &stamp = ring.stamps[i];
    uint64_t end = i + 1 < ring.stamps.size() ? ring.stamps[i + 1].time : known;
    Kind kind = kindsOfActivities().at(stamp.name->activity);
    if (kind == Kind::Item) {
      if (items > 0) {
        track.events[openItem].end = stamp.time;
      }
      openItem = track.events.size();
      track.events.push_back(makeEvent(kind, "item " + std::to_string(items++),
                                       stamp.time, known));
    } else if (kind != Kind::Run && end > stamp.time) {
      std::string name = stamp.name->activity;
      name += stamp.name->object.empty() ? "" : " " + stamp.name->object;
      track.events.push_back(makeEvent(kind, name, stamp.time, end));
    }
  }
  if (known < ring.endTime) {
    track.events.push_back(
        makeEvent(Kind::WaitOther, "stamps not kept", known, ring.endTime));
  }
  return track;
}

/// Draws MMAs from issue to the end of their wait, the latest time at which
/// they can have ended. MMAs of one operand end in the order in which they
/// began.
void Decoder::addMmas(const Ring &ring, const std::string &role,
                      std::vector<Event> &events) {
  std::map<std::string, std::deque<uint64_t>> open;
  for (size_t i = 0; i < ring.stamps.size(); ++i) {
    const StampPlan::Name &name = *ring.stamps[i].name;
    std::deque<uint64_t> &begun = open[name.object];
    if (name.activity == "mma") {
      begun.push_back(ring.stamps[i].time);
    } else if (name.activity == "await" && !begun.empty() &&
               i + 1 < ring.stamps.size()) {
      Event event =
          makeEvent(Kind::Mma, role, begun.front(), ring.stamps[i + 1].time);
      event.details.push_back({"with", name.object});
      events.push_back(std::move(event));
      begun.pop_front();
    }
  }
}

/// Draws copies from the issue of the n-th copy into a channel to the end of
/// the first role's n-th wait for it.
Track Decoder::drawCopies(const std::vector<Ring> &rings) {
  std::map<std::string, std::vector<uint64_t>> issued, seen;
  for (const Ring &ring : rings) {
    std::map<std::string, size_t> waits;
    for (size_t i = 0; i < ring.stamps.size(); ++i) {
      const StampPlan::Name &name = *ring.stamps[i].name;
      if (name.activity == "copy") {
        issued[name.object].push_back(ring.stamps[i].time);
      } else if (name.activity == "wait" && i + 1 < ring.stamps.size()) {
        std::vector<uint64_t> &times = seen[name.object];
        size_t number = waits[name.object]++;
        times.resize(std::max(times.size(), number + 1), UINT64_MAX);
        times[number] = std::min(times[number], ring.stamps[i + 1].time);
      }
    }
  }
  Track track;
  track.kind = TrackKind::CopyUnit;
  track.name = "copies";
  for (const auto &[channel, times] : issued) {
    size_t count = std::min(times.size(), seen[channel].size());
    for (size_t i = 0; i < count; ++i) {
      track.events.push_back(makeEvent(Kind::Load, channel, times[i],
                                       std::max(times[i], seen[channel][i])));
    }
  }
  return track;
}

static void sortByBegin(std::vector<Event> &events) {
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tie(a.begin, a.order) < std::tie(b.begin, b.order);
  });
}

static void shiftBy(CtaTimeline &cta, uint64_t shift) {
  for (Track &track : cta.tracks) {
    for (Event &event : track.events) {
      event.begin += shift;
      event.started += shift;
      event.end += shift;
    }
  }
}

CtaTimeline Decoder::drawCta(uint64_t place, const std::vector<Ring> &rings,
                             uint64_t shift) {
  CtaTimeline cta;
  std::string number = std::to_string(place);
  cta.name = place < plan.ctas ? "CTA " + number : "the last CTA";
  Track mmas;
  mmas.kind = TrackKind::TensorCore;
  mmas.name = "matrix ops";
  bool isNamed = false;
  for (size_t i = 0; i < rings.size(); ++i) {
    if (!rings[i].hasBegun()) {
      continue;
    }
    if (!isNamed) {
      cta.name += " on SM " + std::to_string(rings[i].begin.word);
      isNamed = true;
    }
    cta.tracks.push_back(drawRole(rings[i], plan.roles[i]));
    addMmas(rings[i], plan.roles[i], mmas.events);
  }
  Track copies = drawCopies(rings);
  for (Track *track : {&copies, &mmas}) {
    if (!track->events.empty()) {
      sortByBegin(track->events);
      cta.tracks.push_back(std::move(*track));
    }
  }
  shiftBy(cta, shift);
  return cta;
}

/// Returns when the first role of a CTA began, in nanoseconds; UINT64_MAX if
/// none did.
static uint64_t beginOf(const std::vector<Ring> &rings) {
  uint64_t begin = UINT64_MAX;
  for (const Ring &ring : rings) {
    begin = ring.hasBegun() ? std::min(begin, ring.begin.nanoseconds) : begin;
  }
  return begin;
}

trace::Timeline Decoder::decode() {
  std::vector<std::vector<Ring>> ctas;
  uint64_t first = UINT64_MAX, kept = 0, dropped = 0;
  for (uint64_t place = 0; place <= plan.ctas; ++place) {
    ctas.push_back(readCta(place));
    first = std::min(first, beginOf(ctas.back()));
    for (const Ring &ring : ctas.back()) {
      kept += ring.stamps.size();
      dropped += ring.dropped();
    }
  }
  double rate = findRate(ctas);
  trace::Timeline timeline;
  timeline.unit = "cycles";
  timeline.source =
      "Cycles of the SM's clock, stamped by the kernel; matrix ops and copies "
      "until a role has waited for them.";
  for (uint64_t place = 0; place <= plan.ctas; ++place) {
    uint64_t begin = beginOf(ctas[place]);
    if (begin != UINT64_MAX) {
      uint64_t shift = uint64_t(std::llround(double(begin - first) * rate));
      timeline.ctas.push_back(drawCta(place, ctas[place], shift));
    }
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", rate);
  timeline.details.push_back({"cycles a ns", text});
  timeline.details.push_back({"stamps", std::to_string(kept)});
  timeline.details.push_back({"stamps not kept", std::to_string(dropped)});
  return timeline;
}

trace::Timeline run::decodeStamps(const StampPlan &plan,
                                  const std::vector<unsigned char> &workspace) {
  return Decoder(plan, workspace).decode();
}
