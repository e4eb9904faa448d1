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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import attention
import libattn
import make_bundles


class Grid(unittest.TestCase):
    def test_flops_are_those_of_two_products(self):
        point = attention.Point("none", 128, 4096)
        self.assertEqual((point.batch, point.heads), (4, 16))
        self.assertEqual(point.flops, 4 * 4 * 16 * 4096 * 4096 * 128)
        self.assertEqual(attention.Point("causal", 128, 4096).flops * 2, point.flops)

    def test_every_point_has_16k_tokens_and_hidden_size_2048(self):
        points = attention.make_grid("paper", [64, 128], ["none", "causal"], 0, 16384)
        self.assertEqual(len(points), 2 * 2 * 6)
        for point in points:
            self.assertEqual(point.batch * point.seqlen, 16384)
            self.assertEqual(point.heads * point.d, 2048)

    def test_seqlen_bounds_are_inclusive(self):
        points = attention.make_grid("paper", [64], ["none"], 1024, 4096)
        self.assertEqual([p.seqlen for p in points], [1024, 2048, 4096])

    def test_tflops(self):
        point = attention.Point("none", 64, 16384)
        self.assertAlmostEqual(attention.tflops(point, point.flops / 500e12 * 1e3), 500.0)


class Order(unittest.TestCase):
    def test_each_round_is_a_permutation_that_the_seed_decides(self):
        names = ["attn", "cudnn", "torch-fa2"]
        orders = attention.rounds_order(names, 20, seed=1)
        self.assertEqual(len(orders), 20)
        for order in orders:
            self.assertEqual(sorted(order), names)
        self.assertEqual(orders, attention.rounds_order(names, 20, seed=1))
        self.assertNotEqual(orders, attention.rounds_order(names, 20, seed=2))
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
        self.assertEqual(attention.launches_for(80, 0.1), 800)
        self.assertEqual(attention.launches_for(80, 0.3), 267)
        self.assertEqual(attention.launches_for(80, 50.0), attention.MIN_LAUNCHES)

    def test_the_first_half_is_dropped(self):
        contender = FakeContender([9.0, 9.0, 2.0, 2.0])
        times, _ = attention.time_slice(FAKE_TORCH, contender, 4, FAKE_CLOCK)
        self.assertEqual(times, [2.0, 2.0])
        self.assertEqual((contender.calls, contender.scopes), (4, 1))

    def test_each_contender_has_one_result_a_round(self):
        contenders = {"a": FakeContender([1.0]), "b": FakeContender([2.0])}
        results = attention.race(FAKE_TORCH, contenders, 5, 80, 0, FAKE_CLOCK)
        self.assertEqual(results["a"][0], [1.0] * 5)
        self.assertEqual(results["b"][0], [2.0] * 5)
        self.assertEqual(contenders["a"].calls, attention.MIN_LAUNCHES + 5 * 80)
        self.assertEqual(contenders["b"].scopes, 6)


class Results(unittest.TestCase):
    def line(self, name="attn", rounds=(1.0, 3.0, 2.0), ok=True):
        return attention.summarize(attention.Point("causal", 128, 4096), name, list(rounds), [1.4, 0.0, 1.6], ok, "", {"gpu": "G"})

    def test_a_line_is_what_a_reader_of_results_expects(self):
        line = json.loads(json.dumps(self.line()))
        expected = {"op": "fwd", "dtype": "bf16", "case": "causal", "d": 128, "dv": 128, "seqlen": 4096,
                    "contender": "attn", "rounds": 3, "ok": True, "gpu": "G"}
        self.assertEqual({k: line[k] for k in expected}, expected)
        self.assertAlmostEqual(line["tflops"], attention.tflops(attention.Point("causal", 128, 4096), 2.0), places=1)
        self.assertEqual((line["ms"], line["min_ms"], line["max_ms"]), (2.0, 1.0, 3.0))
        self.assertAlmostEqual(line["ghz"], 1.5)

    def test_a_wrong_contender_has_no_time(self):
        line = self.line(rounds=(), ok=False)
        self.assertEqual((line["tflops"], line["rounds"], line["ok"]), (0.0, 0, False))

    def test_the_ratio_is_to_the_best_peer(self):
        row = attention.format_row([self.line(), self.line("cudnn", (4.0,)), self.line("torch-fa2", (8.0,))])
        self.assertTrue(row.endswith(" 2.000"), row)
        row = attention.format_row([self.line(ok=False), self.line("cudnn", (4.0,))])
        self.assertIn("WRONG", row)
        self.assertTrue(row.endswith("-"), row)

    def test_rule_for_the_output(self):
        self.assertEqual(attention.judge_output((2.0, 1.5), (1.0, 1.0)), "")
        self.assertIn("max error", attention.judge_output((2.1, 1.0), (1.0, 1.0)))
        self.assertIn("mean error", attention.judge_output((1.0, 1.6), (1.0, 1.0)))
        self.assertIn("max error", attention.judge_output((float("nan"), 1.0), (1.0, 1.0)))

    def test_a_bundle_of_another_problem_is_refused(self):
        problem = {"kind": "fwd", "dtype": "bf16", "head_dim": 64, "head_dim_v": 64, "layout": "bshd",
                   "mask": "causal_top_left", "score_region": "none", "mask_region": "none"}
        attention.expect_problem({"problem": problem}, attention.Point("causal", 64, 512))
        with self.assertRaisesRegex(RuntimeError, "head_dim is 128, got 64"):
            attention.expect_problem({"problem": problem}, attention.Point("causal", 128, 512))
        with self.assertRaisesRegex(RuntimeError, "mask is none, got causal_top_left"):
            attention.expect_problem({"problem": problem}, attention.Point("none", 64, 512))


class Bundles(unittest.TestCase):
    def test_the_sources_differ_in_head_dim_and_mask_alone(self):
        causal = make_bundles.source(64, "causal")
        self.assertEqual(causal.count("tensor<?x?x?x64xbf16>"), 9)
        self.assertIn("mask(causal_bottom_right)", causal)
        self.assertEqual(causal.replace("64", "128"), make_bundles.source(128, "causal"))
        self.assertEqual(causal.replace("causal_bottom_right", "none").replace("_causal", "_none"), make_bundles.source(64, "none"))
        self.assertEqual(set(make_bundles.MASKS), set(attention.CASES))


class Options(unittest.TestCase):
    def refused(self, *argv):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as stopped:
            attention.parse_arguments(list(argv))
        self.assertEqual(stopped.exception.code, 2)
        return err.getvalue()

    def test_defaults(self):
        args = attention.parse_arguments(["--bundles", "x"])
        self.assertEqual((args.d, args.cases, args.rounds, args.slice_ms), ([64, 128], ["none", "causal"], 3, 80.0))

    def test_bad_ones_are_refused(self):
        self.assertIn("needs --bundles", self.refused())
        self.assertIn("expected some of none,causal, got 'windowed'", self.refused("--cases", "windowed"))
        self.assertIn("divide 2048, got 96", self.refused("--bundles", "x", "--d", "96"))
        self.assertIn("at least one round", self.refused("--bundles", "x", "--rounds", "0"))


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
