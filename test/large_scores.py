#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with additive masks of any finite size, against float64.

    PYTHONPATH=python test/large_scores.py --problems 200 --device cpu

Each problem adds a number, from -1e4 to the lowest float and up to 1e30, to the scores of
no, some or all keys of a row, as padded batches do, and minus infinity to those of others.
Elements of Q and K are small multiples of 1/4 and the scale is a power of two, so that
scores are the same in any order of additions: f32 then rounds the sum with the mask as the
kernel does, and what follows is compared with float64. Needs torch. On `cpu` kernels run
on the simulator."""

import argparse
import random
import sys

import torch

import attn

LOWEST = torch.finfo(torch.float32).min
SIZES = (-1e4, -1e5, -1e6, -1e8, -1e9, -1e10, -1e15, -1e30, LOWEST, 1e9, 1e30)
SHARES = {"no": 0.0, "some": 0.4, "all": 1.0}


class Problem:
    """Operands and a mask, drawn from a seed."""

    def __init__(self, seed, device):
        rng = random.Random(seed)
        generator = torch.Generator().manual_seed(seed)
        self.dtype = rng.choice((torch.bfloat16, torch.float16))
        self.dim = rng.choice((16, 64, 256))
        most = 150 if device == "cpu" else 1500
        self.batch, self.heads = rng.randint(1, 2), rng.randint(1, 2)
        self.queries, self.keys = rng.randint(1, most), rng.randint(1, most)
        self.size = rng.choice(SIZES)

        def whole(length):
            shape = (self.batch, self.heads, length, self.dim)
            return (torch.randint(-4, 5, shape, generator=generator) / 4).to(device, self.dtype)

        self.q, self.k = whole(self.queries), whole(self.keys)
        shape = (self.batch, self.heads, self.keys, self.dim)
        self.v = torch.randn(shape, generator=generator).to(device, self.dtype)
        self.bias = self._bias(rng, generator).to(device)

    def _bias(self, rng, generator):
        shares = torch.tensor([rng.choice(list(SHARES.values())) for _ in range(self.queries)])
        shape = (self.batch, self.heads, self.queries, self.keys)
        chosen = torch.rand(shape, generator=generator) < shares[:, None]
        bias = torch.where(chosen, self.size, 0.0)
        hidden = torch.rand(shape, generator=generator) < rng.choice((0.0, 0.0, 0.2))
        return bias.masked_fill(hidden, float("-inf"))

    def __str__(self):
        shape = f"{self.batch} x {self.heads} heads x {self.queries} queries on {self.keys} keys"
        return f"{self.dtype}, head dim {self.dim}, {shape}, {self.size:g}"

    def run(self):
        """(out, lse) of the kernel."""
        bias = self.bias

        def score_mod(score, b, h, q_idx, kv_idx):
            return score + bias[b, h, q_idx, kv_idx]

        with torch.no_grad():
            return attn.attention(self.q, self.k, self.v, score_mod, scale=0.125, return_lse=True)

    def reference(self):
        """(out, out with P and O rounded to the element type, lse) in float64."""
        scores = ((self.q.double() @ self.k.double().mT) * 0.125).float() + self.bias
        scores = scores.double()
        top = scores.amax(-1, keepdim=True)
        p = torch.exp(scores - torch.where(top.isinf(), 0.0, top))
        total = p.sum(-1, keepdim=True)
        scale = torch.where(total > 0, 1 / total, 0.0)
        exact = p @ self.v.double() * scale
        rounded = (p.to(self.dtype).double() @ self.v.double() * scale).to(self.dtype).double()
        return exact, rounded, (top + torch.log(total))[..., 0]


def why_wrong(problem):
    """An empty string if O is as close to the result with P and O rounded as --check requires,
    and the log-sum-exp within 1e-4, or 2e-5 of its size, which leaves room for the score
    function."""
    out, lse = problem.run()
    exact, rounded, want = problem.reference()
    error, allowed = (out.double() - exact).abs(), (rounded - exact).abs()
    if not torch.isfinite(out).all():
        return "O is not finite"
    if error.max() > 2 * allowed.max() + 1e-5 or error.mean() > 1.5 * allowed.mean() + 1e-6:
        return (f"O is off by {error.max():.3g}, {error.mean():.3g} on average; rounding accounts for "
                f"{allowed.max():.3g} and {allowed.mean():.3g}")
    empty = want.isinf()
    if not torch.equal(lse.isinf(), empty):
        return "other rows than those without keys have no log-sum-exp"
    off = (lse.double() - want).abs() - 2e-5 * want.abs().clamp(min=1) - 1e-4
    return f"the log-sum-exp is off by {off[~empty].max():.3g}" if (off[~empty] > 0).any() else ""


def check(problems, device, seed=0):
    """Prints what is wrong; returns how many problems are."""
    wrong = 0
    for n in range(problems):
        problem = Problem(seed + n, device)
        reason = why_wrong(problem)
        if reason:
            wrong += 1
            print(f"seed {seed + n}: {problem}: {reason}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    wrong = check(args.problems, args.device, args.seed)
    print(f"{args.problems} problems, {wrong} wrong")
    return 1 if wrong or args.problems < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
