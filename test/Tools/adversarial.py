#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels on inputs for which a stale reference of a row gives wrong results, on the
simulator, against float64: kernels with `row_max = first_block`, with `integer` and with
`running`, and with polynomials for exponentials. Then shows that the inputs test what they claim
to. Without the verdict that rejects a work item, a kernel is wrong on inputs that overflow.
Without the limits of sums, it is wrong where the sum is finite but has no normal inverse, or lost
terms. Without an upper bound, polynomials hide overflow. And without the wait for the first run's
results, the simulator finds the race with the second run's."""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "test", "Inputs"), os.path.join(ROOT, "tools", "python")]
import attention_ir
import schedules

# Keys are walked from the last block to the first: with 300 of them 256..299, 128..255, 0..127.
FIRST, MIDDLE, LAST = 280, 200, 50
# The inputs on which a reference from the first block overflows.
OVERFLOWS = [
    f"spike-key:{MIDDLE}",
    f"spike-key:{LAST}",
    "alternating",
    "large-v",
]
# With one query: the sum of its row is finite, but neither its inverse nor the factor to a new
# reference is a normal number. Of many rows some would overflow, for all to be computed again.
# With small V, so that O does not overflow first, which is seen by itself.
LOST = [f"spike-key:{MIDDLE}:127", f"spike-key:{LAST}:127:0.01"]
# With one key: its score is far below the floor of an integer maximum.
BELOW = ["spike-key:0:-10", "spike-key:0:-30", "spike-key:0:-140"]
OTHERS = [
    f"spike-key:{FIRST}",
    f"spike-key:{FIRST}:127",
    # The reference moves, and nothing is computed again.
    f"spike-key:{MIDDLE}:60",
    f"spike-key:{LAST}:30",
    "low",
    f"infinite:{FIRST}",
    f"infinite:{LAST}",
    f"nan:{FIRST}",
    f"nan:{LAST}",
]
# References are scores, in some rows or in all, or come and go.
LARGE = ["large:1e9", "large:-1e38", "large-runs:1e12", "large-runs:-1e30", "large-runs:3e7"]


FIRST_BLOCK, INTEGER, RUNNING = ({"row_max": name} for name in ("first_block", "integer", "running"))
SOFT = {"row_max": "first_block", "exp2_soft": "1/2"}
ALL_SOFT = {"row_max": "first_block", "exp2_soft": "1/1"}
NO_REJECT = (r".*llvm\.atomicrmw _or.*\n", "")
# (name, changes to the schedule, what to replace by what, patterns that it gets wrong).
MUTANTS = [
    ("no_reject", FIRST_BLOCK, NO_REJECT, OVERFLOWS + LOST),
    # The second results may overtake the first.
    ("no_wait", FIRST_BLOCK, (r".*cp\.async\.bulk\.wait_group 0\n", ""), OVERFLOWS[:1]),
    ("no_limit", FIRST_BLOCK, (r"1\.2676506E\+30", "3.4e+38"), LOST),
    ("no_bound", ALL_SOFT, (r"1\.270000e\+02", "0x7F800000"), OVERFLOWS[:1]),
    ("integer_no_reject", INTEGER, NO_REJECT, ["spike-key:0:-140", "low"]),
    ("integer_no_limit", INTEGER, (r"9\.53674316E-7", "0.000000e+00"), ["spike-key:0:-140", "low"]),
]


def call(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def f16_source(args):
    """Attention on f16, whose largest probability is 65504."""
    path = os.path.join(args.out, "full_f16.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(attention_ir.write(attention_ir.parse(["--head-dim=64", "--dtype=f16"])))
    return path


def compiled(args, name, source, emit="bundle", schedule=None):
    """Compiles an example or a file, by the default schedule or another; returns the path."""
    path = os.path.join(ROOT, "examples", source)
    output = os.path.join(args.out, f"{name}.{'attn' if emit == 'bundle' else emit + '.mlir'}")
    extra = [f"--schedule={schedule}"] if schedule else []
    status, text = call(args.compiler, path, f"--emit={emit}", "-o", output, *extra)
    if status != 0:
        sys.exit(f"{name}: {text}")
    return output


def schedule_with(args, changes, stem):
    """The table's last entry with some parameters changed."""
    path = os.path.join(ROOT, "passes", "schedule", "data", "schedules", "sm_90a", stem + ".mlir")
    *_, entry = schedules.of(args.compiler).entries(file=path)
    name = "_".join([stem, *changes.values()]).replace("/", "of")
    path = os.path.join(args.out, f"{name}.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(entry.changed(changes))
    return path


def mutant(args, name, changes, edit):
    """A kernel without a mask, its IR edited before it becomes PTX."""
    path = compiled(args, name, "full_d64.mlir", emit="llvm", schedule=schedule_with(args, changes, "fwd_d64"))
    with open(path, encoding="utf-8") as file:
        text, edits = re.subn(*edit, file.read())
    if edits == 0:
        sys.exit(f"{path}: expected to find '{edit[0]}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def kernels(args):
    """(name, bundle, head dim, options of attn-run)."""
    def full(name, changes, source="full_d64.mlir"):
        return name, compiled(args, name, source, schedule=schedule_with(args, changes, "fwd_d64")), 64, []

    yield "full", compiled(args, "full", "full_d64.mlir"), 64, []
    yield "causal", compiled(args, "causal", "causal.mlir"), 128, []
    yield "f16", compiled(args, "f16", f16_source(args)), 64, []
    yield "documents", compiled(args, "documents", "documents.mlir"), 128, []
    yield full("full_running", RUNNING)
    yield full("full_integer", INTEGER)
    yield "causal_integer", compiled(args, "causal_integer", "causal.mlir", schedule=schedule_with(args, INTEGER, "fwd_d128")), 128, []
    yield full("f16_integer", INTEGER, f16_source(args))
    yield full("full_soft", SOFT)
    yield full("full_all_soft", ALL_SOFT)
    yield full("f16_all_soft", ALL_SOFT, f16_source(args))


def passes(args, kernel, head_dim, pattern, options=()):
    queries = 1 if pattern in LOST else 140
    keys = 1 if pattern in BELOW else 300
    status, text = call(args.runner, kernel, "--device=sim", f"--q=1x{queries}x1x{head_dim}",
                        f"--kv=1x{keys}x1x{head_dim}", "--check", "--guard", f"--inputs={pattern}", *options)
    if "check: " not in text and "launch: FAILED" not in text:
        sys.exit(f"{kernel}, {pattern}: {text}")
    return status == 0, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True, help="folder for bundles and edited files")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    runs = wrong = 0
    for name, bundle, head_dim, options in kernels(args):
        for pattern in OVERFLOWS + LOST + BELOW + OTHERS + LARGE:
            good, text = passes(args, bundle, head_dim, pattern, options)
            runs += 1
            wrong += not good
            if not good:
                print(f"{name}, {pattern}: {text}")
    for name, changes, edit, patterns in MUTANTS:
        kernel = mutant(args, name, changes, edit)
        for pattern in patterns:
            good, _ = passes(args, kernel, 64, pattern)
            runs += 1
            wrong += good
            if good:
                print(f"{name}, {pattern}: expected a wrong result")
    print(f"{runs} runs, {wrong} wrong")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
