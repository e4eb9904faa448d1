# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of measurements is made of the readings it is given, and of nothing else."""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import report
from bench_lines import measured, needs_matplotlib
from racing import points

CASES = (("none", 1024), ("none", 4096), ("causal", 4096))


class Page(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = temp.name

    def write(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return path

    def run_file(self, name, speed, **gpu):
        lines = []
        for mask, seqlen in CASES:
            point = points.Point(mask, 128, seqlen)
            lines += [measured("attn", 660 * speed, "attn", point), measured("cudnn", 600 * speed, point=point)]
            lines.append(measured("fa4", 0, point=point, note="flash-attn-4 is not there", ran=False))
        return self.write(name, [{**line, **gpu} for line in lines])

    def matrix_file(self, name, speed):
        point = points.Point("causal", 128, 4096)
        return self.write(name, [measured("full", 700 * speed, "variant", point), measured("no-x", 560 * speed, "variant", point)])

    def test_the_grid(self):
        page, plots = report.make_page([self.run_file("a.jsonl", 1.0), self.run_file("b.jsonl", 0.5)], [], None, "performance")
        self.assertIn("| fwd bf16 none d128 | 2 | 1.100 | 1.100 | 1.100 |", page)
        self.assertIn("| 4096 | 495 @1.50 | 450 @1.50 |  | 1.100 | 1.100..1.100 | cudnn |", page)
        self.assertIn("| runs | 2 |", page)
        self.assertIn("- fa4: flash-attn-4 is not there (at fwd bf16 none d128 s1024, fwd bf16 none d128 s4096, fwd bf16 causal d128 s4096)\n", page)
        self.assertNotIn("## Variants", page)
        self.assertEqual(sorted(plots), ["fwd_bf16_causal_d128.svg", "fwd_bf16_none_d128.svg"])
        self.assertEqual(sorted(re.findall(r"\]\(performance/(.*?)\)", page)), sorted(plots))

    def test_a_page_says_what_its_passes_are(self):
        point = points.Point("relbias", 128, 4096, op="bwd")
        path = self.write("a.jsonl", [measured("attn", 300, "attn", point), measured("flex", 200, point=point)])
        page, _ = report.make_page([path], [], None, "performance-backward")
        self.assertIn("TFLOP/s of the backward pass, with the SM clock", page)
        self.assertIn("A backward pass has five products", page)
        self.assertIn("![](performance-backward/bwd_bf16_relbias_d128.svg)", page)
        forward, _ = report.make_page([self.run_file("b.jsonl", 1.0)], [], None, "performance")
        self.assertIn("TFLOP/s of the forward pass, with the SM clock", forward)
        self.assertNotIn("five products", forward)

    def test_the_plots_of_a_page_follow_from_its_tables(self):
        page, plots = report.make_page([self.run_file("a.jsonl", 1.0)], [], None, "performance")
        rounded = {file: (title, [str(label) for label in labels], {name: [v and round(v) for v in values] for name, values in series.items()})
                   for file, (title, labels, series) in plots.items()}
        self.assertEqual(report.charts_of(page), rounded)

    def test_variants_against_a_base_and_against_the_best(self):
        files = [self.matrix_file("a.jsonl", 1.0), self.matrix_file("b.jsonl", 0.5)]
        page, plots = report.make_page([], files, "no-x", "performance")
        self.assertIn("| full | 1.250 | 1.250 |\n| no-x | 1.000 | 1.000 |", page)
        self.assertIn("ratio to `no-x`", page)
        self.assertIn("| no-x | 0.800 | 0.800 |", report.make_page([], files, None, "performance")[0])
        self.assertEqual(plots, {})
        with self.assertRaisesRegex(ValueError, "no result of the base 'other' at fwd bf16 causal d128"):
            report.make_page([], files, "other", "performance")

    def test_what_variants_change_is_on_the_page(self):
        point = points.Point("causal", 128, 4096)
        names = ("table", "always-rescale", "one-length", "my-own")
        path = self.write("m.jsonl", [measured(name, 700, "variant", point) for name in names])
        page, _ = report.make_page([], [path], "table", "performance")
        self.assertIn("| variant | what is changed | [parameters](tuning.md#spaces) |\n|---|---|---|\n"
                      "| always-rescale | no threshold below which O keeps its scale | `row_max` running, `rescale_threshold` 0 |\n"
                      "| one-length | one kernel for all lengths: that of long ones |  |\n\n", page)

    def test_who_was_left_behind_has_the_rounds_that_it_took_part_in(self):
        point = points.Point("causal", 128, 4096)
        slow = {**measured("slow", 350, "variant", point), "rounds": 1}
        path = self.write("m.jsonl", [measured("table", 700, "variant", point), slow])
        page, _ = report.make_page([], [path], "table", "performance")
        self.assertIn("| rounds a run | 3 |", page)
        self.assertIn("| table | 1.000 | 1.000 |\n| slow | 0.500 (1) | 0.500 |", page)
        self.assertIn("In brackets: how many rounds", page)
        self.assertNotIn("In brackets", report.make_page([], [self.matrix_file("a.jsonl", 1.0)], None, "performance")[0])

    def test_variants_that_are_the_kernel_of_the_table_have_no_figure_there(self):
        lines = [measured(name, 700, "variant", points.Point("causal", 128, seqlen)) for seqlen in (1024, 4096) for name in ("full", "part", "same")]
        same = {"fwd bf16 causal d128": {"part": [512, 1024], "same": [1024, 4096]}, "fwd bf16 none d128": {"full": [1024, 4096]}}
        page, _ = report.make_page([], [self.write("m.jsonl", lines)], "full", "performance", same=same)
        self.assertIn("| full | 1.000 | 1.000 | 1.000 |\n| part |  | 1.000 | 1.000 |\n", page)
        self.assertNotIn("| same |", page)
        self.assertIn("has no figure at lengths where it is the same kernel", page)
        self.assertNotIn("has no figure", report.make_page([], [self.write("m.jsonl", lines)], "full", "performance")[0])

    @needs_matplotlib
    def test_what_was_counted_and_a_note_are_on_the_page(self):
        run, out = self.run_file("a.jsonl", 1.0, gpu="NVIDIA H200"), os.path.join(self.folder, "out")
        loops = self.write("loops.json", [{"fwd bf16 none d128": [{"keys_at_most": 0, "tile_m": 128, "tile_n": 128, "cluster": 1, "skips": False,
                                                                  "instructions": 351, "exponentials": 64}]}])
        matrix = self.write("m.jsonl", [{**line, "gpu": "NVIDIA H200"} for line in report.read_lines(self.matrix_file("x.jsonl", 1.0))])
        arguments = [run, "--ablation", matrix, "--loops", loops, "--note", "The base is old.", "--out", out]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(report.main(arguments), 0)
        with open(os.path.join(out, "performance.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("## What binds", page)
        self.assertIn("### fwd bf16 none d128\n\n| seqlen | tensor |", page)
        self.assertIn("The base is old.\n", page)

    def test_runs_on_different_gpus_are_refused(self):
        with self.assertRaisesRegex(ValueError, "one kind of GPU, got G, H"):
            report.make_page([self.run_file("a.jsonl", 1), self.run_file("b.jsonl", 1, gpu="H")], [], None, "performance")

    @needs_matplotlib
    def test_the_same_readings_give_the_same_bytes(self):
        files = [self.run_file("a.jsonl", 1.0), self.run_file("b.jsonl", 0.7)]
        written = []
        for name, order in (("one", files), ("two", files[::-1])):
            out = os.path.join(self.folder, name)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(report.main([*order, "--ablation", self.matrix_file("m.jsonl", 1.0), "--out", out]), 0)
            written.append({})
            for place, _, names in os.walk(out):
                for file in names:
                    with open(os.path.join(place, file), encoding="utf-8") as content:
                        written[-1][os.path.relpath(os.path.join(place, file), out)] = content.read()
        self.assertEqual(len(written[0]), 3)
        self.assertEqual(written[0], written[1])


@needs_matplotlib
class Plots(unittest.TestCase):
    def draw(self, *chart):
        import plot
        text = io.BytesIO()
        plot.save(plot.bar_chart(*chart), text)
        return text.getvalue().decode()

    def test_a_bar_for_each_value_and_none_for_a_gap(self):
        import plot
        figure = plot.bar_chart("a < b", ["1024", "4096"], {"attn": [500.0, 250.0], "cudnn": [None, 400.0]})
        bars = figure.axes[0].patches
        self.assertEqual([bar.get_height() for bar in bars], [500, 250, 400])
        self.assertLess(bars[1].get_x(), bars[2].get_x())
        with self.assertRaisesRegex(ValueError, "expected at most 7 series, got 8"):
            plot.bar_chart("", [1], {str(n): [1] for n in range(8)})

    def test_axes_and_contenders_have_their_names(self):
        svg = self.draw("a < b", [1024, 4096], {"attn": [500.0, 250.0], "cudnn": [None, 400.0]})
        texts = [text.text for text in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
        for text in ("a < b", "seqlen", "TFLOP/s", "1024", "500", "attn", "cudnn"):
            self.assertIn(text, texts)

    def test_the_same_numbers_give_the_same_bytes(self):
        chart = ("title", [1], {"attn": [1.0]})
        self.assertEqual(self.draw(*chart), self.draw(*chart))


if __name__ == "__main__":
    unittest.main()
