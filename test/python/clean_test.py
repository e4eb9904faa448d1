# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests which results test/clean.py accepts as clean, and what it runs."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import clean

CLEAN = """\
kernel 'causal': 32280 warp instructions simulated
check: passed: 1024 of 1024 rows compared, 0 empty; O max 0.00516, LSE 7.84e-07
seeds: passed: 64 schedules
guard: passed
"""


class FaultTest(unittest.TestCase):
    def test_clean(self):
        self.assertIsNone(clean.fault(0, CLEAN))

    def test_a_report_is_a_fault_even_if_the_run_passes(self):
        for report in ("attn-run: warning: kernel 'causal', seed 3: PTX line 7: reads [proxy.reuse-without-fence]\n",
                       "kernel 'causal', seed 3: PTX line 7: reads [race.shared]\n"):
            self.assertEqual(clean.fault(0, report + CLEAN), "a report")

    def test_a_failure_is_a_fault(self):
        self.assertEqual(clean.fault(1, CLEAN), "it failed")
        self.assertEqual(clean.fault(0, CLEAN.replace("guard: passed\n", "")), "it failed")
        self.assertEqual(clean.fault(0, CLEAN.replace("check: passed", "check: FAILED")), "it failed")


class CasesTest(unittest.TestCase):
    def setUp(self):
        self.cases = list(clean.all_cases())

    def test_every_entry_runs_with_every_mask_that_it_serves(self):
        wanted = {f"{entry.symbol}:{mask}" for entry in clean.table_entries() for mask in clean.masks_of(entry)}
        self.assertEqual({case.name for case in self.cases if case.group == "table"}, wanted)

    def test_a_kernel_gets_the_query_heads_that_it_takes(self):
        packed = [case for case in self.cases if case.name == "packed_gqa:none"]
        self.assertEqual([(q, kv) for q, kv, _ in clean.problems(packed[0])][0], ("2x9x8", "2x1x2"))
        other = [case for case in self.cases if case.name == "p_in_smem:none"]
        self.assertEqual(tuple(clean.problems(other[0])), clean.PROBLEMS)

    def test_a_row_of_one_key_may_show_the_rounding_of_an_integer_reference(self):
        integer = [case for case in self.cases if case.name == "integer_max:none"]
        problems = list(clean.problems(integer[0]))
        self.assertEqual(problems[0], ("2x9x4", "2x1x2", ["--inputs=spike-key:0:0"]))
        self.assertEqual(tuple(problems[1:]), clean.PROBLEMS[1:])

    def test_every_example_runs(self):
        files = os.listdir(os.path.join(ROOT, "examples"))
        wanted = {name[:-len(".mlir")] for name in files if name.endswith(".mlir")}
        self.assertEqual({case.name for case in self.cases if case.group == "examples"}, wanted)


if __name__ == "__main__":
    unittest.main()
