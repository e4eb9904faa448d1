#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what one thread block did, from a trace of attn-run --trace.

examples:
  attn-timeline t.json --out=t.svg
  attn-timeline t.json --out=t.svg --window=20000:6000

The block is the one that took longest. docs/timelines.md says how to read the picture;
<https://ui.perfetto.dev> shows the whole trace. Needs matplotlib."""

import argparse
import collections
import itertools
import json
import os
import re
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# The label of a product, by the tensor that it reads, and the label of other products.
PRODUCTS = {"k": "QK", "v": "PV"}
# Kind of a span: its color and its meaning, in the order of the legend.
STYLES = {
    "run": ("#d5d8dc", "runs"),
    "item": ("#cfe8d5", "works on an item"),
    "wait-mbarrier": ("#f5cba7", "waits at an mbarrier"),
    "wait-barrier": ("#d98880", "waits at a named barrier"),
    "wait-mma": ("#f7dc6f", "waits for an mma"),
    "wait-copy": ("#d2b4de", "waits for a store"),
    "wait-other": ("#aab7b8", "other waits"),
    "load": ("#1e8449", "load"),
    "store": ("#8d6e63", "store"),
    "QK": ("#1a3e8c", "QK product"),
    "PV": ("#4fa3e0", "PV product"),
    "mma": ("#16a2a2", "other product"),
    "tensor-copy": ("#7d6608", "copy to tensor memory"),
    "tensor-shift": ("#b9770e", "shift of rows"),
    "commit": ("#566573", "commit"),
    "columns": ("#d6eaf8", "columns of tensor memory"),
    "read-columns": ("#7fb3d5", "columns read"),
    "write-columns": ("#6c3483", "columns written"),
}
USES = ("read-columns", "write-columns")
# Rows for spans of one name that overlap; if they do not suffice, lines before spans may.
MOST_LANES = 3
# The height of a row for columns, in rows; the thickness of an arrival, in inches; characters of a title and of a detail.
MAP_ROWS, TICK, TITLE, DETAIL = 4, 0.03, 120, 60
LABELLED = ("load", "store", "QK", "PV", "mma", "item")
# Inches: a picture's width, a row's height, a character's width, about.
WIDTH, ROW, CHARACTER = 13.0, 0.3, 0.075


class Span:
    """`started` is the time when the unit began the work that was requested at `begin`."""

    def __init__(self, kind, name, begin, end, started=None):
        self.kind, self.name, self.begin, self.end = kind, name, begin, end
        self.started = begin if started is None else started

    def cut(self, first, last):
        begin, end = max(self.begin, first), min(self.end, last)
        return Span(self.kind, self.name, begin, end, min(max(self.started, begin), end))


class Row:
    """Spans of a role, which nest, or of a unit (`is_unit`), which do not overlap. If it has `columns`, (first,
    last), spans of USES lie among these."""

    def __init__(self, name, spans, is_unit, columns=None):
        self.name, self.spans, self.is_unit, self.columns = name, spans, is_unit, columns
        self.size = MAP_ROWS if columns else 1


def columns_of(name):
    """Of "columns 0 to 31": (0, 31)."""
    return tuple(map(int, re.findall(r"\d+", name)))


def shorten(text, most):
    """The middle of a long text left out."""
    return text if len(text) <= most else f"{text[:most // 2]}\u2026{text[1 - most // 2:]}"


def label_of(event):
    """A matrix op's (kind, label), by the tensor that it reads if that is known."""
    kind, name = event["cat"], event["name"]
    if kind != "mma":
        return kind, name
    operand = event["args"].get("with", name.partition("mma ")[2])
    product = PRODUCTS.get(operand)
    return product or kind, product or operand or name


def span_of(event, end):
    """The span of an event; of a commit only the arrival is drawn, behind its line."""
    kind, name = label_of(event)
    return Span(kind, name, event["ts"], end, end if kind == "commit" else event["args"].get("started"))


def spans_of(events):
    """The spans of one thread of a trace; instants are left out."""
    ends = {event["id"]: event["ts"] for event in events if event["ph"] == "e"}
    found = [span_of(e, e["ts"] + e["dur"] if e["ph"] == "X" else ends[e["id"]]) for e in events if e["ph"] in "Xb"]
    return sorted(found, key=lambda span: (span.begin, -span.end))


def in_lanes(spans, begin=lambda span: span.begin):
    """Spans that overlap, each in the first lane that is free."""
    lanes = []
    for span in sorted(spans, key=begin):
        free = next((lane for lane in lanes if lane[-1].end <= begin(span)), None)
        if free is None:
            lanes.append([span])
        else:
            free.append(span)
    return lanes or [[]]


def in_few_lanes(spans):
    lanes = in_lanes(spans)
    return lanes if len(lanes) <= MOST_LANES else in_lanes(spans, lambda span: span.started)


def use_in(columns, allocated, uses):
    """The uses of one allocation of tensor memory, found by its columns and its spans."""
    return [use for use in uses if columns[0] <= columns_of(use.name)[0] <= columns[1]
            and any(span.begin <= use.begin <= span.end for span in allocated)]


def rows_of_unit(events):
    """A row for each tensor that is copied and each role that issues matrix ops, or
    several where its spans overlap."""
    groups = {}
    for event in sorted((e for e in events if e["ph"] in "be"), key=lambda e: e["args"].get("order", 0)):
        groups.setdefault((event["cat"], event["name"]), []).append(event)
    uses = [use for (kind, _), there in sorted(groups.items()) if kind in USES for use in spans_of(there)]
    for (kind, name), there in sorted(groups.items()):
        if kind in USES:
            continue
        for number, lane in enumerate(in_few_lanes(spans_of(there))):
            if kind == "columns":
                columns = columns_of(name)
                yield Row(name, lane + use_in(columns, lane, uses), True, columns)
            else:
                yield Row("" if number else f"{kind} {name}", lane, True)


def read_block(trace):
    """The name and the rows of the block that took longest."""
    names, threads, events = {}, {}, collections.defaultdict(list)
    for event in trace["traceEvents"]:
        place = event["pid"], event["tid"]
        if event["name"] == "process_name":
            names[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            threads[place] = event["args"]
        elif event.get("cat") not in ("phase", "signal"):
            events[place].append(event)
    if not names:
        raise ValueError("expected a trace of a block, got one in which none ran")

    def length(block):
        times = [event["ts"] + event.get("dur", 0) for place in events if place[0] == block for event in events[place]]
        return max(times, default=0) - min(times, default=0)

    chosen = max(names, key=lambda block: (length(block), -block))
    rows = []
    for place in sorted(place for place in threads if place[0] == chosen and events[place]):
        if events[place][0]["ph"] == "b":
            rows += rows_of_unit(events[place])
        elif threads[place].get("main", True):
            rows.append(Row(threads[place]["name"], spans_of(events[place]), False))
    return names[chosen], rows


def limits(rows, window):
    first = min(span.begin for row in rows for span in row.spans)
    last = max(span.end for row in rows for span in row.spans)
    return (first, max(first + 1, last)) if window is None else (first + window[0], first + window[0] + window[1])


def write_label(plot, span, height, y, scale):
    """A span's name where it has room; that of an item above the row."""
    if span.kind not in LABELLED or len(span.name) > (span.end - span.started) * scale / CHARACTER:
        return
    if span.kind == "item":
        plot.text(span.started, y - height / 2 - 0.03, f"\u2502{span.name}", fontsize=6, color="#555555", va="bottom", clip_on=True)
    else:
        plot.text(span.started + 0.3 * CHARACTER / scale, y, span.name, fontsize=7, color="white", va="center_baseline", clip_on=True)


def shown_of(row, bounds):
    return [span.cut(*bounds) for span in row.spans if span.end > bounds[0] and span.begin < bounds[1] and span.end > span.begin]


def draw_columns(plot, row, y, bounds):
    """A map of tensor memory: time to the right, columns downwards."""
    shown = shown_of(row, bounds)
    first, last = row.columns
    height = row.size - 0.38
    for kind in ("columns", *USES):
        for span in (span for span in shown if span.kind == kind):
            begin, end = columns_of(span.name)
            top, bottom = ((edge - first) / (last + 1 - first) * height for edge in (max(begin, first), min(end, last) + 1))
            plot.broken_barh([(span.begin, span.end - span.begin)], (y - 0.31 + top, bottom - top), facecolor=STYLES[kind][0],
                             linewidth=0)
    return shown


def draw_boxes(plot, boxes, y, thickness, color, edge):
    """Draws boxes with white edges of a width, unless the boxes are too narrow for edges."""
    if boxes:
        plot.broken_barh(boxes, (y - thickness / 2, thickness), facecolor=color, edgecolor="white", linewidth=edge)


def draw_row(plot, row, y, scale, bounds):
    """Draws a row: lines first, then kinds in the order of STYLES, so that long spans lie behind the spans inside
    them."""
    if row.columns:
        return draw_columns(plot, row, y, bounds)
    height = 0.62
    shown = shown_of(row, bounds)
    kinds = {kind: [span for span in shown if span.kind == kind] for kind in STYLES}
    for kind, spans in kinds.items():
        draw_boxes(plot, [(span.begin, span.started - span.begin) for span in spans if span.started > span.begin], y, 0.12,
                   STYLES[kind][0], 0)
    for kind, spans in kinds.items():
        least = TICK / scale if kind == "commit" else 0
        boxes = [(span.started, max(least, span.end - span.started)) for span in spans]
        has_edges = row.is_unit and all(width * scale > 2 * TICK for _, width in boxes)
        draw_boxes(plot, boxes, y, height, STYLES[kind][0], 0.4 if has_edges else 0)
        for span in spans:
            write_label(plot, span, height, y, scale)
    return shown


def draw_legend(plot, shown, title):
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    kinds = {span.kind for span in shown}
    handles = [Patch(color=color, label=meaning) for kind, (color, meaning) in STYLES.items() if kind in kinds]
    if any(span.started > span.begin for span in shown):
        handles.append(Line2D([], [], color="#555555", linewidth=1.5, label="thin: issued, not begun"))
    below = 0.45 / plot.get_ylim()[0] / ROW
    plot.legend(handles=handles, title=title, title_fontsize=7, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -below),
                ncols=min(7, len(handles)), frameon=False)


def draw(trace, window=None):
    """A figure of the block that took longest; `window` is (from, length) in its units."""
    import matplotlib
    from matplotlib.figure import Figure
    import plot as style
    name, rows = read_block(trace)
    bounds = limits(rows, window)
    about = trace["otherData"]
    tops = list(itertools.accumulate((row.size for row in rows), initial=0))
    with matplotlib.rc_context(style.STYLE):
        figure = Figure(figsize=(WIDTH, 1.6 + ROW * tops[-1]), layout="constrained")
        plot = figure.add_subplot(xlabel=about["unit"], xlim=bounds, ylim=(tops[-1] - 0.4, -0.6))
        plot.set_title(shorten(name, TITLE), loc="left", fontweight="bold")
        plot.set_yticks([top + (row.size - 1) / 2 for top, row in zip(tops, rows)], labels=[row.name for row in rows])
        plot.tick_params(axis="y", length=0)
        plot.ticklabel_format(axis="x", style="plain", useOffset=False)
        plot.grid(axis="x", color="#dddddd")
        plot.set_axisbelow(True)
        plot.spines[["top", "right", "left"]].set_visible(False)
        scale = 0.88 * WIDTH / (bounds[1] - bounds[0])
        shown = [span for y, row in zip(tops, rows) for span in draw_row(plot, row, y, scale, bounds)]
        details = ", ".join(f"{key} {shorten(str(value), DETAIL)}" for key, value in about.items() if key not in ("unit", "source"))
        draw_legend(plot, shown, f"{about['source']} Of {details}.")
    return figure


def read_window(text):
    first, _, length = text.partition(":")
    if not (first.isdigit() and length.isdigit() and int(length) > 0):
        raise argparse.ArgumentTypeError(f"expected FROM:LENGTH such as 20000:6000, got '{text}'")
    return int(first), int(length)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="attn-timeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", metavar="TRACE", help="what attn-run --trace=TRACE wrote")
    parser.add_argument("--out", required=True, metavar="FILE", help="the picture, an SVG file")
    parser.add_argument("--window", type=read_window, metavar="FROM:LENGTH", help="draw only that part, in cycles or steps from the block's begin")
    args = parser.parse_args(argv)
    try:
        import plot
    except ImportError as error:
        parser.exit(1, f"attn-timeline: error: expected matplotlib (python3-matplotlib on Debian): {error}\n")
    try:
        with open(args.trace, encoding="utf-8") as file:
            figure = draw(json.load(file), args.window)
        plot.save(figure, args.out)
    except (OSError, ValueError) as error:
        parser.exit(1, f"attn-timeline: error: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
