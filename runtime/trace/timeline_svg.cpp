// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture of one CTA: a row for the main warp of every role, one for each
// copy in flight at once, one for the tensor core.

#include "trace/timeline.h"

#include <algorithm>
#include <cstdio>

using namespace attn::trace;

namespace {

constexpr int kLeft = 150;
constexpr int kRight = 30;
constexpr int kWidth = 1300;
constexpr int kTop = 64;
constexpr int kWarpRow = 26;
constexpr int kUnitRow = 18;
constexpr int kGap = 10;

struct Style {
  Kind kind;
  const char *fill;
  const char *meaning;
};

constexpr Style kStyles[] = {
    {Kind::Run, "#7fb3d5", "runs"},
    {Kind::Item, "#a9cce3", "works on an item"},
    {Kind::WaitMbarrier, "#f5cba7", "waits at an mbarrier"},
    {Kind::WaitBarrier, "#d98880", "waits at a named barrier"},
    {Kind::WaitMma, "#f7dc6f", "waits for an mma"},
    {Kind::WaitCopy, "#d2b4de", "waits for a store"},
    {Kind::WaitOther, "#ccd1d1", "other waits"},
    {Kind::Load, "#52be80", "load"},
    {Kind::Store, "#af7ac5", "store"},
    {Kind::Mma, "#2e86c1", "mma"},
};

const char *fillOf(Kind kind) {
  for (const Style &style : kStyles) {
    if (style.kind == kind) {
      return style.fill;
    }
  }
  return "#000000";
}

std::string escape(const std::string &text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
uint64_t niceStep(uint64_t least) {
  for (uint64_t power = 1;; power *= 10) {
    for (uint64_t factor : {1, 2, 5}) {
      if (factor * power >= least) {
        return factor * power;
      }
    }
  }
}

class Picture {
public:
  Picture(const Timeline &timeline, const CtaTimeline &cta)
      : timeline(timeline), cta(cta) {}

  std::string draw();

private:
  double x(uint64_t time) const {
    return kLeft + double(time - first) * (kWidth - kLeft - kRight) /
                       double(last - first);
  }
  void rectangle(double left, double top, double width, double height,
                 const char *fill, const std::string &title = "");
  void text(double left, double top, const std::string &content,
            const char *style = "");
  void bar(const Event &event, uint64_t from, double top, double height);
  void drawWarp(const Track &track);
  void drawUnit(const Track &track);
  void drawAxis();
  void drawLegend();

  const Timeline &timeline;
  const CtaTimeline &cta;
  /// The times at the edges.
  uint64_t first = 0, last = 1;
  double y = kTop;
  std::string body;
};

} // namespace

void Picture::rectangle(double left, double top, double width, double height,
                        const char *fill, const std::string &title) {
  char buffer[160];
  std::snprintf(buffer, sizeof(buffer),
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                "fill=\"%s\"",
                left, top, std::max(width, 0.3), height, fill);
  body += buffer;
  body +=
      title.empty() ? "/>\n" : "><title>" + escape(title) + "</title></rect>\n";
}

void Picture::text(double left, double top, const std::string &content,
                   const char *style) {
  char buffer[80];
  std::snprintf(buffer, sizeof(buffer), "<text x=\"%.1f\" y=\"%.1f\" ", left,
                top);
  body += std::string(buffer) + style + ">" + escape(content) + "</text>\n";
}

/// A span from `from` on, with its name if there is room for it.
void Picture::bar(const Event &event, uint64_t from, double top,
                  double height) {
  double left = x(from);
  double width = x(event.end) - left;
  std::string title = event.name + ": " + std::to_string(event.begin) + " to " +
                      std::to_string(event.end) + " " + timeline.unit;
  rectangle(left, top, width, height, fillOf(event.kind), title);
  bool isLabelled = event.kind == Kind::Load || event.kind == Kind::Store ||
                    event.kind == Kind::Mma;
  if (isLabelled && width >= 6.5 * double(event.name.size())) {
    text(left + 3, top + height - 4, event.name, "fill=\"white\"");
  }
}

void Picture::drawWarp(const Track &track) {
  text(8, y + 17, track.name);
  for (const Event &event : track.events) {
    if (event.begin != event.end) {
      bar(event, event.begin, y + 2, kWarpRow - 6);
    }
  }
  y += kWarpRow;
}

/// Spans that overlap get a row each: the first that is free.
void Picture::drawUnit(const Track &track) {
  std::vector<uint64_t> busyUntil;
  for (const Event &event : track.events) {
    size_t row = 0;
    while (row < busyUntil.size() && busyUntil[row] > event.begin) {
      ++row;
    }
    busyUntil.resize(std::max(busyUntil.size(), row + 1));
    busyUntil[row] = event.end;
    double top = y + double(row) * kUnitRow + 2;
    // Issued, but not begun: a thin line.
    rectangle(x(event.begin), top + 5, x(event.started) - x(event.begin), 3,
              fillOf(event.kind));
    bar(event, event.started, top, kUnitRow - 4);
  }
  text(8, y + 14, track.name);
  y += kUnitRow * double(std::max<size_t>(1, busyUntil.size())) + kGap;
}

void Picture::drawAxis() {
  uint64_t step = niceStep(std::max<uint64_t>(1, (last - first) / 12));
  uint64_t begin = (first + step - 1) / step * step;
  for (uint64_t time = begin; time <= last; time += step) {
    rectangle(x(time), kTop - 6, 0.5, y - kTop + 6, "#b3b6b7");
    text(x(time), kTop - 10, std::to_string(time), "text-anchor=\"middle\"");
  }
  text(8, kTop - 10, timeline.unit);
}

/// Only what the picture has.
void Picture::drawLegend() {
  double left = kLeft;
  for (const Style &style : kStyles) {
    bool isUsed = false;
    for (const Track &track : cta.tracks) {
      for (const Event &event : track.events) {
        isUsed |= event.kind == style.kind && event.begin != event.end;
      }
    }
    if (!isUsed) {
      continue;
    }
    rectangle(left, y + 8, 12, 12, style.fill);
    text(left + 17, y + 18, style.meaning);
    left += 40 + 6.2 * double(std::string(style.meaning).size());
  }
  y += 30;
  std::string run;
  for (const auto &[key, value] : timeline.details) {
    run += (run.empty() ? "" : ", ") + key + " " + value;
  }
  text(8, y + 12, timeline.source + (run.empty() ? "" : " Of " + run + "."),
       "fill=\"#626567\"");
  y += 22;
}

std::string Picture::draw() {
  first = beginOf(cta);
  last = std::max(first + 1, endOf(cta));
  for (const Track &track : cta.tracks) {
    if (track.kind == TrackKind::Warp && track.isMain) {
      drawWarp(track);
    }
  }
  y += kGap;
  for (const Track &track : cta.tracks) {
    if (track.kind == TrackKind::CopyUnit ||
        track.kind == TrackKind::TensorCore) {
      drawUnit(track);
    }
  }
  drawAxis();
  drawLegend();
  text(8, 22, cta.name, "font-size=\"15\" font-weight=\"bold\"");
  char head[240];
  std::snprintf(head, sizeof(head),
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                "height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
                "font-family=\"sans-serif\" font-size=\"11\">\n",
                kWidth, y, kWidth, y);
  return std::string(head) +
         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + body +
         "</svg>\n";
}

std::string attn::trace::drawTimeline(const Timeline &timeline,
                                      const CtaTimeline &cta) {
  return Picture(timeline, cta).draw();
}
