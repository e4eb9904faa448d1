#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the compiler takes for each kernel of the schedule table, from
attn.attention to machine code, and which part of it: medians of several runs of
attn-compile --timing, one at a time."""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import make_bundles

LINE = re.compile(r"^\s+([0-9.]+) \(\s*[0-9.]+%\)  (\S.*)$", re.M)
PARTS = {"LLVM": "EmitPtx", "assembler": "Assemble"}


def seconds(command):
    """{pass: seconds}, of the outermost passes and `Total`."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {name: float(time) for time, name in LINE.findall(done.stderr)}


def measure(args, point, temp):
    source, schedule = os.path.join(temp, "kernel.mlir"), os.path.join(temp, "schedule.mlir")
    with open(source, "w", encoding="utf-8") as file:
        file.write(make_bundles.source(point))
    for entry in make_bundles.entries_of(point):
        with open(schedule, "w", encoding="utf-8") as file:
            file.write(entry.unconditional)
        command = [args.compiler, source, f"--schedule={schedule}", "--emit=cubin", "--timing", "-o", os.path.join(temp, "kernel.cubin")]
        runs = [seconds(command) for _ in range(args.repeat)]
        total = statistics.median(run["Total"] for run in runs)
        parts = {part: statistics.median(run[name] for run in runs) for part, name in PARTS.items()}
        yield entry.symbol, {"passes": total - sum(parts.values()), **parts, "total": total}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    make_bundles.add_problems(parser, "64,128,256,192/128", target=False)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    print("| kernel | passes, s | LLVM, s | assembler, s | total, s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temp:
        for point in make_bundles.problems(args):
            for name, times in measure(args, point, temp):
                print(f"| {name} | " + " | ".join(f"{t:.3f}" for t in times.values()) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
