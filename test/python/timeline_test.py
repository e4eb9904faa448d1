# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/timeline.py draws the block that took longest: who did what, and when."""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import timeline
from bench_lines import needs_matplotlib


def thread(block, number, name, **more):
    return {"ph": "M", "pid": block, "tid": number, "name": "thread_name", "args": {"name": name, **more}}


def span(block, number, kind, name, begin, end):
    return {"ph": "X", "pid": block, "tid": number, "ts": begin, "dur": end - begin, "name": name, "cat": kind, "args": {}}


def unit_span(number, kind, name, begin, end, identity, **args):
    start = {"ph": "b", "pid": 1, "tid": number, "ts": begin, "name": name, "cat": kind, "id": identity, "args": args}
    return [start, {**start, "ph": "e", "ts": end, "args": {}}]


def make_trace():
    """Two blocks; the second has a role with two warps, copies, products and a barrier."""
    events = [{"ph": "M", "pid": n, "tid": 0, "name": "process_name", "args": {"name": f"block {n}"}} for n in range(2)]
    events += [thread(0, 0, "load"), span(0, 0, "run", "load", 0, 90)]
    events += [thread(1, 0, "load"), span(1, 0, "run", "load", 100, 300), span(1, 0, "item", "item 0", 110, 290),
               span(1, 0, "wait-mbarrier", "acquire k", 120, 150), span(1, 0, "mma", "mma v", 200, 220)]
    events += [thread(1, 1, "wg[0], warp 4", main=True), span(1, 1, "run", "wg[0], warp 4", 100, 300),
               {"ph": "i", "pid": 1, "tid": 1, "ts": 130, "name": "arrive", "cat": "signal", "args": {}}]
    events += [thread(1, 2, "wg[0], warp 5", main=False), span(1, 2, "run", "wg[0], warp 5", 100, 300)]
    events += [thread(1, 3, "copies"), *unit_span(3, "load", "k", 110, 160, 1, started=130, order=1),
               *unit_span(3, "load", "k", 120, 170, 2, order=2), *unit_span(3, "load", "k", 165, 180, 3, order=3)]
    events += [thread(1, 4, "matrix ops"), *unit_span(4, "mma", "wg[0]", 170, 230, 4, order=4, **{"with": "k"}),
               *unit_span(4, "mma", "wg[0]", 230, 260, 5, order=5, **{"with": "v"}),
               *unit_span(4, "mma", "wg[0]", 260, 280, 6, order=6, **{"with": "dv"})]
    events += [thread(1, 5, "mbarriers"), *unit_span(5, "phase", "full phase 0", 100, 200, 7)]
    return {"otherData": {"unit": "cycles", "source": "By a clock.", "kernel": "fwd"}, "traceEvents": events}


class Reading(unittest.TestCase):
    def test_the_longest_block_by_its_main_warps_and_units(self):
        name, rows = timeline.read_block(make_trace())
        self.assertEqual(name, "block 1")
        self.assertEqual([row.name for row in rows], ["load", "wg[0], warp 4", "load k", "", "mma wg[0]"])

    def test_spans_that_overlap_have_rows_of_their_own(self):
        _, rows = timeline.read_block(make_trace())
        self.assertEqual([[(s.begin, s.end) for s in row.spans] for row in rows[2:4]], [[(110, 160), (165, 180)], [(120, 170)]])
        self.assertEqual([s.started for s in rows[2].spans], [130, 165])

    def test_products_are_called_by_what_they_read(self):
        _, rows = timeline.read_block(make_trace())
        self.assertEqual([(s.kind, s.name) for s in rows[4].spans], [("QK", "QK"), ("PV", "PV"), ("mma", "dv")])
        self.assertEqual([s.name for s in rows[0].spans if s.kind == "PV"], ["PV"])

    def test_uses_of_columns_are_in_the_row_of_their_allocation(self):
        trace = make_trace()
        trace["traceEvents"] += [thread(1, 6, "tensor memory"), *unit_span(6, "columns", "columns 0 to 63", 100, 300, 8),
                                 *unit_span(6, "columns", "columns 64 to 95", 100, 300, 9),
                                 *unit_span(6, "read-columns", "columns 0 to 31", 110, 120, 10)]
        _, rows = timeline.read_block(trace)
        self.assertEqual([(row.name, row.columns, row.size) for row in rows[-2:]],
                         [("columns 0 to 63", (0, 63), 4), ("columns 64 to 95", (64, 95), 4)])
        self.assertEqual([[span.kind for span in row.spans] for row in rows[-2:]], [["columns", "read-columns"], ["columns"]])

    def test_of_many_spans_that_overlap_only_what_units_do_has_rows(self):
        spans = [timeline.Span("mma", "mma", 0, 10 * i + 10, 10 * i) for i in range(4)]
        self.assertEqual(len(timeline.in_few_lanes(spans[:3])), 3)
        self.assertEqual([[span.started for span in lane] for lane in timeline.in_few_lanes(spans)], [[0, 10, 20, 30]])

    def test_a_commit_begins_with_its_arrival(self):
        begin, _ = unit_span(4, "commit", "mma", 100, 140, 8)
        self.assertEqual(timeline.span_of(begin, 140).started, 140)

    def test_long_texts_have_no_middle(self):
        self.assertEqual(timeline.shorten("abcdefgh", 8), "abcdefgh")
        self.assertEqual(timeline.shorten("abcdefghi", 8), "abcd\u2026ghi")

    def test_every_kind_has_a_color_of_its_own(self):
        colors = [color for color, _ in timeline.STYLES.values()]
        self.assertEqual(len(colors), len(set(colors)))

    def test_windows(self):
        self.assertEqual(timeline.read_window("20:5"), (20, 5))
        for text in ("", "5", "5:0", "-1:5", "1:2:3", "1:2x"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "expected FROM:LENGTH"):
                timeline.read_window(text)
        _, rows = timeline.read_block(make_trace())
        self.assertEqual(timeline.limits(rows, None), (100, 300))
        self.assertEqual(timeline.limits(rows, (20, 30)), (120, 150))

    def test_a_trace_without_blocks_is_refused(self):
        with self.assertRaisesRegex(ValueError, "expected a trace of a block"):
            timeline.read_block({"otherData": {}, "traceEvents": []})


@needs_matplotlib
class Picture(unittest.TestCase):
    def draw(self, *options, trace=None):
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "t.json"), os.path.join(folder, "t.svg")
            with open(source, "w", encoding="utf-8") as file:
                json.dump(trace or make_trace(), file)
            self.assertEqual(timeline.main([source, f"--out={target}", *options]), 0)
            with open(target, encoding="utf-8") as file:
                return file.read()

    def texts(self, svg):
        return [text.text for text in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]

    def test_says_what_it_shows(self):
        texts = self.texts(self.draw())
        for text in ("block 1", "load", "mma wg[0]", "cycles", "QK", "PV", "QK product", "PV product", "waits at an mbarrier",
                     "thin: issued, not begun", "By a clock. Of kernel fwd."):
            self.assertIn(text, texts)
        # Only what is drawn is in the legend.
        self.assertNotIn("store", texts)

    def test_a_window_has_what_is_in_it(self):
        texts = self.texts(self.draw("--window=130:40"))
        self.assertIn("PV product", texts)
        self.assertNotIn("QK product", texts)
        self.assertNotIn("thin: issued, not begun", texts)

    def test_the_same_trace_gives_the_same_bytes(self):
        self.assertEqual(self.draw(), self.draw())

    def test_errors_name_what_is_wrong(self):
        error = io.StringIO()
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(error):
            timeline.main(["/nonexistent.json", "--out=x.svg"])
        self.assertIn("attn-timeline: error: [Errno 2] No such file or directory: '/nonexistent.json'", error.getvalue())


if __name__ == "__main__":
    unittest.main()
