#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how long the compiler takes for each kernel of the schedule table, from attn.attention to machine code,
and how long each part of it takes: medians of several rounds
of attn-compile --timing, one kernel at a time. With --problems it compiles all kernels of a problem at a time, as its
bundle has them, and with --backward those of its gradients, too."""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import make_bundles
from racing import points

LINE = re.compile(r"^\s+([0-9.]+) \(\s*[0-9.]+%\)  (\S.*)$", re.M)
PARTS = {"LLVM": "EmitPtx", "assembler": "Assemble"}


def seconds(command):
    """{part: seconds} of one run; `passes` is the time outside of LLVM and the assembler."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = {name: float(time) for time, name in LINE.findall(done.stderr)}
    parts = {part: found[name] for part, name in PARTS.items()}
    return {"passes": found["Total"] - sum(parts.values()), **parts, "total": found["Total"]}


def commands(args, temp):
    """(name, command) for each kernel, or for each problem."""
    def written(name, text):
        path = os.path.join(temp, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    for point in problems(args):
        source = written(make_bundles.stem(point) + ".mlir", make_bundles.source(point))
        command = [args.compiler, source, *make_bundles.options(point), "--emit=cubin", "--timing", "-o", os.path.join(temp, "kernel.cubin")]
        if point.is_function or point.score or point.is_backward:
            yield make_bundles.stem(point), command
            continue
        entries = make_bundles.entries_of(point, compiler=args.compiler)
        if args.problems:
            yield f"{make_bundles.stem(point)} ({len(entries)})", command
            continue
        for entry in entries:
            yield entry.symbol, command + ["--schedule=" + written(entry.symbol + ".schedule.mlir", entry.changed({}, conditional=False))]


def problems(args):
    """Points; with backward passes each is followed by the point of its backward pass."""
    for point in make_bundles.problems(args):
        yield point
        if args.backward:
            yield points.Point(point.score or point.mask, point.d, point.seqlen, point.dv, point.dtype, op=args.backward)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    make_bundles.add_problems(parser, "64,128,256,192/128", target=False)
    parser.add_argument("--rounds", type=int, default=5, help="times that each kernel is compiled, one round after another")
    parser.add_argument("--problems", action="store_true", help="all kernels of a problem together; their number is in brackets")
    parser.add_argument("--backward", choices=points.OPS[1:], help="with --problems: also the gradients of each, by kernels of this kind")
    args = parser.parse_args()
    if args.backward and not args.problems:
        parser.error("--backward: expected --problems beside it")
    with tempfile.TemporaryDirectory() as temp:
        kernels = list(commands(args, temp))
        rounds = [[seconds(command) for _, command in kernels] for _ in range(args.rounds)]
    print(f"| {'problem' if args.problems else 'kernel'} | passes, s | LLVM, s | assembler, s | total, s | range, s |\n|---|---|---|---|---|---|")
    for number, (name, _) in enumerate(kernels):
        runs = [times[number] for times in rounds]
        print_row(name, runs)
        if args.backward and number % 2:
            print_row("both", [{part: run[part] + times[number - 1][part] for part in run} for run, times in zip(runs, rounds)])
    return 0


def print_row(name, runs):
    times = {part: statistics.median(run[part] for run in runs) for part in runs[0]}
    total = [run["total"] for run in runs]
    print(f"| {name} | " + " | ".join(f"{t:.3f}" for t in times.values()) + f" | {min(total):.3f}-{max(total):.3f} |")


if __name__ == "__main__":
    sys.exit(main())
