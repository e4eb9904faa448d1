#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the cost of score and mask functions: their kernels, beside the plain kernel of their head dim and mask.

    bench/functions.py --compile DIR                                      # no GPU
    bench/functions.py --measure DIR --lib build/lib/libattn_runtime.so   # no compiler

Both need PyTorch. Every kernel is first checked against float64, then all of a head dim and
mask run in rounds, as in attention.py: 16384 tokens, hidden size 2048. The table has, for each, the rung of the schedule that it got, the bytes
that it spills, its time, and its speed relative to the plain kernel's."""

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

from paths import ROOT
from racing import check, contenders, libattn, points, race

import attn

DIMS = (64, 128, 144, 256)
PLAIN = "plain"
# The captures of a function, {name: function that makes the tensor from a generator, the heads and the length}; and
# the functions that make the score function and the mask function from a module and the captured tensors.
FUNCTIONS = {
    PLAIN: ({}, None, None),
    "alibi": ({"slopes": lambda n, h, s: n.normal(h) / 64}, lambda m, slopes: lambda x, b, h, i, j: x + slopes[h] * (j - i), None),
    "relative": ({"rel": lambda n, h, s: n.normal(h, 2 * s), "middle": lambda n, h, s: n.constant(s)},
                 lambda m, rel, middle: lambda x, b, h, i, j: x + rel[h, i - j + middle[0]], None),
    "softcap": ({}, lambda m: lambda x, b, h, i, j: 30.0 * m.tanh(x / 30.0), None),
    "alibi, softcap": ({"slopes": lambda n, h, s: n.normal(h) / 64},
                       lambda m, slopes: lambda x, b, h, i, j: 20.0 * m.tanh((x + slopes[h] * (j - i)) / 20.0), None),
    "key bias": ({"bias": lambda n, h, s: n.normal(s)}, lambda m, bias: lambda x, b, h, i, j: x + bias[j], None),
    "three by key": ({name: lambda n, h, s: n.normal(s) for name in ("one", "two", "three")},
                     lambda m, one, two, three: lambda x, b, h, i, j: (x + one[j]) * two[j] + three[j], None),
    "dense bias": ({"bias": lambda n, h, s: n.normal(s, s)}, lambda m, bias: lambda x, b, h, i, j: x + bias[i, j], None),
    "dense mask": ({"mask": lambda n, h, s: n.normal(s, s) > -1}, None, lambda m, mask: lambda b, h, i, j: mask[i, j]),
    "documents": ({"ids": lambda n, h, s: n.blocks(s, 8)}, None, lambda m, ids: lambda b, h, i, j: ids[i] == ids[j]),
    "window": ({}, None, lambda m: lambda b, h, i, j: (i - j < 1024) & (j - i < 1024)),
}


class Numbers:
    """Makes tensors on a device."""

    def __init__(self, torch, device):
        self.torch, self.device = torch, device

    def normal(self, *shape):
        return self.torch.randn(*shape, device=self.device)

    def constant(self, value):
        return self.torch.tensor([value], device=self.device, dtype=self.torch.int32)

    def blocks(self, length, count):
        return (self.torch.arange(length, device=self.device) * count // length).to(self.torch.int32)


def capture(name, numbers, heads, length):
    """The tensors that a function reads."""
    return {key: make(numbers, heads, length) for key, make in FUNCTIONS[name][0].items()}


def functions(name, module, captured):
    """(score_mod, mask_mod) of a name."""
    return [make and make(module, **captured) for make in FUNCTIONS[name][1:]]


def path_of(folder, name, point):
    return os.path.join(folder, f"{name.replace(', ', '_').replace(' ', '_')}_{point.mask}_d{point.d}.attn")


def grid(args):
    return [points.Point(mask, d, args.seqlen) for mask in points.MASKS for d in DIMS]


def compile_all(args, torch):
    """Returns how many did not compile."""
    failed, numbers = 0, Numbers(torch, "cpu")
    os.makedirs(args.compile, exist_ok=True)
    for point in grid(args):
        for name in FUNCTIONS:
            score, allow = functions(name, attn.ops, capture(name, numbers, 1, 2))
            mask = contenders.PLAN_MASKS[point.mask][0]
            kernel = attn.compile(head_dim=point.d, mask=mask, score_mod=score, mask_mod=allow)
            with tempfile.TemporaryDirectory() as temp:
                source = os.path.join(temp, "source.mlir")
                with open(source, "w", encoding="utf-8") as file:
                    file.write(kernel.ir)
                path = path_of(args.compile, name, point)
                status = subprocess.run([args.compiler, source, "--emit=bundle", "-o", path]).returncode
            failed += status != 0
            print(f"{path}: {'failed' if status else 'compiled'}", flush=True)
    return failed


def expected(torch, point, inputs, name, captured, rows, b, h):
    """(O, LSE, error of O that comes from rounding S, P and O) of some rows of a head."""
    q, k, v = (x[b, :, h].double() for x in inputs)
    score, allow = functions(name, torch, captured)
    i, j = rows[:, None], torch.arange(point.seqlen, device=rows.device)[None, :]
    dtype = inputs[0].dtype

    def attend(through):
        scores = through(q[rows] @ k.T) * point.scale
        scores = score(scores, b, h, i, j).double() if score else scores
        seen = (j <= i) if point.causal else torch.ones_like(scores, dtype=torch.bool)
        seen = seen & allow(b, h, i, j) if allow else seen
        scores = scores.masked_fill(~seen, -math.inf)
        return through(through(torch.softmax(scores, -1).nan_to_num()) @ v), torch.logsumexp(scores, -1)

    exact, lse = attend(lambda x: x)
    rounded, _ = attend(lambda x: x.to(dtype).double())
    return exact, lse, (rounded - exact).abs()


def judge(torch, point, inputs, name, captured, contender):
    """Returns "" or what is wrong."""
    contender.poison()
    out, lse = contender.results(contender.call())
    torch.cuda.synchronize()
    generator, errors, rounded = random.Random(0), [], []
    for b, h in {(0, 0), (point.batch - 1, point.heads - 1)}:
        rows = torch.tensor(check.sample_rows(point.seqlen, generator), device=out.device)
        exact, sums, error = expected(torch, point, inputs, name, captured, rows, b, h)
        got = lse[b, h, rows].double()
        if not bool(((got == sums) | ((got - sums).abs() <= 1e-3 * sums.abs().clamp(min=1))).all()):
            return f"LSE: error {(got - sums).abs().max().item():.2e}"
        errors.append((out[b, rows, h].double() - exact).abs())
        rounded.append(error)
    return check.judge_output(*((e.max().item(), e.mean().item()) for e in (torch.cat(errors), torch.cat(rounded))))


def measure(args, torch):
    """Prints a table for each point; returns how many kernels were wrong."""
    device = torch.device("cuda", torch.cuda.current_device())
    library, clock, wrong = libattn.Library(args.lib), race.Clock(torch, device.index), 0
    print(f"{torch.cuda.get_device_name()}, {args.rounds} rounds of slices of {args.slice_ms} ms, seqlen {args.seqlen}")
    for point in grid(args):
        torch.manual_seed(0)
        inputs = [torch.randn(shape, device=device, dtype=torch.bfloat16) for shape in point.shapes]
        kernels, bundles = {}, {}
        for name in FUNCTIONS:
            captured = capture(name, Numbers(torch, device), point.heads, point.seqlen)
            bundle = library.load(path_of(args.measure, name, point))
            kernel = contenders.AttnContender(torch, point, inputs, bundle, captured)
            fault = judge(torch, point, inputs, name, captured, kernel)
            if fault:
                wrong += 1
                print(f"WRONG: {name} at {point}: {fault}", flush=True)
            else:
                kernels[name], bundles[name] = kernel, bundle
        report(point, kernels, bundles, race.race(torch, kernels, args.rounds, args.slice_ms, args.seed, clock))
    return wrong


def report(point, kernels, bundles, results):
    times = {name: statistics.median(results[name][0]) for name in kernels}
    print(f"\n{point}\n\n| function | rung | spilled bytes | ms | range of the rounds, ms | speed of plain |\n|---|---|---|---|---|---|")
    for name, ms in times.items():
        reports = [variant["report"] for variant in bundles[name].plan["variants"]]
        spilled = sum(r["assembler"][f"spill_{way}s"] for r in reports for way in ("store", "load"))
        relative = f"{times[PLAIN] / ms:.3f}" if PLAIN in times else ""
        rounds = results[name][0]
        print(f"| {name} | {reports[0]['rung']} | {spilled} | {ms:.3f} | {min(rounds):.3f}-{max(rounds):.3f} | {relative} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--compile", metavar="DIR", help="folder to write the bundles into")
    what.add_argument("--measure", metavar="DIR", help="folder that has them")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build", "bin", "attn-compile"))
    parser.add_argument("--lib", default=os.path.join(ROOT, "build", "lib", "libattn_runtime.so"))
    parser.add_argument("--seqlen", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slice-ms", type=float, default=80)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    import torch
    return 1 if (compile_all if args.compile else measure)(args, torch) else 0


if __name__ == "__main__":
    sys.exit(main())
