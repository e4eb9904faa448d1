#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles to PTX each entry of passes/schedule/data/rungs, for each mask that it serves. The
ladders have no missing rung, and the last rung of each serves everything. Head dims without a
ladder have that of the next wider ones, as the compiler looks them up."""

import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "test"), os.path.join(ROOT, "test", "Inputs"), os.path.join(ROOT, "tools", "python")]
import attention_ir
import clean
import schedules


def compile_kernel(compiler, out, each, mask):
    """Why the compiler does not take the entry for a mask, or ""."""
    d, dv = each.head_dims
    source = os.path.join(out, f"{each.symbol}_{mask}.mlir")
    options = [f"--head-dim={d}", f"--head-dim-v={dv}", *clean.MASKS[mask].split()]
    with open(source, "w", encoding="utf-8") as file:
        file.write(attention_ir.write(attention_ir.parse(options)))
    command = [compiler, source, f"--rung={each.rung}", "--emit=ptx", "--explain", "-o", source + ".ptx"]
    done = subprocess.run(command, capture_output=True, text=True)
    wanted = f"'{each.symbol}' for 'sm_90a' from entry '@{each.symbol}'"
    return "" if done.returncode == 0 and wanted in done.stderr else done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    generator = schedules.of(args.compiler)
    entries = generator.entries()
    rungs = [each for each in entries if each.rung]
    failures, ladders = [], {}
    for each in rungs:
        ladders.setdefault(each.head_dims, {})[each.rung] = each.masks
        for mask in each.masks:
            error = compile_kernel(args.compiler, args.out, each, mask)
            failures += [f"{each.symbol}, {mask}: {error}"] if error else []
    for dims in {each.head_dims for each in entries if not each.rung}:
        wider = [other for other in ladders if other[0] >= dims[0] and other[1] >= dims[1]]
        steps = ladders[min(wider, key=sum)] if wider else {}
        if sorted(steps) != list(range(1, len(steps) + 1)) or set(steps.get(len(steps), ())) != set(generator.vocabulary["masks"]):
            failures.append(f"head dims {dims}: rungs {steps}")
    print(*failures, sep="\n")
    print(f"{sum(len(each.masks) for each in rungs)} kernels, {len(failures)} failures")
    return 1 if failures or not rungs else 0


if __name__ == "__main__":
    sys.exit(main())
