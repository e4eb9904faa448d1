# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How bench/ writes, merges and prints results."""

import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import results
from bench_lines import measured, run_of
from racing import points, session


class Lines(unittest.TestCase):
    def test_a_line_is_what_a_reader_of_results_expects(self):
        point = points.Point("causal", 128, 4096)
        line = json.loads(json.dumps(session.summarize(point, "attn", "attn", [1.0, 3.0, 2.0], [1.4, 0.0, 1.6], "", {"gpu": "G"})))
        expected = {"op": "fwd", "dtype": "bf16", "case": "causal", "d": 128, "dv": 128, "seqlen": 4096,
                    "contender": "attn", "kind": "attn", "rounds": 3, "ok": True, "gpu": "G"}
        self.assertEqual({k: line[k] for k in expected}, expected)
        self.assertAlmostEqual(line["tflops"], session.tflops(point, 2.0), places=1)
        self.assertEqual((line["ms"], line["min_ms"], line["max_ms"]), (2.0, 1.0, 3.0))
        self.assertAlmostEqual(line["ghz"], 1.5)

    def test_tflops(self):
        point = points.Point("none", 64, 16384)
        self.assertAlmostEqual(session.tflops(point, point.flops / 500e12 * 1e3), 500.0)

    def test_a_wrong_contender_has_no_time(self):
        line = measured("attn", 500, note="O: max error")
        self.assertEqual((line["tflops"], line["rounds"], line["ok"]), (0.0, 0, False))

    def test_one_that_could_not_take_part_is_neither_right_nor_wrong(self):
        row = results.merge([run_of(measured("fa4", 0, note="is not there", ran=False), measured("cudnn", 500, note="O: max error"))])[0]
        self.assertEqual(row.wrong, ["cudnn"])
        self.assertEqual(row.notes, [("cudnn", "O: max error"), ("fa4", "is not there")])

    def test_one_reason_at_many_points_is_one_line(self):
        lines = [measured("fa4", 0, note="is not there", ran=False, point=points.Point("none", 64, s)) for s in points.GRIDS["paper"]]
        self.assertEqual(results.describe_gaps(results.merge([run_of(*lines)])),
                         ["fa4: is not there (at fwd bf16 none d64 s512, fwd bf16 none d64 s1024, fwd bf16 none d64 s2048 and 3 more points)"])

    def test_a_file_is_one_run(self):
        with tempfile.TemporaryDirectory() as temp:
            path = os.path.join(temp, "run.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(measured("attn", 500, "attn")) + "\n\n" + json.dumps(measured("cudnn", 400)) + "\n")
            (lines,) = results.read_run(path).values()
            self.assertEqual(sorted(lines), ["attn", "cudnn"])
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(measured("attn", 500, "attn")) + "\n")
            with self.assertRaisesRegex(ValueError, "run.jsonl:4: 'attn' stands twice"):
                results.read_run(path)


class Merging(unittest.TestCase):
    def test_the_ratio_is_the_median_of_the_runs_ratios(self):
        # The clock differs from run to run: ratios 1.1, 0.9 and 1.2 of different levels.
        levels = [(550, 500), (360, 400), (720, 600)]
        row = results.merge([run_of(measured("attn", a, "attn"), measured("cudnn", c), measured("fa4", c / 2)) for a, c in levels])[0]
        median, least, most, who = row.peer_ratio()
        for value, expected in ((median, 1.1), (least, 0.9), (most, 1.2)):
            self.assertAlmostEqual(value, expected, places=3)
        self.assertEqual(who, "cudnn")
        self.assertAlmostEqual(row.entries["attn"].tflops, 550, places=1)

    def test_marks_are_no_peers_and_the_best_configuration_of_one_counts(self):
        row = results.merge([run_of(measured("attn", 600, "attn"), measured("cudnn", 500),
                                    measured("mark/a", 700, "mark"), measured("mark/b", 750, "mark"))])[0]
        self.assertAlmostEqual(row.peer_ratio()[0], 1.2, places=3)
        self.assertAlmostEqual(row.ratio(["mark"])[0], 0.8, places=3)
        self.assertTrue(results.format_row(row, row.groups).endswith(" 0.800 (0.800-0.800) mark/b"))
        self.assertEqual((row.groups, row.entries["mark"].name), (["attn", "cudnn", "mark"], "mark/b"))

    def test_a_mark_with_another_mask_is_compared_by_the_pairs_that_are_visited(self):
        lines = [measured("attn", 600, "attn"), measured("cudnn", 500), measured("attn:causal", 300, "mark")]
        for line, rate in zip(lines, (650, None, 625)):
            line.update({"visited": 0.5, "tflops_visited": rate} if rate else {})
        row = results.merge([run_of(*lines)])[0]
        self.assertAlmostEqual(row.mark_ratio("attn:causal")[0], 1.04, places=3)
        self.assertAlmostEqual(row.ratio(["attn:causal"])[0], 2, places=3)

    def test_wrong_results_do_not_count(self):
        row = results.merge([run_of(measured("attn", 600, "attn", note="LSE: error"), measured("cudnn", 500))])[0]
        self.assertIsNone(row.peer_ratio())
        self.assertIn("no result", results.format_row(row, row.groups))

    def test_the_report_names_every_point_and_the_geometric_mean(self):
        lines = []
        for seqlen, attn in ((1024, 200), (4096, 800)):
            point = points.Point("none", 128, seqlen)
            lines += [measured("attn", attn, "attn", point), measured("cudnn", 400, point=point)]
        text = results.format_report(results.merge([run_of(*lines)]))
        self.assertRegex(text, r"fwd bf16 none d128 s1024 +200\.0 @1\.50 +400\.0 @1\.50 +0\.500 \(0\.500-0\.500\) cudnn")
        self.assertIn("attn to the best peer: geometric mean 1.000, worst 0.500, 2 points", text)


class Matrix(unittest.TestCase):
    def rows(self):
        lines = []
        for seqlen, rates in ((1024, (400, 500, 300)), (4096, (600, 540, 300))):
            point = points.Point("causal", 64, seqlen)
            lines += [measured(n, r, "variant", point) for n, r in zip(("n64", "n128", "slow"), rates)]
            lines.append(measured("cudnn", 250, point=point))
        lines.append(measured("gap", 600, "variant", points.Point("causal", 64, 1024)))
        lines.append(measured("broken", 0, "variant", points.Point("causal", 64, 1024), note="O is not finite everywhere"))
        return results.merge([run_of(*lines)])

    def test_scores_are_ratios_to_the_best_variant_of_the_point(self):
        scores = results.score_variants(self.rows())
        self.assertAlmostEqual(scores["n64"][1024], 400 / 600, places=3)
        self.assertAlmostEqual(scores["n64"][4096], 1.0, places=3)
        self.assertEqual(list(scores["gap"]), [1024])
        self.assertNotIn("cudnn", scores)
        self.assertNotIn("broken", scores)

    def test_scores_against_a_base_are_medians_of_each_runs_ratios(self):
        runs = [run_of(measured("full", full, "variant"), measured("without", without, "variant"))
                for full, without in ((500, 450), (400, 400), (600, 480))]
        scores = results.score_variants(results.merge(runs), "full")
        self.assertAlmostEqual(scores["without"][4096], 0.9, places=3)
        self.assertEqual(results.score_variants(results.merge(runs), "absent"), {})

    def test_the_table_has_the_best_first_and_gaps_last(self):
        lines = results.format_tables(self.rows()).splitlines()
        self.assertEqual(lines[0].split(), ["fwd", "bf16", "causal", "d64", "1024", "4096", "mean"])
        self.assertEqual([line.split()[0] for line in lines[3:-1]], ["n128", "n64", "slow", "gap", "cudnn", "broken"])
        self.assertEqual(lines[-1], "broken: O is not finite everywhere (at fwd bf16 causal d64 s1024)")
        self.assertEqual(lines[4].split(), ["n64", "0.667", "1.000", "0.816"])
        self.assertEqual(lines[6].split(), ["gap", "1.000", "-", "1.000"])


if __name__ == "__main__":
    unittest.main()
