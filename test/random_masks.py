#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random mask functions, compiled and run: right against float64, pair by pair as the function was
written, and nothing is written elsewhere.

    test/random_masks.py build --seeds 300                       # on the simulator
    test/random_masks.py build --seeds 300 --device=cuda         # on a GPU
    test/random_masks.py build --seeds 300 --write DIR           # only compiles, into DIR
    test/random_masks.py build --seeds 300 --read DIR            # only runs what is there

With --bwd their gradients are, in one order or in any. Each function runs with three random problems of at
most 200 positions and random captures."""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import sys
import tempfile

from running import output

FOUND = re.compile(r"remark: \[(\w+)\] infer-mask.*")
# Functions that the compiler refuses by a rule, not by a fault.
REFUSED = re.compile(r"expected the score and mask regions to weigh at most")


def compile_mask(args, seed, path):
    """(outcome, message): the compiler's, or "refused" or "WRONG"."""
    ir = output([os.path.join(args.build, "bin", "print-random-mask"), str(seed)])[1]
    command = [os.path.join(args.build, "bin", "attn-compile"), "-", "--target=sm_90a", "--explain", "-o", path]
    if args.bwd:
        command.append("--bwd")
    if args.bwd and seed % 2:
        ir = ir.replace(") {\n  %o, %lse =", ") attributes {attn.any_order} {\n  %o, %lse =")
    status, text = output(command, input=ir)
    if status:
        return ("refused" if REFUSED.search(text) else "WRONG"), text + ir
    found = FOUND.search(text)
    return ("inferred" if found and found[1] == "Passed" else "stays"), ""


def problems(seed):
    """Options of attn-run for three problems."""
    rng = random.Random(seed)
    for _ in range(3):
        batches, queries, keys, heads = rng.choice((1, 2)), rng.randint(1, 200), rng.randint(1, 200), rng.choice((1, 2))
        small = [rng.choice((rng.randint(-9, 40), rng.randint(0, 200))) for _ in range(2)]
        yield [f"--q={batches}x{queries}x2x64", f"--kv={batches}x{keys}x{heads}x64", f"--scalar=c0={small[0]}",
               f"--scalar=c1={small[1]}", f"--tensor=c2=integers:-9:{rng.choice((40, 200))}",
               f"--tensor=c3=integers:-9:{rng.choice((40, 200))}", f"--seed={rng.randint(1, 1 << 20)}"]


def run_mask(args, seed, path):
    """What is wrong, or None."""
    for options in problems(seed):
        command = [os.path.join(args.build, "bin", "attn-run"), path, f"--device={args.device}", "--check", "--guard", *options]
        status, text = output(command)
        if status or "check: passed" not in text or "guard: passed" not in text:
            return f"{' '.join(command)}\n{text}"
    return None


def judge(args, seed, folder):
    """(outcome, what is wrong)"""
    path = os.path.join(folder, f"{seed}.attn")
    outcome = "was there" if os.path.exists(path) else "missing"
    if not args.read:
        outcome, message = compile_mask(args, seed, path)
        if outcome in ("refused", "WRONG"):
            return outcome, message
    if args.write or outcome == "missing":
        return outcome, None
    fault = run_mask(args, seed, path)
    return ("WRONG", fault) if fault else (outcome, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--bwd", action="store_true", help="the gradients of Q, K and V")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--write", metavar="DIR", help="compile into this folder, and run nothing")
    parser.add_argument("--read", metavar="DIR", help="run the bundles of this folder, and compile nothing")
    args = parser.parse_args()
    tally = collections.Counter()
    with tempfile.TemporaryDirectory() as temp, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = args.read or args.write or temp
        os.makedirs(folder, exist_ok=True)
        seeds = range(args.first, args.first + args.seeds)
        for seed, (outcome, message) in zip(seeds, pool.map(lambda seed: judge(args, seed, folder), seeds)):
            tally[outcome] += 1
            if outcome == "WRONG":
                print(f"seed {seed}: {message}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items())))
    return 1 if tally["WRONG"] or not args.seeds else 0


if __name__ == "__main__":
    sys.exit(main())
