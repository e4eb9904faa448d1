#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the bundles that attention.py loads, one a head dim and mask. Those of mask functions and
score functions are compiled from the functions themselves."""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

from paths import ROOT
import schedules
from racing import contenders, masks, points, scores

import attn.ops
from attn._ir import Problem
from attn._trace import regions_of

MASKS = {"none": "none", "causal": "causal_bottom_right"}


def functions(point):
    """(score function, mask function) of a point, on tensors that can be traced; None for a function that it does not
    have."""
    if point.score:
        return scores.function(point, attn.ops, scores.SCORES[point.score].captured(1, 2)), None
    mask = masks.MASKS[point.mask]
    return None, mask.make(**mask.captured(1, 2)) if point.is_function else None


def source(point):
    """The IR of the attention of a point; all lengths and heads are arguments of the launch."""
    trace, score, allow = regions_of(*functions(point))
    problem = Problem(contenders.ELEMENT_TYPES[point.dtype], point.d, point.dv, MASKS.get(point.mask, "none"), (), trace.signature(),
                      score, allow)
    return problem.to_lines(stem(point))


def options(point):
    """Those of attn-compile by which the IR becomes a kernel of the point: of the attention, or of its gradients."""
    if not point.is_backward:
        return []
    differentiated = scores.SCORES[point.score].differentiated if point.score else ()
    return ["--bwd=" + ",".join(("q", "k", "v", *differentiated))] + ["--any-order"] * (point.op == "bwd")


def entries_of(point, target=None, compiler=None):
    """The table's entries that a problem is compiled from."""
    if point.is_function or point.score:
        raise ValueError(f"expected the mask {' or '.join(MASKS)}, got the function {point.case}")
    generator = schedules.of(compiler)
    return generator.entries(machine=target or generator.default_machine, head_dims=[point.d, point.dv], mask=MASKS[point.mask])


def stem(point):
    return contenders.bundle_name(point).removesuffix(".attn")


def add_problems(parser, dims, target=True):
    """Options that say which problems a script compiles, and with what; see problems()."""
    parser.add_argument("--d", default=dims, help="head dims, as 64,128,192/128")
    parser.add_argument("--cases", default="none,causal")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build", "bin", "attn-compile"))
    if target:
        parser.add_argument("--target", default=schedules.of().default_machine)


def problems(args, dtype="bf16"):
    """The points of add_problems()'s options, one a head dim and mask."""
    for d, dv in [points.pair(d) for d in args.d.split(",")]:
        for mask in args.cases.split(","):
            yield points.Point(mask, d, points.TOKENS, dv, dtype, op=getattr(args, "op", "fwd"))


def schedule_named(name, target):
    """The file of a schedule of the compiler's, also of those that the table does not choose."""
    data = os.path.join(ROOT, "passes", "schedule", "data")
    found = glob.glob(os.path.join(data, "*", target, glob.escape(name) + ".mlir"))
    if len(found) != 1:
        raise ValueError(f"--schedule: expected a file '{name}.mlir' of '{target}' in a folder of {data}, got {len(found)}")
    return found[0]


def schedule_of(args, point):
    """The schedule file that a problem is to be compiled with, or None."""
    if args.schedule:
        return schedule_named(args.schedule, args.target)
    path = args.schedules and os.path.join(args.schedules, stem(point) + ".mlir")
    return path if path and os.path.exists(path) else None


def compile_bundle(args, point, temp):
    """Returns whether it compiled."""
    name = stem(point)
    path = os.path.join(temp, name + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source(point))
    command = [args.compiler, path, *options(point), f"--target={args.target}", "--emit=bundle", "-o", os.path.join(args.out, name + ".attn")]
    schedule = schedule_of(args, point)
    if schedule:
        command.append(f"--schedule={schedule}")
    status = subprocess.run(command).returncode
    print(f"{name}: {'failed' if status else 'compiled'}", flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="folder to write the bundles into")
    add_problems(parser, "64,128")
    parser.add_argument("--dtype", default="bf16", help="bf16,fp16")
    parser.add_argument("--op", choices=points.OPS, default="fwd", help="a race of backward passes needs the forward pass, too")
    named = parser.add_mutually_exclusive_group()
    named.add_argument("--schedules", help="folder of schedule files, fwd_d64_none.mlir and so on, to use where there is one")
    named.add_argument("--schedule", metavar="NAME", help="one of the compiler's schedules, also of those that the table does not choose")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    wanted = [point for dtype in args.dtype.split(",") for point in problems(args, dtype)]
    with tempfile.TemporaryDirectory() as temp:
        compiled = [compile_bundle(args, point, temp) for point in wanted]
    return 0 if all(compiled) else 1


if __name__ == "__main__":
    sys.exit(main())
