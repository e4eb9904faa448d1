#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Score functions, masks and head dims as users of FlexAttention combine them: all
compile, each within a time, and are right on the simulator.

    test/combinations.py                     # every combination: 20 minutes on 2 cores
    test/combinations.py --every 25          # each 25th
    test/combinations.py --group dense --no-run --most-seconds 10

It prints, for each, the rung of the schedule table's ladder that it got, the bytes that
its kernels spill, and the seconds of processor time that it took to compile, its own and
the assembler's: the tables of docs/ladder.md.
ATTN_BUILD is the build folder, build/ unless it is set."""

import argparse
import functools
import json
import math
import os
import random
import resource
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "python"))
from package_support import HostTensor

import attn
from attn._executable import Executable

HEADS, QUERIES, KEYS = 2, 70, 150
# The rows that are compared: of several warps, and the last.
ROWS = (0, 1, 20, 33, 64, 69)
EPSILON = {"f16": 2.0**-11, "bf16": 2.0**-8}


class Numbers:
    """What the functions call, on numbers of Python."""

    exp, log, tanh, maximum, minimum = math.exp, math.log, math.tanh, max, min

    @staticmethod
    def sigmoid(x):
        return 1 / (1 + math.exp(-x))


class Reader:
    """A tensor that is read at one index or several."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __getitem__(self, index):
        return self.tensor[index if isinstance(index, tuple) else (index,)]


def softcap(m, cap, s):
    return cap * m.tanh(s / cap)


def deep(m, s):
    for _ in range(60):
        s = m.tanh(s) + m.exp(s * 0.125 - 2.0)
    return s


# Captured tensors, {name: (shape, element type)}, and what makes the function of them and of
# the module `m` whose functions it calls.
SCORES = {
    "alibi": ({"slopes": ((HEADS,), "f32")}, lambda m, slopes: lambda s, b, h, i, j: s + slopes[h] * (j - i)),
    "relative": ({"rel": ((HEADS, 224), "f32")}, lambda m, rel: lambda s, b, h, i, j: s + rel[h, i - j + 150]),
    "relative, clamped": ({"rel": ((HEADS, 33), "f32")},
                          lambda m, rel: lambda s, b, h, i, j: s + rel[h, m.maximum(m.minimum(i - j, 16), -16) + 16]),
    "bias of heads": ({"bias": ((HEADS,), "f32")}, lambda m, bias: lambda s, b, h, i, j: s + bias[h]),
    "softcap": ({}, lambda m: lambda s, b, h, i, j: softcap(m, 30.0, s)),
    "alibi, softcap": ({"slopes": ((HEADS,), "f32")}, lambda m, slopes: lambda s, b, h, i, j: softcap(m, 20.0, s + slopes[h] * (j - i))),
    "bias of keys": ({"bias": ((1, KEYS), "f32")}, lambda m, bias: lambda s, b, h, i, j: s + bias[b, j]),
    "scale of rows, bias of keys": ({"scales": ((1, QUERIES), "f32"), "bias": ((1, KEYS), "f32")},
                                    lambda m, scales, bias: lambda s, b, h, i, j: s * scales[b, i] + bias[b, j]),
    "three by key": (dict.fromkeys(("first", "second", "third"), ((KEYS,), "f32")),
                     lambda m, first, second, third: lambda s, b, h, i, j: (s + first[j]) * second[j] + third[j]),
    "dense bias": ({"bias": ((1, HEADS, QUERIES, KEYS), "f32")}, lambda m, bias: lambda s, b, h, i, j: s + bias[b, h, i, j]),
    "logarithmic": ({"slopes": ((HEADS,), "f32")},
                    lambda m, slopes: lambda s, b, h, i, j: s - slopes[h] * m.log(1.0 + m.maximum(i - j, j - i))),
    "gated by key": ({"gates": ((HEADS, KEYS), "f32")}, lambda m, gates: lambda s, b, h, i, j: s * m.sigmoid(gates[h, j])),
    "penalty of segments": ({"kinds": ((KEYS,), "i32"), "penalty": ((2, 2), "f32")},
                            lambda m, kinds, penalty: lambda s, b, h, i, j: s - penalty[kinds[i], kinds[j]]),
    "60 x (tanh + exp)": ({}, lambda m: lambda s, b, h, i, j: deep(m, s)),
}
# The compiler's own kind of mask, captured tensors, and what makes the function.
MASKS = {
    "none": ("none", {}, None),
    "causal": ("causal_top_left", {}, None),
    "documents": ("none", {"ids": ((1, KEYS), "i32")}, lambda m, ids: lambda b, h, i, j: ids[b, i] == ids[b, j]),
}
# The masks that are tried only without a score function.
MORE_MASKS = {
    "causal function": ("none", {}, lambda m: lambda b, h, i, j: i >= j),
    "window function": ("none", {}, lambda m: lambda b, h, i, j: (i >= j) & (i - j < 50)),
    "prefix": ("none", {"prefixes": ((1,), "i32")}, lambda m, prefixes: lambda b, h, i, j: (j < prefixes[b]) | (i >= j)),
    "padding": ("none", {"lengths": ((1,), "i32")}, lambda m, lengths: lambda b, h, i, j: j < lengths[b]),
    "neighbourhood": ("none", {}, lambda m: lambda b, h, i, j: (abs(i // 9 - j // 9) <= 3) & (abs(i % 9 - j % 9) <= 3)),
    "causal documents": ("causal_top_left", *MASKS["documents"][1:]),
    "chunks": ("none", {}, lambda m: lambda b, h, i, j: i // 32 == j // 32),
    "dilated": ("none", {}, lambda m: lambda b, h, i, j: (i - j) % 4 == 0),
}
ALL_MASKS = {**MASKS, **MORE_MASKS, "dense mask": ("none", {"mask": ((1, HEADS, QUERIES, KEYS), "bool")},
                                                   lambda m, mask: lambda b, h, i, j: mask[b, h, i, j])}
DRAW = {"f32": lambda rng: rng.gauss(0, 0.3), "i32": lambda rng: rng.randint(0, 1), "bool": lambda rng: rng.random() < 0.7,
        "bf16": lambda rng: rng.gauss(0, 1), "f16": lambda rng: rng.gauss(0, 1)}


@functools.lru_cache(maxsize=64)
def drawn(name, dtype, shape):
    """A tensor of numbers that follow from its name."""
    rng = random.Random(name)
    return HostTensor(dtype, shape, [DRAW[dtype](rng) for _ in range(math.prod(shape))])


@functools.lru_cache(maxsize=8)
def inputs(dtype, head_dim):
    """(tensor, its rows as lists by (position, head)) of q, k and v."""
    tensors = [drawn(name, dtype, (1, length, HEADS, head_dim)) for name, length in (("q", QUERIES), ("k", KEYS), ("v", KEYS))]
    return [(x, {(i, h): [x[0, i, h, c] for c in range(head_dim)] for i in range(x.shape[1]) for h in range(HEADS)})
            for x in tensors]


class Combination:
    """A score function or None, a mask, a head dim and an element type."""

    def __init__(self, score, mask, head_dim, dtype):
        self.score, self.mask, self.head_dim, self.dtype = score, mask, head_dim, dtype

    def __str__(self):
        return f"{self.score or 'no score'}, mask {self.mask}, head dim {self.head_dim}, {self.dtype}"

    def functions(self, module, wrap=lambda tensor: tensor):
        """(score_mod, mask_mod), whose captured tensors are wrapped."""
        specs = (SCORES[self.score] if self.score else ({}, None), ALL_MASKS[self.mask][1:])
        return [make and make(module, **{name: wrap(drawn(name, dtype, shape)) for name, (shape, dtype) in captured.items()})
                for captured, make in specs]

    def compile(self):
        score, allow = self.functions(attn.ops)
        return attn.compile(head_dim=self.head_dim, dtype=self.dtype, mask=ALL_MASKS[self.mask][0], score_mod=score, mask_mod=allow)

    def expected(self, head, i):
        """Row i of the output and its log-sum-exp, in floats."""
        score, allow = self.functions(Numbers, Reader)
        (_, q), (_, k), (_, v) = inputs(self.dtype, self.head_dim)
        causal = ALL_MASKS[self.mask][0] == "causal_top_left"
        keys = [j for j in range(KEYS) if (not causal or j <= i) and (not allow or allow(0, head, i, j))]
        scores = [sum(map(float.__mul__, q[i, head], k[j, head])) / math.sqrt(self.head_dim) for j in keys]
        if score:
            scores = [score(s, 0, head, i, j) for s, j in zip(scores, keys)]
        if not keys:
            return [0.0] * self.head_dim, -math.inf
        most = max(scores)
        weights = [math.exp(s - most) for s in scores]
        total = sum(weights)
        row = [sum(w * v[j, head][c] for w, j in zip(weights, keys)) / total for c in range(self.head_dim)]
        return row, most + math.log(total)

    def wrong_rows(self, kernel):
        """The (head, row) at which the kernel is wrong on the simulator."""
        (q, _), (k, _), (v, _) = inputs(self.dtype, self.head_dim)
        out, lse = HostTensor(self.dtype, q.shape), HostTensor("f32", (1, HEADS, QUERIES))
        kernel(q, k, v, out=out, lse=lse)
        wrong = []
        for head in range(HEADS):
            for i in ROWS:
                row, sums = self.expected(head, i)
                # V is normal: P and O are rounded, each once.
                error = max(abs(out[0, i, head, c] - row[c]) for c in range(self.head_dim))
                same = lse[0, head, i] == sums or abs(lse[0, head, i] - sums) < 1e-3
                if not error <= 8 * EPSILON[self.dtype] or not same:
                    wrong.append((head, i))
        return wrong


def groups():
    """{group: combinations}."""
    dims = (64, 128, 256)
    dense = (("dense bias", "none"), (None, "dense mask"))
    return {"functions": [Combination(score, mask, d, "bf16") for score in SCORES for mask in MASKS for d in dims],
            "masks": [Combination(None, mask, d, "bf16") for mask in MORE_MASKS for d in dims],
            "dense": [Combination(score, mask, d, dtype) for score, mask in dense for d in range(8, 264, 8) for dtype in EPSILON]}


def processor_seconds():
    """That this process and its children have used."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Result:
    """The outcome of a combination."""

    def __init__(self, combination, run):
        self.combination = combination
        start = processor_seconds()
        kernel = combination.compile()
        self.seconds = processor_seconds() - start
        plan = json.loads(Executable.get(kernel.problem.to_ir()).bundle.plan())
        reports = [variant["report"] for variant in plan["variants"]]
        self.rung = reports[0]["rung"]
        # Without an assembler nobody knows.
        self.spilled = sum(report["assembler"][f"spill_{way}s"] for report in reports for way in ("store", "load")
                           if "assembler" in report)
        self.wrong = combination.wrong_rows(kernel) if run else []

    def faults(self, most_seconds):
        faults = [f"wrong at (head, row) {self.wrong}"] if self.wrong else []
        return faults + ([f"compiled in {self.seconds:.1f} s"] if self.seconds > most_seconds else [])

    def cell(self):
        return f"{self.rung}, {self.spilled} B, {self.seconds:.1f} s"


def table(results):
    """Lines of Markdown: a row for each pair of functions, a column for each head dim and type; where
    there are many head dims, the other way around."""
    def functions(c):
        return " and ".join(name for name in (c.score, c.mask) if name and (name != "none" or not c.score))

    def problem(c):
        return f"{c.head_dim}, {c.dtype}"

    combinations = [result.combination for result in results]
    cells = {(functions(r.combination), problem(r.combination)): r.cell() for r in results}
    rows, columns = (list(dict.fromkeys(map(name, combinations))) for name in (functions, problem))
    first = "function"
    if len(columns) > len(rows):
        cells, rows, columns, first = {(b, a): cell for (a, b), cell in cells.items()}, columns, rows, "head dim"
    yield f"| {first} | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for row in rows:
        yield f"| {row} | " + " | ".join(cells.get((row, column), "") for column in columns) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=groups(), help="default: all")
    parser.add_argument("--every", type=int, default=1, help="take each n-th combination")
    parser.add_argument("--no-run", action="store_true", help="compile only")
    parser.add_argument("--most-seconds", type=float, default=math.inf, help="of processor time that a compilation may take")
    args = parser.parse_args()
    os.environ["ATTN_DISABLE_CACHE"] = "1"
    faults = count = 0
    for group, combinations in groups().items():
        if args.group in (None, group):
            results = []
            for combination in combinations[::args.every]:
                try:
                    results.append(Result(combination, not args.no_run))
                    wrong = results[-1].faults(args.most_seconds)
                except attn.AttnError as error:
                    wrong = [str(error)]
                count += 1
                faults += bool(wrong)
                for fault in wrong:
                    print(f"FAILED: {combination}: {fault}", flush=True)
            print(f"\n{group}: rung, spilled bytes, seconds of processor time to compile\n", *table(results), sep="\n", flush=True)
    print(f"\n{count} combinations, {faults} with faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
