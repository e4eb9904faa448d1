#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verifies every schedule of the table, its rungs and this folder, and the program emitted for
it, with all lists of work items that the passes can try: --attn-verify-schedule and
--attn-verify-sync with option `exhaustive`. Each with the first mask it serves that lets
sub-tiles skip blocks, and the first that does not; with `skip both` also with windows."""

import argparse
import os
import sys
import tempfile

from schedule_tools import Tools

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import clean


def cases():
    """One case of each schedule with skipped blocks, one with blocks skipped on both sides, and one without."""
    known = set()
    for case in clean.all_cases():
        mask = case.name.split(":")[-1]
        sides = "none" if mask in ("none", "softcap") else "both" if mask == "window" and "skip both" in (case.schedule or "") else "right"
        key = case.schedule, sides
        if case.schedule and key not in known:
            known.add(key)
            yield case


def problem_of(tools, case):
    """The error of either pass; "" if there is none."""
    for stage, option in (("schedule", "--attn-verify-schedule=exhaustive"), ("ws", "--attn-verify-sync=exhaustive")):
        out = tools.path("out." + stage)
        for done in (tools.compile(case.source, case.schedule, f"--emit={stage}", "-o", out),
                     tools.run("attn-opt", out, option, "-o", os.devnull)):
            if done.returncode:
                return f"{option}: {done.stdout or done.returncode}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    judged = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(args.build, folder)
        for case in cases():
            problem = problem_of(tools, case)
            judged, wrong = judged + 1, wrong + bool(problem)
            if problem:
                print(f"WRONG {case.name}: {problem}")
    print(f"{judged} kernels, {wrong} refused")
    return 1 if wrong or not judged else 0


if __name__ == "__main__":
    sys.exit(main())
