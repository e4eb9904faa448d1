# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of bench/ that need no GPU."""

import contextlib
import ctypes
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import attention
import make_bundles
from racing import check, contenders, libattn, points, race
from racing.session import Fatal, Session


class Grid(unittest.TestCase):
    def test_flops_are_those_of_two_products(self):
        point = points.Point("none", 128, 4096)
        self.assertEqual((point.batch, point.heads, point.kv_heads), (4, 16, 16))
        self.assertEqual(point.flops, 4 * 4 * 16 * 4096 * 4096 * 128)
        self.assertEqual(points.Point("causal", 128, 4096).flops * 2, point.flops)
        self.assertEqual(points.Point("none", 192, 4096, dv=128).flops, 2 * 4 * 16 * 4096 * 4096 * (192 + 128))

    def test_every_point_has_16k_tokens_and_hidden_size_2048(self):
        grid = points.make_grid("paper", [(64, 64), (128, 128), (256, 256), (192, 128)], ["none", "causal"], 0, 16384)
        self.assertEqual(len(grid), 4 * 2 * 6)
        for point in grid:
            self.assertEqual(point.batch * point.seqlen, 16384)
            self.assertEqual(point.heads * point.dv, 2048)
        self.assertEqual(len({(p.family, p.seqlen) for p in grid}), len(grid))

    def test_seqlen_bounds_are_inclusive(self):
        grid = points.make_grid("paper", [(64, 64)], ["none"], 1024, 4096)
        self.assertEqual([p.seqlen for p in grid], [1024, 2048, 4096])

    def test_grouped_heads_are_cases_of_their_own(self):
        grid = points.make_grid("quick", [(128, 128)], ["none", "causal"], 4096, 4096, ("fp16",), [(32, 8), (64, 8)])
        self.assertEqual([p.case for p in grid], ["gqa32-8", "gqa32-8+causal", "gqa64-8", "gqa64-8+causal"])
        self.assertEqual(str(grid[1]), "fwd fp16 gqa32-8+causal d128 s4096")
        self.assertEqual(grid[1].shapes, ((4, 4096, 32, 128), (4, 4096, 8, 128), (4, 4096, 8, 128)))

    def test_pairs(self):
        self.assertEqual((points.pair("64"), points.pair("192/128")), ((64, 64), (192, 128)))
        for text in ("0", "64/", "x", "128/-1"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                self.assertIsNone(points.pair(text))


class Order(unittest.TestCase):
    def test_each_round_is_a_permutation_that_the_seed_decides(self):
        names = ["attn", "cudnn", "torch-fa2"]
        orders = race.rounds_order(names, 20, seed=1)
        self.assertEqual(len(orders), 20)
        for order in orders:
            self.assertEqual(sorted(order), names)
        self.assertEqual(orders, race.rounds_order(names, 20, seed=1))
        self.assertNotEqual(orders, race.rounds_order(names, 20, seed=2))
        self.assertGreater(len(set(map(tuple, orders))), 1)


class FakeEvent:
    """Time passes by the launches alone."""
    now = 0.0

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = FakeEvent.now

    def query(self):
        return True

    def elapsed_time(self, other):
        return other.at - self.at


class FakeContender:
    def __init__(self, times):
        self.times, self.calls, self.scopes = times, 0, 0

    @contextlib.contextmanager
    def scope(self):
        self.scopes += 1
        yield

    def call(self):
        FakeEvent.now += self.times[self.calls % len(self.times)]
        self.calls += 1


FAKE_TORCH = types.SimpleNamespace(cuda=types.SimpleNamespace(Event=FakeEvent, synchronize=lambda: None))
FAKE_CLOCK = types.SimpleNamespace(ghz=lambda: 1.5)


class Slices(unittest.TestCase):
    def test_a_slice_has_at_least_the_asked_length(self):
        self.assertEqual(race.launches_for(80, 0.1), 800)
        self.assertEqual(race.launches_for(80, 0.3), 267)
        self.assertEqual(race.launches_for(80, 50.0), race.MIN_LAUNCHES)

    def test_the_first_half_is_dropped(self):
        contender = FakeContender([9.0, 9.0, 2.0, 2.0])
        times, _ = race.time_slice(FAKE_TORCH, contender, 4, FAKE_CLOCK)
        self.assertEqual(times, [2.0, 2.0])
        self.assertEqual((contender.calls, contender.scopes), (4, 1))

    def test_each_contender_has_one_result_a_round(self):
        contenders = {"a": FakeContender([1.0]), "b": FakeContender([2.0])}
        results = race.race(FAKE_TORCH, contenders, 5, 80, 0, FAKE_CLOCK)
        self.assertEqual(results["a"][0], [1.0] * 5)
        self.assertEqual(results["b"][0], [2.0] * 5)
        self.assertEqual(contenders["a"].calls, race.MIN_LAUNCHES + 5 * 80)
        self.assertEqual(contenders["b"].scopes, 6)


    def test_a_variant_left_behind_has_one_round(self):
        contenders = {"a": FakeContender([1.0]), "b": FakeContender([1.2]), "c": FakeContender([1.3]), "peer": FakeContender([3.0])}
        results = race.race(FAKE_TORCH, contenders, 3, 80, 0, FAKE_CLOCK, variants=["a", "b", "c"], drop=0.8)
        self.assertEqual({name: len(ms) for name, (ms, _) in results.items()}, {"a": 3, "b": 3, "c": 1, "peer": 3})

    def test_what_does_not_end_is_a_hang(self):
        event = types.SimpleNamespace(query=lambda: False)
        with self.assertRaisesRegex(race.Hang, "did not end within 0.01 s"):
            race.wait(event, 0.01)

    def test_a_failure_names_the_contender(self):
        def fail():
            raise RuntimeError("illegal address")
        broken = types.SimpleNamespace(scope=contextlib.nullcontext, call=fail)
        with self.assertRaises(race.Failed) as caught:
            race.race(FAKE_TORCH, {"a": FakeContender([1.0]), "b": broken}, 1, 80, 0, FAKE_CLOCK)
        self.assertEqual((caught.exception.name, str(caught.exception.error)), ("b", "illegal address"))


class Rules(unittest.TestCase):
    def test_rule_for_the_output(self):
        self.assertEqual(check.judge_output((2.0, 1.5), (1.0, 1.0)), "")
        self.assertIn("max error", check.judge_output((2.1, 1.0), (1.0, 1.0)))
        self.assertEqual(check.judge_output((2.9, 1.5), (1.0, 1.0), 0.5), "")
        self.assertIn("at most 3.00e+00 allowed", check.judge_output((3.1, 1.0), (1.0, 1.0), 0.5))
        self.assertIn("mean error", check.judge_output((1.0, 1.6), (1.0, 1.0)))
        self.assertIn("max error", check.judge_output((float("nan"), 1.0), (1.0, 1.0)))

    def test_a_bundle_of_another_problem_is_refused(self):
        problem = {"kind": "fwd", "dtype": "bf16", "head_dim": 64, "head_dim_v": 64, "layout": "bshd",
                   "mask": "causal_top_left", "score_region": "none", "mask_region": "none"}
        def mismatch(*point, **more):
            return contenders.mismatch(problem, points.Point(*point, **more))
        self.assertEqual(mismatch("causal", 64, 512), "")
        self.assertEqual(mismatch("causal", 64, 512, heads=(32, 8)), "")
        self.assertIn("head_dim is 128, got 64", mismatch("causal", 128, 512))
        self.assertIn("head_dim_v is 128, got 64", mismatch("causal", 64, 512, dv=128))
        self.assertIn("mask is none, got causal_top_left", mismatch("none", 64, 512))
        self.assertIn("dtype is f16, got bf16", mismatch("causal", 64, 512, dtype="fp16"))


class Bundles(unittest.TestCase):
    def test_names(self):
        for point, name in ((points.Point("none", 64, 512), "fwd_d64_none.attn"),
                            (points.Point("causal", 192, 512, dv=128, dtype="fp16"), "fwd_fp16_d192x128_causal.attn")):
            self.assertEqual(contenders.bundle_name(point), name)

    def test_the_sources_differ_in_the_problem_alone(self):
        def source(mask, d, **more):
            return make_bundles.source(points.Point(mask, d, 512, **more))
        causal = source("causal", 64)
        self.assertEqual(causal.count("tensor<?x?x?x64xbf16>"), 9)
        self.assertIn("mask(causal_bottom_right)", causal)
        self.assertEqual(causal.replace("64", "128"), source("causal", 128))
        self.assertEqual(causal.replace("causal_bottom_right", "none").replace("_causal", "_none"), source("none", 64))
        self.assertEqual(causal.replace("bf16", "f16").replace("@fwd", "@fwd_fp16"), source("causal", 64, dtype="fp16"))
        self.assertEqual(source("none", 192, dv=128).count("x192xbf16>"), 4)
        self.assertEqual(set(make_bundles.MASKS), set(points.MASKS))

    def test_variants_are_bundles_or_folders_of_them(self):
        with tempfile.TemporaryDirectory() as temp:
            os.mkdir(os.path.join(temp, "wide"))
            os.mkdir(os.path.join(temp, "empty"))
            for path in ("n64.k2.attn", "notes.txt", "wide/fwd_d64_none.attn", "wide/fwd_d64_causal.attn"):
                with open(os.path.join(temp, path), "w", encoding="utf-8"):
                    pass
            found = contenders.find_variants(temp)
            self.assertEqual({name: [os.path.relpath(f, temp) for f in files] for name, files in found.items()},
                             {"n64.k2": ["n64.k2.attn"], "wide": ["wide/fwd_d64_causal.attn", "wide/fwd_d64_none.attn"]})

    def test_a_plugin_without_one_of_its_functions_is_refused(self):
        with tempfile.TemporaryDirectory() as temp:
            path = os.path.join(temp, "plugin.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("def names(point):\n    return []\n")
            with self.assertRaisesRegex(ValueError, "expected a function 'make'"):
                contenders.load_plugin(path)

    def test_a_plugin_that_is_no_python_file_is_refused(self):
        with self.assertRaisesRegex(ValueError, "expected a Python file, got 'plugin.so.1'"):
            contenders.load_plugin("plugin.so.1")


class Options(unittest.TestCase):
    def refused(self, *argv):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as stopped:
            attention.parse_arguments(list(argv))
        self.assertEqual(stopped.exception.code, 2)
        return err.getvalue()

    def test_defaults(self):
        args = attention.parse_arguments(["--bundles", "x"])
        self.assertEqual((args.contenders, args.cases, args.rounds, args.slice_ms), (["attn", "cudnn", "torch-fa2"], ["none", "causal"], 3, 80.0))
        self.assertEqual(attention.parse_arguments(["--matrix", "x"]).contenders, [])

    def test_bad_ones_are_refused(self):
        self.assertIn("needs --bundles", self.refused())
        self.assertIn("expected some of none,causal,prefix1024,", self.refused("--cases", "windowed"))
        self.assertIn("divide 2048, got 96", self.refused("--bundles", "x", "--d", "96"))
        self.assertIn("at least one round", self.refused("--bundles", "x", "--rounds", "0"))
        self.assertIn("got '64/x'", self.refused("--bundles", "x", "--d", "64/x"))
        self.assertIn("multiples of those of K and V, got 32/12", self.refused("--bundles", "x", "--heads", "32/12"))
        self.assertIn("in place of the contender attn", self.refused("--matrix", "x", "--contenders", "attn"))

    def test_what_broke_is_left_out_after_a_restart(self):
        point = points.Point("causal", 64, 512)
        fatal = Fatal("n64", point, "did not end within 10 s")
        args = attention.parse_arguments(["--matrix", "x", "--out", "o"])
        with mock.patch.object(os, "closerange"), mock.patch.object(os, "execv") as execv:
            attention.start_again(["--matrix", "x", "--out", "o"], args, fatal)
        again = attention.parse_arguments(execv.call_args[0][1][2:])
        self.assertEqual(again.skipped, {("n64", point.family): "did not end within 10 s"})
        self.assertEqual((again.out, again.matrix), ("o", "x"))


class Entrants(unittest.TestCase):
    """The contenders that take part at a point. The bundles are stand-ins that only state their problem."""

    def session(self, variants, *argv):
        session = Session.__new__(Session)
        session.torch, session.plugins, session.is_same = None, [], lambda name, point: False
        session.settings = attention.parse_arguments(["--matrix", "x", *argv])
        session.variants = {name: [self.bundle(*problem) for problem in problems] for name, problems in variants.items()}
        return session

    def grid(self, session):
        return attention.grid(session, session.settings)

    def bundle(self, mask, d):
        problem = {"kind": "fwd", "dtype": "bf16", "head_dim": d, "head_dim_v": d, "mask": mask,
                   "score_region": "none", "mask_region": "none"}
        return types.SimpleNamespace(plan={"problem": problem})

    def test_the_points_of_a_matrix_are_those_that_a_variant_solves(self):
        session = self.session({"a": [("none", 256)], "b": [("none", 256), ("causal_top_left", 64)]}, "--grid", "quick", "--contenders", "cudnn")
        found = {(p.mask, p.d): sorted(session.entrants(p)) for p in self.grid(session)}
        self.assertEqual(found, {("none", 256): ["a", "b", "cudnn"], ("causal", 64): ["b", "cudnn"]})

    def test_a_variant_has_one_bundle_a_problem(self):
        session = self.session({"a": [("causal_top_left", 64), ("causal_bottom_right", 64)]})
        with self.assertRaisesRegex(ValueError, "variant 'a' has 2 bundles for fwd bf16 causal d64 s512"):
            self.grid(session)

    def test_variants_take_part_where_they_are_another_kernel(self):
        session = self.session({"a": [("none", 64)], "b": [("none", 64)]}, "--grid", "quick")
        with open(os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "same.json"), "w", encoding="utf-8") as file:
            json.dump({"fwd bf16 none d64": {"b": [512, 1024]}}, file)
        session.is_same = attention.sameness(os.path.dirname(file.name))
        self.assertEqual({p.seqlen: list(session.entrants(p)) for p in self.grid(session)}, {1024: ["a"], 4096: ["a", "b"], 16384: ["a", "b"]})

    def test_mask_functions_have_no_variants_but_peers_and_marks(self):
        session = self.session({"a": [("none", 64)]}, "--contenders", "flex,fa4-flex,cudnn")
        session.plugins = [types.SimpleNamespace(names=lambda point: [f"mark/{point.mask}"], make=None)]
        kinds = {name: kind for name, (kind, _) in session.entrants(points.Point("padding", 64, 512)).items()}
        self.assertEqual(kinds, {"flex": "peer", "fa4-flex": "peer", "cudnn": "peer", "mark/padding": "mark"})

    def test_a_bundle_that_cannot_be_loaded_is_named(self):
        session = self.session({})
        def load(path):
            raise RuntimeError(f"status 2: {path} is no bundle\nmore")
        session.bundles, session.broken, session.runtime = {}, {}, types.SimpleNamespace(load=load)
        session.add_variant("a", ["a.attn"])
        self.assertEqual((session.variants, session.broken), ({}, {"a": "status 2: a.attn is no bundle"}))

    def test_names_are_unique(self):
        session = self.session({"cudnn": [("none", 64)]}, "--contenders", "cudnn")
        with self.assertRaisesRegex(ValueError, "two contenders are called 'cudnn'"):
            self.grid(session)

    def test_marks_come_from_plugins(self):
        session = self.session({"a": [("none", 64)]})
        session.plugins = [types.SimpleNamespace(names=lambda point: [f"mark/{point.d}"], make=lambda torch, name, point, inputs: (name, inputs))]
        kind, make = session.entrants(points.Point("none", 64, 512))["mark/64"]
        self.assertEqual((kind, make("inputs")), ("mark", ("mark/64", "inputs")))


class Abi(unittest.TestCase):
    STRUCTS = {"DLDevice": libattn.DLDevice, "DLDataType": libattn.DLDataType, "DLTensor": libattn.DLTensor,
               "attn_launch_args": libattn.LaunchArgs}

    def test_layouts_are_those_of_the_header(self):
        compiler = shutil.which("clang-22") or shutil.which("cc")
        self.assertIsNotNone(compiler, "no C compiler was found")
        lines = []
        for name, struct in self.STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field, *_ in struct._fields_:
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
        with tempfile.TemporaryDirectory() as temp:
            source, program = os.path.join(temp, "layout.c"), os.path.join(temp, "layout")
            with open(source, "w", encoding="utf-8") as file:
                file.write('#include "attn/runtime/attn.h"\n#include <stdio.h>\nint main(void) {\n' + "\n".join(lines) + "\n}\n")
            subprocess.run([compiler, "-I", os.path.join(ROOT, "include"), source, "-o", program], check=True)
            text = subprocess.run([program], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
        expected = ""
        for name, struct in self.STRUCTS.items():
            expected += f"{name} {ctypes.sizeof(struct)}\n"
            for field, *_ in struct._fields_:
                member = getattr(struct, field)
                expected += f"{name}.{field} {member.offset} {member.size}\n"
        self.assertEqual(text, expected)

    def test_arguments_hold_what_they_were_made_of(self):
        tensor = libattn.make_tensor(0x1000, 1, "bf16", (2, 3, 4), (12, 4, 1))
        args = libattn.make_args({"q": tensor}, {"scale": 0.125}, 1, 0x20)
        self.assertEqual((args.size, args.num_tensors, args.num_scalars), (ctypes.sizeof(libattn.LaunchArgs), 1, 1))
        self.assertEqual((args.tensor_names[0], args.scalar_names[0], args.scalars[0]), (b"q", b"scale", 0.125))
        seen = args.tensors[0].contents
        self.assertEqual((seen.data, seen.ndim, seen.shape[:3], seen.strides[:3]), (0x1000, 3, [2, 3, 4], [12, 4, 1]))
        self.assertEqual((seen.dtype.code, seen.dtype.bits, seen.dtype.lanes), (4, 16, 1))
        self.assertEqual((seen.device.device_type, seen.device.device_id, args.stream), (libattn.CUDA, 1, 0x20))


if __name__ == "__main__":
    unittest.main()
