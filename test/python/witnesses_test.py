# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how test/witnesses/witnesses.py judges a run, and the parameters that it passes to kernels."""

import argparse
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WITNESSES = os.path.join(ROOT, "test", "witnesses")
sys.path.insert(0, WITNESSES)
import fa4_packages
import witnesses


class Judging(unittest.TestCase):
    def judge(self, name, text, status=0):
        """Runs a kernel on a simulator that prints `text`; returns what is wrong."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bin"))
            tool = os.path.join(folder, "bin", "attn-run")
            with open(tool, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
            os.chmod(tool, 0o755)
            options = argparse.Namespace(build=folder, folder=folder, seeds=1, seed=0)
            return witnesses.run(options, name)[1:3]

    def test_a_launch_that_passes_is_right(self):
        self.assertEqual(self.judge("fa4_d64", "launch: passed: 1 schedules"), ([], set()))

    def test_a_listed_rule_is_no_problem(self):
        text = "attn-run: warning: reads early [tmem.missing-fence]\nlaunch: passed: 1 schedules"
        self.assertEqual(self.judge("fa4_d64", text), ([], {"tmem.missing-fence"}))

    def test_another_rule_is(self):
        text = "attn-run: warning: too late [race.shared]\nlaunch: passed: 1 schedules"
        self.assertEqual(self.judge("triton_matmul", text), (["race.shared"], {"race.shared"}))

    def test_so_is_a_launch_that_fails(self):
        self.assertEqual(self.judge("fa4_d64", "", status=1), (["no result"], set()))

    def test_no_rule_is_listed_that_fails_a_launch(self):
        with open(os.path.join(ROOT, "docs", "simulator.md"), encoding="utf-8") as file:
            severities = dict(re.findall(r"^\| `([a-z.-]+)` \| ([^|]+) \|", file.read(), re.M))
        for rule in set().union(*witnesses.STRICT.values()):
            self.assertIn(severities[rule], ("strict", "warning", "error, sm_100: strict"), rule)


class Recipes(unittest.TestCase):
    def test_each_package_has_a_hash(self):
        for family in witnesses.FAMILIES:
            with open(os.path.join(WITNESSES, family + ".txt"), encoding="utf-8") as file:
                text = file.read()
            packages = re.findall(r"^[a-z0-9-]+==", text, re.M)
            self.assertTrue(packages)
            self.assertEqual(len(packages), len(re.findall(r"^    --hash=sha256:[0-9a-f]{64}$", text, re.M)))

    def test_a_divider_divides(self):
        for divisor in (1, 2, 3, 6, 7, 64, 1000):
            fields, whole = fa4_packages.divider(divisor)
            _, factor, first, second = (next(value for key, value in each.items() if key != "at")
                                        for each in fields["struct"])
            self.assertEqual(whole, {"s32": divisor})
            for number in (0, 1, 5, 63, 64, 999, 1000, 123456789):
                high = number * factor >> 32
                self.assertEqual((high + (number - high >> first)) >> second, number // divisor)


if __name__ == "__main__":
    unittest.main()
