#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds what the judge of schedules takes a kernel for against the programs that are emitted: the same waits,
arrivals and awaits in the same order, of copies, products, puts and stores that read and write the same tiles.
All entries of the schedule table, of the rungs and of the tests, for each mask that they serve; --every takes
one in so many.

    test/readings/readings.py --build build --temp /tmp/readings"""

import argparse
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Schedules"))
from schedule_tools import Tools, entries

FOLDERS = ["passes/schedule/data/schedules/*", "passes/schedule/data/rungs/*", "test/Schedules"]


def cases():
    """(name, entry, mask) of every schedule, for every built-in mask."""
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.mlir"))):
            for name, entry in entries(path).items():
                for mask in re.findall(r'"(\w+)"', re.search(r"masks \[(.*?)\]", entry, re.S)[1]):
                    if mask != "gathers":
                        yield f"{os.path.basename(path)} {name} {mask}", entry, mask


def compare(tools, entry, mask):
    """The output of compare-readings, and whether there is no difference."""
    head_dim, head_dim_v = re.search(r"head_dim (\d+), (\d+)", entry).groups()
    problem = [f"--head-dim={head_dim}", f"--head-dim-v={head_dim_v}",
               "--mask=" + ("window_bottom_right" if mask == "window" else mask)]
    problem += ["--bound=window_left"] * (mask == "window")
    files = []
    for name, stage in (("judged", "schedule"), ("emitted", "ws")):
        files.append(tools.path(name + ".mlir"))
        run = tools.compile(problem, entry, "--emit=" + stage, "-o", files[-1])
        if run.returncode:
            return run.stdout, False
    run = tools.compare_readings(*files)
    return run.stdout, run.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--temp", required=True)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    tools = Tools(args.build, args.temp)
    kernels = lists = differ = 0
    for name, entry, mask in list(cases())[::args.every]:
        text, same = compare(tools, entry, mask)
        kernels += 1
        if same:
            lists += int(re.search(r"(\d+) lists", text)[1])
        else:
            differ += 1
            print(f"{name}:\n{text}")
    print(f"{kernels} kernels, {lists} lists of items, {differ} read differently")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
