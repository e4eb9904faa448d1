# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the counts of a kernel's instructions, and the shares of the GPU's units that follow from them."""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import compile_time
import count_instructions
import limits
import report
import results
from bench_lines import measured, run_of
from racing import points
import schedules

KERNEL = {"keys_at_most": 0, "tile_m": 128, "tile_n": 128, "cluster": 1, "skips": True, "instructions": 512,
          "exponentials": 64}
LISTING = """\
//--------------------- .text.short   --------------------------
        /*0000*/                   EXIT ;
//--------------------- .text.long  --------------------------
.L_x_1:
        /*0010*/                   HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], RZ, !UPT, gsb0 ;
        /*0020*/              @!P1 BRA `(.L_x_3) ;
.L_x_2:
        /*0030*/                   HGMMA.64x128x16.F32.BF16 R24, R88, gdesc[UR8].tnspB, R24 ;
        /*0040*/                   HGMMA.64x128x16.F32.BF16 R24, R92, gdesc[UR8].tnspB, R24, gsb0 ;
        /*0050*/               @P0 BRA `(.L_x_4) ;
        /*0060*/                   MUFU.LG2 R1, R2 ;
.L_x_4:
        /*0070*/                   MUFU.EX2 R1, R2 ;
        /*0080*/               @P2 BRA `(.L_x_1) ;
        /*0090*/                   EXIT ;
.L_x_3:
        /*00a0*/              @!P1 BRA `(.L_x_3) ;
        /*00b0*/                   BRA `(.L_x_2) ;
"""


class Counting(unittest.TestCase):
    def test_the_steady_loop_without_what_it_leaves_out(self):
        found = count_instructions.functions(LISTING)
        self.assertEqual(sorted(found), ["long", "short"])
        self.assertEqual(count_instructions.count(found["long"]), {"instructions": 7, "exponentials": 1})
        with self.assertRaisesRegex(ValueError, "two products"):
            count_instructions.count(found["short"])

    def test_an_entry_of_the_table(self):
        short, *_ = schedules.of().entries(machine="sm_90a", head_dims=[192, 128], mask="causal_bottom_right")
        self.assertEqual(count_instructions.describe_entry(short),
                         {"keys_at_most": 1024, "tile_m": 128, "tile_n": 128, "cluster": 1, "skips": True})
        *_, long = schedules.of().entries(machine="sm_90a", head_dims=[192, 128], mask="none")
        self.assertEqual(count_instructions.describe_entry(long),
                         {"keys_at_most": 0, "tile_m": 128, "tile_n": 128, "cluster": 2, "skips": False})


class Shares(unittest.TestCase):
    def test_the_variant_for_a_length(self):
        kernels = [{**KERNEL, "keys_at_most": 512}, {**KERNEL, "keys_at_most": 1024}, KERNEL]
        self.assertEqual([limits.kernel_for(kernels, s)["keys_at_most"] for s in (512, 513, 1025)], [512, 1024, 0])

    def test_tiles_above_the_diagonal_are_left_out_by_rows_owned(self):
        point = points.Point("causal", 128, 512, heads=(1, 1), batch=1)
        self.assertEqual(limits.tiles(point, KERNEL), 2 * (1 + 2 + 3 + 4))
        self.assertEqual(limits.tiles(point, {**KERNEL, "tile_n": 64}), sum(range(1, 9)))
        self.assertEqual(limits.tiles(point, {**KERNEL, "tile_n": 64, "skips": False}), 2 * (2 + 4 + 6 + 8))
        self.assertEqual(limits.tiles(points.Point("none", 128, 512, heads=(1, 1), batch=1), KERNEL), 4 * 8)

    def test_ctas_of_a_cluster_compute_the_blocks_of_all_their_rows(self):
        point, cluster = points.Point("causal", 128, 512, heads=(1, 1), batch=1), {**KERNEL, "cluster": 2, "skips": False}
        self.assertEqual(limits.tiles(point, cluster), 4 * (2 + 4))
        odd = points.Point("none", 128, 384, heads=(1, 1), batch=1)
        self.assertEqual(limits.tiles(odd, cluster), 8 * 3)

    def test_exponentials_on_other_units_do_not_count(self):
        point = points.Point("none", 128, 4096)
        whole, half = (limits.shares(point, [{**KERNEL, "exponentials": n}], "NVIDIA H200", 600, 1.5)["exp"] for n in (64, 32))
        self.assertAlmostEqual(half, whole / 2)

    def test_gpus_without_rates_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected results of one of NVIDIA H200 .*, got NVIDIA A100"):
            limits.shares(points.Point("none", 128, 4096), [KERNEL], "NVIDIA A100", 300, 1.4)

    def test_the_peak_of_the_tensor_cores_is_a_share_of_one(self):
        point, peak = points.Point("none", 128, 4096), 132 * 4096 * 1.5e-3
        busy = limits.shares(point, [KERNEL], "NVIDIA H200", peak, 1.5)
        self.assertAlmostEqual(busy["tensor"], 1.0)
        self.assertAlmostEqual(busy["exp"], 0.5)
        self.assertAlmostEqual(busy["issue"], 0.5)
        self.assertAlmostEqual(busy["clock"], 1.5 / 1.98)
        self.assertEqual(limits.binding(busy), "tensor")
        self.assertIsNone(limits.binding({**busy, "tensor": 0.6}))

    def test_the_page_has_them_for_what_was_counted(self):
        lines = [{**measured("attn", 600, "attn", points.Point(mask, 128, 4096)), "gpu": "NVIDIA H200"} for mask in ("none", "causal")]
        families = report.by_family(results.merge([run_of(*lines)]))
        text = report.limits_section(families, {"fwd bf16 none d128": [KERNEL]}, "NVIDIA H200")
        self.assertIn("### fwd bf16 none d128\n\n| seqlen | tensor | exp | issue | HBM | clock | binds |\n|---|---|---|---|---|---|---|\n| 4096 | 0.74 | 0.37 | 0.37 |", text)
        self.assertNotIn("causal", text)
        unmeasured = report.by_family(results.merge([run_of({**lines[0], "ghz": 0.0})]))
        self.assertNotIn("###", report.limits_section(unmeasured, {"fwd bf16 none d128": [KERNEL]}, "NVIDIA H200"))


class CompileTime(unittest.TestCase):
    def test_the_report_of_passes_is_read(self):
        report_of_passes = "  Total Execution Time: 0.3 seconds\n\n    0.0132 (  3.6%)  VerifySync\n    0.0600 ( 16.3%)  EmitPtx\n    0.2574 ( 69.8%)  Assemble\n    0.3688 (100.0%)  Total\n"
        command = [sys.executable, "-c", f"import sys; sys.stderr.write({report_of_passes!r})"]
        times = compile_time.seconds(command)
        self.assertAlmostEqual(times.pop("passes"), 0.0514)
        self.assertEqual(times, {"LLVM": 0.06, "assembler": 0.2574, "total": 0.3688})
        with self.assertRaises(subprocess.CalledProcessError):
            compile_time.seconds([sys.executable, "-c", "raise SystemExit(1)"])

    def test_kernels_are_compiled_alone_or_by_problem(self):
        def commands(problems):
            args = argparse.Namespace(d="128", cases="none", compiler=schedules.of().compiler, problems=problems, backward=None)
            with tempfile.TemporaryDirectory() as temp:
                return {name: any("--schedule=" in word for word in command) for name, command in compile_time.commands(args, temp)}

        self.assertEqual(commands(problems=False), {f"fwd_d128_none_{name}": True for name in ("cut", "short", "many", "rest")})
        self.assertEqual(commands(problems=True), {"fwd_d128_none (4)": False})


if __name__ == "__main__":
    unittest.main()
