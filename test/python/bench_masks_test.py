# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mask functions that bench/attention.py measures: what they admit, what kernels visit, and who takes part."""

import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import package_support  # finds the package

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import limits
import make_bundles
import mask_table
import report
import results
from bench_lines import measured, run_of
from racing import check, contenders, flex, libattn, masks, points, shares
from racing.unavailable import Unavailable

needs_torch = unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
BUILD = os.environ.get("ATTN_BUILD", os.path.join(ROOT, "build"))
# Pairs that a mask admits, by a formula instead of its function.
CLOSED_FORMS = {
    "prefix1024": lambda s: sum(max(min(1024, s), q + 1) for q in range(s)),
    "padding": lambda s: s * (s * 3 // 4),
    "chunks2048": lambda s: sum(q % 2048 + 1 for q in range(s)),
    "sinks64+window1024": lambda s: sum(min(q + 1, 1024) + min(max(q - 1023, 0), 64) for q in range(s)),
    "window1024": lambda s: sum(min(q + 1, 1024) for q in range(s)),
    "causal_fn": lambda s: s * (s + 1) // 2,
    "documents": lambda s: sum(n * (n + 1) // 2 for n in collections.Counter(i * 8 // s for i in range(s)).values()),
    "document_starts": lambda s: sum(n * (n + 1) // 2 for n in collections.Counter(i * 8 // s for i in range(s)).values()),
    "blocks32": lambda s: sum(min(s, q // 32 * 32 + 32) for q in range(s)),
}


class Admissible(unittest.TestCase):
    def test_every_function_has_the_pairs_of_its_formula(self):
        self.assertEqual(set(CLOSED_FORMS), set(masks.FUNCTIONS))
        for name, formula in CLOSED_FORMS.items():
            with self.subTest(name=name):
                self.assertEqual(self.counted(name, 300), formula(300))

    def test_beyond_a_window(self):
        for name in ("prefix1024", "sinks64+window1024", "window1024"):
            with self.subTest(name=name):
                self.assertEqual(self.counted(name, 1200), CLOSED_FORMS[name](1200))

    def test_built_in_masks(self):
        for name in masks.BUILT_IN:
            self.assertEqual(self.counted(name, 150), shares.admissible_pairs(name, 150))

    @needs_torch
    def test_with_torch_as_without(self):
        import torch
        for name, formula in CLOSED_FORMS.items():
            mask = masks.MASKS[name]
            with self.subTest(name=name):
                self.assertEqual(shares.survey(mask.make, mask.captured, 300, torch), shares.survey(mask.make, mask.captured, 300))
                self.assertEqual(shares.survey(mask.make, mask.captured, 4096, torch)[0], formula(4096))

    def test_long_ones_without_torch_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "at most 2048 keys to count without it, got 4096"):
            shares.PlainRows(masks.causal(), range(64), 4096)

    def counted(self, name, seqlen):
        mask = masks.MASKS[name]
        return shares.survey(mask.make, mask.captured, seqlen)[0]


class Visited(unittest.TestCase):
    def test_causal_and_none_by_formula(self):
        for name in masks.BUILT_IN:
            for rows, keys, skips in ((128, 128, False), (128, 64, True), (192, 64, True), (256, 96, False)):
                with self.subTest(name=name, rows=rows, keys=keys, skips=skips):
                    point = points.Point(name, 128, 500, heads=(1, 1), batch=1)
                    kernel = {"tile_m": rows, "tile_n": keys, "cluster": 1, "skips": skips}
                    share = shares.visited(name, 500, shares.Tiles(rows, keys, skips))
                    self.assertAlmostEqual(share, limits.tiles(point, kernel) * 64 * keys / 500**2)

    def test_prefix_and_window_leave_out_what_is_between(self):
        # 1024 keys before the first of 1280 queries: of the last tile, keys 0 to 63, and 129 to 1279.
        steps = shares.survey_blocks("sinks64+window1024", 1280)
        blocks = shares.visited_blocks(steps, shares.Tiles(128, 64, False))
        self.assertEqual(blocks[-2:], [1 + (1280 - 128) // 64] * 2)
        self.assertEqual(blocks[:2], [2, 2])

    def test_warpgroups_leave_out_blocks_on_both_sides(self):
        # The queries of the last tile see 1 + 1023 keys each, from the third last block of 64 keys and the 16 before it on.
        steps = shares.survey_blocks("window1024", 1280)
        for skips, skips_left, counts in ((False, False, [18, 18]), (True, False, [17, 18]), (True, True, [17, 17])):
            tiles = shares.Tiles(128, 64, skips, skips_left)
            self.assertEqual(shares.visited_blocks(steps, tiles)[-2:], counts)

    def test_what_stays_a_function_skips_nothing(self):
        tiles = shares.Tiles(128, 64, True)
        self.assertEqual(shares.visited("documents", 512, tiles), shares.visited("causal", 512, tiles))
        self.assertLess(shares.admissible("documents", 512), 0.1)

    def test_tiles_of_other_sizes_are_refused(self):
        with self.assertRaisesRegex(ValueError, "multiples of 64 x 16, got 128 x 40"):
            shares.visited("causal_fn", 128, shares.Tiles(128, 40, False))

    def test_tiles_that_a_cluster_shares_are_whole(self):
        for dim, tiles in (72, {(256, 128), (384, 80)}), (128, {(256, 128)}), (192, {(256, 80)}):
            source = make_bundles.source(points.Point("causal", dim, points.TOKENS))
            done = subprocess.run([os.path.join(BUILD, "bin", "attn-compile"), "-", "--emit=plan"], input=source, capture_output=True,
                                  text=True, check=True)
            plan = json.loads(done.stdout)
            pairs = [shares.tiles_of(plan, variant) for variant in plan["variants"] if variant["launches"][0]["cluster"][0] == 2]
            with self.subTest(dim=dim):
                self.assertEqual({(each.rows, each.keys) for each in pairs}, tiles)

    def test_a_cluster_shares_panels_where_they_are_even(self):
        for columns, box, keys in (104, 64, 64), (72, 32, 128):
            dims = [{"size": columns, "box": box}, {"size": "sk", "box": 64}, {"size": "hk", "box": 1}, {"size": "b", "box": 1}]
            launch = {"params": [{"kind": "tensor_map", "tensor": "k", "dims": dims}]}
            self.assertEqual(shares.box(launch, "k", "sk", 2), keys)

    def test_functions_stay_where_the_intervals_are_others(self):
        for name, mask in masks.FUNCTIONS.items():
            with self.subTest(name=name):
                found = mask_table.found_in(os.path.join(BUILD, "bin", "attn-compile"), make_bundles.source(points.Point(name, 64, 512)))
                self.assertEqual("Staying" in found, mask.intervals is not None, found)


class OnTheSimulator(unittest.TestCase):
    """What is counted is what kernels do."""

    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = temp.name

    def traced(self, path, point, *options):
        """How many copies and groups of products there were, by name."""
        trace = os.path.join(self.folder, "trace.json")
        command = [os.path.join(BUILD, "bin", "attn-run"), path, "--device=sim", f"--q=1x{point.seqlen}x1x{point.d}", "--check",
                   "--sm-count=2", f"--trace={trace}", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(trace, encoding="utf-8") as file:
            read = json.load(file)
        events = read["traceEvents"] if isinstance(read, dict) else read
        return collections.Counter(event["name"] for event in events if event.get("ph") == "b")

    def test_kernels_visit_what_is_counted(self):
        for name, options in (("documents", ["--tensor=ids=documents"]), ("blocks32", [])):
            point = points.Point(name, 64, 700, heads=(1, 1), batch=1)
            source, path = (os.path.join(self.folder, name + end) for end in (".mlir", ".attn"))
            with open(source, "w", encoding="utf-8") as file:
                file.write(make_bundles.source(point))
            subprocess.run([os.path.join(BUILD, "bin", "attn-compile"), source, "--emit=bundle", "-o", path], check=True)
            bundle = libattn.Library(os.path.join(BUILD, "lib", "libattn_runtime.so")).load(path)
            self.assertEqual(contenders.mismatch(bundle.plan["problem"], point, True), "")
            variant = mask_table.variant_at(bundle, point)
            schedule, tiles = mask_table.describe_variant(bundle.plan, variant)
            found, steps = self.traced(path, point, *options), shares.survey_blocks(name, 700)
            blocks, together = shares.visited_blocks(steps, tiles), tiles.rows // shares.ROWS
            with self.subTest(name=name, schedule=schedule, tiles=tiles):
                self.assertTrue(tiles.skips)
                loads = shares.visited_blocks(steps, tiles._replace(skips=False))[::together]
                self.assertEqual(found["k"], sum(loads))
                # Two products a block.
                products = [found[f"wg[{number}]"] for number in range(together)]
                self.assertEqual(products, [2 * sum(blocks[number::together]) for number in range(together)])


class Points(unittest.TestCase):
    def test_operations_are_of_admissible_pairs(self):
        full = points.Point("none", 128, 512).flops
        self.assertEqual(points.Point("padding", 128, 512).flops * 4, full * 3)
        self.assertEqual(points.Point("causal_fn", 128, 512).flops * 1024, full * 513)
        self.assertEqual(points.Point("causal", 128, 512).flops * 2, full)

    def test_cases_are_the_names(self):
        grid = points.make_grid("quick", [(64, 64)], ["padding", "sinks64+window1024"], 1024, 1024, heads=[None, (32, 8)])
        self.assertEqual([p.case for p in grid], ["padding", "sinks64+window1024", "gqa32-8+padding", "gqa32-8+sinks64+window1024"])
        self.assertEqual(str(grid[1]), "fwd bf16 sinks64+window1024 d64 s1024")

    def test_bundles_have_names_and_sources_of_their_own(self):
        self.assertEqual(contenders.bundle_name(points.Point("sinks64+window1024", 64, 512)), "fwd_d64_sinks64_window1024.attn")
        for name in masks.FUNCTIONS:
            point = points.Point(name, 128, 512, dtype="fp16")
            source = make_bundles.source(point)
            self.assertIn(f"func.func @{make_bundles.stem(point)}(", source)
            self.assertIn("tensor<?x?x?x128xf16>", source)
            self.assertIn("mask_region", source)
        self.assertEqual(len({contenders.bundle_name(points.Point(name, 64, 512)) for name in points.CASES}), len(points.CASES))
        with self.assertRaisesRegex(ValueError, "none or causal, got the function padding"):
            make_bundles.entries_of(points.Point("padding", 64, 512))

    def test_a_bundle_without_the_function_is_refused(self):
        problem = {"kind": "fwd", "dtype": "bf16", "head_dim": 64, "head_dim_v": 64, "mask": "none", "score_region": "none", "mask_region": "none"}
        point = points.Point("padding", 64, 512)
        self.assertIn("mask_region is custom, got none", contenders.mismatch(problem, point, True))
        self.assertEqual(contenders.mismatch({**problem, "mask_region": "custom"}, point, True), "")
        self.assertIn("mask is none, got causal_top_left", contenders.mismatch({**problem, "mask": "causal_top_left"}, point, True))


class Reports(unittest.TestCase):
    def lines(self):
        point = points.Point("padding", 128, 512)
        line = measured("attn", 400, "attn", point)
        line.update(visited=0.9, tflops_visited=480.0)
        return [line, measured("flex", 300, point=point)]

    def test_lines_have_the_shares(self):
        point = points.Point("padding", 128, 512)
        line = check_line(point, 0.9)
        self.assertEqual((line["admissible"], line["visited"]), (0.75, 0.9))
        self.assertAlmostEqual(line["tflops_visited"] / line["tflops"], 0.9 / 0.75, places=3)
        self.assertNotIn("visited", check_line(point, None))

    def test_the_table_has_both_rates(self):
        row = results.merge([run_of(*self.lines())])[0]
        self.assertTrue(results.format_row(row, row.groups).endswith("   admissible 0.750, visited: attn 480.0 (0.900)"))
        table = report.family_table([row])
        self.assertIn("| ratio | range | to | admissible | attn: visited, TFLOP/s of it |", table)
        self.assertIn("| 0.750 | 0.900, 480 |", table)

    def test_older_results_are_as_they_were(self):
        lines = [{key: value for key, value in line.items() if key not in ("admissible", "visited", "tflops_visited")} for line in self.lines()]
        row = results.merge([run_of(*lines)])[0]
        self.assertTrue(results.format_row(row, row.groups).endswith(") flex"))
        self.assertIn("| ratio | range | to |\n", report.family_table([row]))

    def test_the_page_has_every_function(self):
        with open(mask_table.PAGE, encoding="utf-8") as file:
            page = file.read()
        table = page.partition(mask_table.BEGIN)[2].partition(mask_table.END)[0].splitlines()
        self.assertEqual([tuple(line.split(" | ")[n].strip("| ") for n in (0, 2)) for line in table[2:]],
                         [(name, str(d)) for name in masks.FUNCTIONS for d in mask_table.DIMS])
        self.assertEqual(mask_table.with_table(page, "".join(line + "\n" for line in table)), page)

    def test_cells_of_the_table(self):
        self.assertEqual(mask_table.found_in_words({"Mask": "causal_top_left", "Staying": "a load"}), "`causal_top_left`; stays: a load")
        self.assertEqual(mask_table.found_in_words({"Mask": "row_keys, keys from 0 to 2"}), "`row_keys, keys from 0 to 2`")


def check_line(point, visited):
    from racing.session import summarize
    return summarize(point, "attn", "attn", [1.0], [1.5], "", {"gpu": "G"}, visited=visited)


@needs_torch
class WithTorch(unittest.TestCase):
    """On the CPU, uncompiled."""

    def inputs(self, point):
        import torch
        torch.manual_seed(0)
        return torch, [torch.randn(shape, dtype=torch.bfloat16) for shape in point.shapes]

    def test_the_reference_applies_the_function_as_flex_attention_does(self):
        for name in points.CASES:
            point = points.Point(name, 64, 144, heads=(2, 1), batch=2)
            torch, inputs = self.inputs(point)
            contender = flex.FlexContender(torch, "flex", point, inputs, wrap=lambda function: function)
            out, lse = contender.results(contender.call())
            with self.subTest(name=name):
                self.assertEqual(check.Reference(torch, point, inputs).judge(out, lse), "")
                self.assertGreaterEqual(contender.visited(), shares.admissible(point.mask, 144))

    def test_another_function_is_wrong(self):
        point = points.Point("blocks32", 64, 200, heads=(1, 1), batch=1)
        torch, inputs = self.inputs(point)
        other = flex.FlexContender(torch, "flex", points.Point("causal", 64, 200, heads=(1, 1), batch=1), inputs, wrap=lambda function: function)
        self.assertIn("O: ", check.Reference(torch, point, inputs).judge(*other.results(other.call())))

    def test_who_has_no_mask_functions_does_not_take_part(self):
        point = points.Point("padding", 64, 128, heads=(1, 1), batch=1)
        torch, inputs = self.inputs(point)
        for name in ("cudnn", "torch-fa2"):
            with self.assertRaisesRegex(Unavailable, "has no mask functions"):
                contenders.make_peer(torch, name, point, inputs)
        same = points.Point("causal_fn", 64, 128, heads=(1, 1), batch=1)
        self.assertIsNotNone(contenders.make_peer(torch, "torch-fa2", same, inputs))

    def test_what_a_backend_cannot_compile_does_not_take_part(self):
        point = points.Point("padding", 64, 128, heads=(1, 1), batch=1)
        torch, inputs = self.inputs(point)

        def refuse(*_, **options):
            self.assertEqual(options["kernel_options"], {"BACKEND": "TRITON"})
            raise torch._dynamo.exc.BackendCompilerFailed(refuse, RuntimeError("no such kernel"), None)

        with self.assertRaisesRegex(Unavailable, "does not compile: .*no such kernel"):
            flex.FlexContender(torch, "flex", point, inputs, wrap=lambda function: refuse)

    @unittest.skipIf(importlib.util.find_spec("flash_attn"), "flash-attn is installed")
    def test_without_flash_attention_its_backend_does_not_take_part(self):
        point = points.Point("padding", 64, 128, heads=(1, 1), batch=1)
        torch, inputs = self.inputs(point)
        with self.assertRaisesRegex(Unavailable, "flash-attn-4 is not there"):
            contenders.make_peer(torch, "fa4-flex", point, inputs)


if __name__ == "__main__":
    unittest.main()
