# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test/stress/cache_stress.py calls wrong."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "stress"))
import cache_stress


class Events(unittest.TestCase):
    def judge(self, *events, killed=()):
        return cache_stress.judge_events([tuple(e.split()) for e in events], set(killed))

    def test_once_each(self):
        events = ("1 compiling a", "2 compiling b", "1 cached a", "2 found a", "2 cached b")
        self.assertEqual(self.judge(*events), ([], 0))

    def test_twice(self):
        complaints, _ = self.judge("1 compiling a", "2 compiling a", killed="2")
        self.assertEqual(complaints, ["a was compiled by 1, not killed, and again by 2"])

    def test_again_for_a_killed_process(self):
        events = ("1 compiling a", "2 compiling a", "3 compiling a", "3 cached a")
        self.assertEqual(self.judge(*events, killed="12"), ([], 2))

    def test_again_though_cached(self):
        complaints, _ = self.judge("1 compiling a", "1 cached a", "2 compiling a", killed="1")
        self.assertEqual(complaints, ["a was compiled again although it was in the cache"])


class Kernels(unittest.TestCase):
    def test_differ(self):
        self.assertEqual(len(set(cache_stress.kernels(20))), 20)


if __name__ == "__main__":
    unittest.main()
