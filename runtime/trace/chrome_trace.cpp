// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace/timeline.h"

#include <nlohmann/json.hpp>

using namespace attn::trace;
using Json = nlohmann::ordered_json;

const char *attn::trace::nameOf(Kind kind) {
  switch (kind) {
  case Kind::Run:
    return "run";
  case Kind::Item:
    return "item";
  case Kind::WaitMbarrier:
    return "wait-mbarrier";
  case Kind::WaitBarrier:
    return "wait-barrier";
  case Kind::WaitMma:
    return "wait-mma";
  case Kind::WaitCopy:
    return "wait-copy";
  case Kind::WaitOther:
    return "wait-other";
  case Kind::Signal:
    return "signal";
  case Kind::Phase:
    return "phase";
  case Kind::Load:
    return "load";
  case Kind::Store:
    return "store";
  case Kind::Mma:
    return "mma";
  case Kind::TensorCopy:
    return "tensor-copy";
  case Kind::TensorShift:
    return "tensor-shift";
  case Kind::Commit:
    return "commit";
  case Kind::Columns:
    return "columns";
  case Kind::ReadColumns:
    return "read-columns";
  case Kind::WriteColumns:
    return "write-columns";
  }
  return "";
}

namespace {

class Writer {
public:
  explicit Writer(const Timeline &timeline) : timeline(timeline) {}

  std::string write();

private:
  Json start(const char *phase, size_t process, size_t thread) const {
    return {{"ph", phase}, {"pid", process}, {"tid", thread}};
  }
  void addName(const char *what, size_t process, size_t thread,
               const std::string &name, bool isMain = true);
  void addEvent(const Event &event, bool mayOverlap, size_t process,
                size_t thread);

  const Timeline &timeline;
  Json events = Json::array();
  uint64_t nextId = 1;
};

} // namespace

static Json toObject(const Details &details) {
  Json object = Json::object();
  for (const auto &[key, value] : details) {
    object[key] = value;
  }
  return object;
}

void Writer::addName(const char *what, size_t process, size_t thread,
                     const std::string &name, bool isMain) {
  Json json = start("M", process, thread);
  json["name"] = what;
  json["args"]["name"] = name;
  if (!isMain) {
    json["args"]["main"] = false;
  }
  events.push_back(std::move(json));
}

void Writer::addEvent(const Event &event, bool mayOverlap, size_t process,
                      size_t thread) {
  bool isInstant = event.begin == event.end;
  // Spans of a thread have to nest; "async" ones may overlap.
  Json json = start(isInstant ? "i" : mayOverlap ? "b" : "X", process, thread);
  json["ts"] = event.begin;
  json["name"] = event.name;
  json["cat"] = nameOf(event.kind);
  Json details = toObject(event.details);
  details["order"] = event.order;
  if (event.started > event.begin) {
    details["started"] = event.started;
  }
  if (isInstant) {
    json["s"] = "t";
  } else if (!mayOverlap) {
    json["dur"] = event.end - event.begin;
  } else {
    json["id"] = nextId;
  }
  json["args"] = std::move(details);
  events.push_back(json);
  if (!isInstant && mayOverlap) {
    json["ph"] = "e";
    json["ts"] = event.end;
    json["args"] = Json::object();
    events.push_back(std::move(json));
    ++nextId;
  }
}

std::string Writer::write() {
  for (size_t process = 0; process < timeline.ctas.size(); ++process) {
    const CtaTimeline &cta = timeline.ctas[process];
    addName("process_name", process, 0, cta.name);
    for (size_t thread = 0; thread < cta.tracks.size(); ++thread) {
      const Track &track = cta.tracks[thread];
      addName("thread_name", process, thread, track.name, track.isMain);
      for (const Event &event : track.events) {
        addEvent(event, track.kind != TrackKind::Warp, process, thread);
      }
    }
  }
  Json other = {{"unit", timeline.unit}, {"source", timeline.source}};
  for (const auto &[key, value] : timeline.details) {
    other[key] = value;
  }
  // One event a line, for people and for diffs.
  std::string text =
      "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + other.dump() +
      ",\n\"traceEvents\":[\n";
  for (size_t i = 0; i < events.size(); ++i) {
    text += events[i].dump(-1, ' ', true, Json::error_handler_t::replace) +
            (i + 1 < events.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

std::string attn::trace::writeChromeTrace(const Timeline &timeline) {
  return Writer(timeline).write();
}
