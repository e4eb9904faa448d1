#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how long the first call of attn.sdpa and of its gradients takes longer than the second: that is the time
in which their kernels are compiled. Each first call is in a process of its own, without the cache on disk, after a call of
another problem, which imports what has to be imported. The tensors are tiny, and on the CPU, whose simulator runs
them, or on a GPU. Prints the least of several rounds, and the processor time of that round."""

import argparse
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MASKS = {"none": False, "causal": True}
OTHER = 32, 32, False  # of the first call, which is not measured


def seconds(torch, attn, device, head_dim, head_dim_v, causal):
    """(wall, processor) seconds of one forward and backward pass."""
    q, k, v = (torch.randn(1, 1, 8, d, device=device, dtype=torch.bfloat16, requires_grad=True)
               for d in (head_dim, head_dim, head_dim_v))
    wall, used = time.perf_counter(), os.times()
    out = attn.sdpa(q, k, v, is_causal=causal)
    torch.autograd.grad(out, (q, k, v), torch.ones_like(out))
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - wall, sum(os.times()[:4]) - sum(used[:4])


def measure(device, *problem):
    """Prints what a first call takes longer than a second."""
    import torch

    sys.path.insert(0, os.path.join(ROOT, "python"))
    import attn

    seconds(torch, attn, device, *OTHER)
    first, again = (seconds(torch, attn, device, *problem) for _ in range(2))
    print(*(a - b for a, b in zip(first, again)))


def once(device, *problem):
    """(wall, processor) seconds of the problem, from a process of its own."""
    command = [sys.executable, __file__, "--device", device, "--problem", *map(str, problem)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "ATTN_DISABLE_CACHE": "1"})
    return tuple(map(float, done.stdout.split()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dims", default="64,96,128,192/128,256", help="head dims, with that of V after a slash")
    parser.add_argument("--masks", default="none,causal")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--problem", nargs=3, metavar=("D", "DV", "MASK"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.problem:
        measure(args.device, int(args.problem[0]), int(args.problem[1]), MASKS[args.problem[2]])
        return 0
    print("| head dim | mask | forward and backward, s | processor, s |\n|---|---|---|---|", flush=True)
    for dims in args.dims.split(","):
        head_dim, _, head_dim_v = dims.partition("/")
        for mask in args.masks.split(","):
            wall, used = min(once(args.device, head_dim, head_dim_v or head_dim, mask) for _ in range(args.rounds))
            print(f"| {dims} | {mask} | {wall:.2f} | {used:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
