# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which problems classes.py and few_queries.py measure, and what they print of results."""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import classes
import few_queries
import shapes


def line(shape, contender, us, ok=True):
    return {**shape.fields(), "contender": contender, "ok": ok, "note": "" if ok else "O", "us": us,
            "gbytes": shape.bytes / us / 1e3, "tflops": shape.flops / us / 1e6, "first_call_s": 0.1, "ghz": 1.98}


def written(*lines):
    file = tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False)
    with file:
        file.writelines(json.dumps(one) + "\n" for one in lines)
    return file.name


def printed(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*arguments)
    return out.getvalue()


class Problems(unittest.TestCase):
    def test_each_head_dim_at_each_length_and_mask(self):
        found = {(s.dim, s.keys, s.mask) for s in classes.make_shapes(argparse.Namespace(only="head dim"))}
        self.assertEqual(found, {(d, keys, mask) for d in classes.HEAD_DIMS for keys in classes.LENGTHS for mask in classes.MASKS})

    def test_a_quarter_is_measured_in_fp16(self):
        found = classes.make_shapes(argparse.Namespace(only=""))
        halves = [s for s in found if s.dtype == "fp16"]
        self.assertAlmostEqual(len(halves) / (len(found) - len(halves)), 0.25, delta=0.01)
        self.assertEqual({s.dim for s in halves}, {s.dim for s in found})

    def test_only_selects_by_name(self):
        found = classes.make_shapes(argparse.Namespace(only="chunks"))
        self.assertEqual({s.group for s in found}, {"chunks"})

    def test_few_queries_are_cold(self):
        args = few_queries.parse_arguments(["--batches=1", "--keys=2048", "--heads=28/4"])[1]
        found = few_queries.make_shapes(args)
        self.assertEqual(len(found), 4 * 2)
        for shape in found:
            self.assertGreaterEqual(shape.sets * shape.bytes, min(64 * shape.bytes, shapes.COLD_BYTES))

    def test_pairs_of_a_causal_mask(self):
        self.assertEqual(shapes.Shape(1, 2, 5, (1, 1), 8, "causal").flops, 4 * 8 * (5 + 4))
        self.assertEqual(shapes.Shape(1, 2, 5, (1, 1), 8).flops, 4 * 8 * 10)


class Results(unittest.TestCase):
    SHAPE = shapes.Shape(1, 512, 512, (16, 16), 72, "causal", group="head dim 72")

    def test_the_ratio_is_to_the_best_of_the_others(self):
        lines = [line(self.SHAPE, "attn", 10), line(self.SHAPE, "cudnn", 12), line(self.SHAPE, "fa4", 11)]
        self.assertAlmostEqual(shapes.ratio_of(lines), 1.1)
        self.assertIsNone(shapes.ratio_of(lines[1:]))

    def test_runs_are_joined_by_their_medians(self):
        paths = [written(line(self.SHAPE, "attn", us), line(self.SHAPE, "cudnn", 12)) for us in (10, 12, 11)]
        (lines,) = shapes.read(paths).values()
        self.assertEqual({one["contender"]: one["us"] for one in lines}, {"attn": 11, "cudnn": 12})

    def test_a_wrong_result_in_one_run_is_not_hidden(self):
        paths = [written(line(self.SHAPE, "attn", 10)), written(line(self.SHAPE, "attn", 1, ok=False), line(self.SHAPE, "cudnn", 12))]
        (lines,) = shapes.read(paths).values()
        self.assertIsNone(shapes.ratio_of(lines))

    def test_tables(self):
        other = shapes.Shape(1, 64, 8192, (32, 8), 128, group="chunks")
        path = written(line(self.SHAPE, "attn", 10), line(self.SHAPE, "cudnn", 11), line(other, "attn", 10), line(other, "fa4", 9))
        text = printed(classes.markdown, [path])
        self.assertIn("bf16: geometric mean 0.995, lowest 0.900, 50% at 1.00 or more, 2 points.", text)
        self.assertIn("| 72 | causal | 61 1.10 | - | - | - |", text)
        self.assertIn("| chunks | 1 | 64 | 8192 | 32/8 | 128 | none | 859 0.90 |", text)

    def test_table_of_few_queries(self):
        shape = shapes.Shape(16, 1, 2048, (28, 4), 64, group="d64", cold=True)
        text = printed(few_queries.markdown, [written(line(shape, "attn", 10), line(shape, "cudnn", 8))])
        self.assertIn("| 64 | 28/4 | 2048 | 1 | 3355 0.80 |", text)


class FakeReplay:
    """A contender whose slices take the given milliseconds, one after the other."""
    launches = 1

    def __init__(self, slices):
        self.slices = iter(slices)

    def slice(self, torch, replays, clock):
        return next(self.slices), 1.5


class Rounds(unittest.TestCase):
    SETUP = [1.0, 1.0]

    def rounds(self, **contenders):
        args = argparse.Namespace(slice_ms=1.0, rounds=3, most_rounds=6, error=0.01)
        replays = {name: FakeReplay(self.SETUP + slices) for name, slices in contenders.items()}
        return {name: ms for name, (ms, _) in shapes.run_rounds(None, replays, args, 0, None).items()}

    def test_the_first_round_is_not_counted(self):
        found = self.rounds(attn=[5.0] + [1.0] * 3, fa4=[1.0] + [2.0] * 3)
        self.assertEqual(found, {"attn": [1.0] * 3, "fa4": [2.0] * 3})

    def test_rounds_go_on_until_the_compared_contenders_are_known(self):
        found = self.rounds(attn=[1.0] * 9, fa4=[2.0, 2.0, 2.1, 2.0] + [2.05] * 5)
        self.assertEqual(len(found["attn"]), 5)
        self.assertEqual([len(times) for times in self.rounds(attn=[1.0, 2.0] * 5, fa4=[1.0] * 9).values()], [6, 6])

    def test_what_is_far_behind_need_not_be_known(self):
        found = self.rounds(attn=[1.0] * 9, fa4=[2.0] * 9, cudnn=[5.0, 4.0, 6.0, 5.0, 7.0, 3.0, 6.0])
        self.assertEqual(len(found["cudnn"]), 3)


if __name__ == "__main__":
    unittest.main()
