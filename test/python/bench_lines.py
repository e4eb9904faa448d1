# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of bench/ made up for tests."""

import importlib.util
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import results
from racing import points
from racing.session import summarize


needs_matplotlib = unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")


def measured(name, tflops, kind="peer", point=None, note="", ran=True):
    """The line of a contender that ran at about `tflops`."""
    point = point or points.Point("causal", 128, 4096)
    rounds = [point.flops / tflops / 1e9] * 3 if ran and not note else []
    return summarize(point, name, kind, rounds, [1.5], note, {"gpu": "G"}, ran)


def run_of(*lines):
    run = {}
    for line in lines:
        run.setdefault((results.family_of(line), line["seqlen"]), {})[line["contender"]] = line
    return run
