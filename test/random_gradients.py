#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backward passes of random attention, compiled and run: right against float64, and nothing is written elsewhere.

    test/random_gradients.py build --kernels 100 --problems 5                 # on the simulator
    test/random_gradients.py build --kernels 100 --problems 5 --device=cuda   # on a GPU
    test/random_gradients.py build --kernels 100 --write DIR                  # only compiles, into DIR
    test/random_gradients.py build --kernels 100 --read DIR                   # only runs what is there

A kernel is drawn by Inputs/gradient_ir.py, its problems by attn-run --random: lengths of 0 to 700, grouped heads, strides, scales,
rates of dropout and bounds of windows."""

import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))
import gradient_ir
from running import output

# Messages of the compiler and of launches that refuse a problem by a rule, not by a fault.
REFUSED = re.compile(r"expected the score and mask regions to weigh at most|no lowering for the gradient")
COUNTS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


def compile_kernel(args, kernel, path):
    """(outcome, message): "compiled", "refused" or "WRONG"."""
    status, text = output([os.path.join(args.build, "bin", "attn-compile"), "-", "--target=sm_90a", "-o", path], input=kernel.ir)
    if not status:
        return "compiled", ""
    return ("refused" if REFUSED.search(text) else "WRONG"), text + kernel.ir


def run_kernel(args, seed, kernel, path):
    """(problems that are right, what is wrong or None)"""
    command = [os.path.join(args.build, "bin", "attn-run"), path, f"--device={args.device}", f"--random={args.problems}",
               f"--first-seed={seed * args.problems}", *kernel.options]
    try:
        status, text = output(command, timeout=args.limit)
    except subprocess.TimeoutExpired:
        return 0, f"{' '.join(command)}\nno end within {args.limit} s"
    found = COUNTS.search(text)
    right = int(found[1]) if found else 0
    return right, None if not status and right == args.problems else f"{' '.join(command)}\n{text}"


def judge(args, seed, folder):
    """(outcome, problems that are right, what is wrong)"""
    kernel, path = gradient_ir.draw(seed), os.path.join(folder, f"{seed}.attn")
    outcome = "was there" if os.path.exists(path) else "missing"
    if not args.read:
        outcome, message = compile_kernel(args, kernel, path)
        if outcome in ("refused", "WRONG"):
            return outcome, 0, f"{kernel}: {message}"
    if args.write or outcome == "missing":
        return outcome, 0, None
    right, fault = run_kernel(args, seed, kernel, path)
    return ("WRONG", right, f"{kernel}\n{fault}") if fault else (outcome, right, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--first", type=int, default=0, help="the first kernel's seed")
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--problems", type=int, default=5, help="of each kernel")
    parser.add_argument("--device", default="sim")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--write", metavar="DIR", help="compile into this folder, and run nothing")
    parser.add_argument("--read", metavar="DIR", help="run the bundles of this folder, and compile nothing")
    parser.add_argument("--limit", type=float, default=600, help="seconds that all problems of a kernel may take, more is a fault")
    parser.add_argument("--print", type=int, metavar="SEED", help="print a kernel's IR, and run nothing")
    args = parser.parse_args()
    if args.print is not None:
        print(gradient_ir.draw(args.print).ir)
        return 0
    tally, problems = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as temp, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = args.read or args.write or temp
        os.makedirs(folder, exist_ok=True)
        seeds = range(args.first, args.first + args.kernels)
        for seed, (outcome, right, message) in zip(seeds, pool.map(lambda seed: judge(args, seed, folder), seeds)):
            tally[outcome] += 1
            problems += right
            if outcome in ("WRONG", "refused"):
                print(f"{outcome}: kernel {seed}: {message}", flush=True)
            elif (seed - args.first) % 10 == 9:
                print(f"{seed - args.first + 1} kernels, {problems} problems right so far", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items())) + f"; {problems} problems right")
    return 1 if tally["WRONG"] or not args.kernels else 0


if __name__ == "__main__":
    sys.exit(main())
