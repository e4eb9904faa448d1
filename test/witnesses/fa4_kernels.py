#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashAttention-4's kernels for sm_100, compiled without a GPU, and launches of them: here those of the
forward pass.

    fa4_kernels.py FOLDER [NAME...]      # writes NAME.ptx, NAME.json and arrays; prints the names

witnesses.py calls it with a Python that has the packages of fa4.txt. The parameters of the kernels are those
that the packages' host code passes."""

import collections
import os
import sys

import fa4_backward
import launches
import numpy as np
from fa4_packages import (HEADS, LOG2_E, SHARED, compile_kernel, describe, divider, fake_tensor, prepare, strided, unused,
                          words)

# `clc`: CTAs cancel others and do their work; `pair`: two CTAs work on one tile.
Case = collections.namedtuple("Case", "name dim rows keys ctas causal clc pair")
CASES = (
    Case("fa4_d64", 64, 512, 384, 3, False, False, False),
    Case("fa4_d128", 128, 512, 384, 3, False, False, False),
    Case("fa4_d128_causal", 128, 512, 640, None, True, False, False),
    Case("fa4_d128_clc", 128, 512, 256, None, False, True, False),
    Case("fa4_d128_pair", 128, 1024, 384, 2, False, False, True),
)


def compile_case(case, folder):
    import cutlass
    import cutlass.cute as cute
    from flash_attn.cute.flash_fwd_sm100 import FlashAttentionForwardSm100

    batch, rows, keys, heads = (cute.sym_int() for _ in range(4))
    query, key = (fake_tensor(cutlass.BFloat16, (batch, length, heads, case.dim), 16) for length in (rows, keys))
    lse = fake_tensor(cutlass.Float32, (batch, heads, rows), 4)
    kernel = FlashAttentionForwardSm100(case.dim, case.dim, is_causal=case.causal, use_clc_scheduler=case.clc,
                                        is_static_persistent=case.ctas is not None, use_2cta_instrs=case.pair)
    compile_kernel(folder, case.name, kernel, query, key, key, query, lse, cutlass.Float32(1.0))


def schedule_params(case, blocks):
    """Of the work: a CTA, or a pair, takes each item in turn or one of its own."""
    items = blocks * HEADS
    if case.ctas:
        return (*divider(blocks), *divider(HEADS), {"s32": items}, {"s32": 1})
    # The heads whose keys and values the L2 cache holds.
    head_bytes = case.keys * 2 * case.dim * 2
    section = 1 << (50 * 1024 * 1024 // head_bytes).bit_length() - 1
    return ({"s32": items}, {"s32": 1}, {"s32": blocks}, {"s32": HEADS}, {"s32": 1}, {"s32": section},
            *divider(HEADS), *divider(section), *divider(section * blocks), *divider(max(HEADS % section, 1)),
            {"s32": HEADS // section}, *divider(1), {"s32": 1})


def write_launch(case, folder):
    ctas = 2 if case.pair else 1
    blocks = -(-case.rows // (256 * ctas))
    grid = (case.ctas, 1, 1) if case.ctas else (blocks, HEADS, 1) if case.clc else (blocks * HEADS, 1, 1)
    launch = launches.Launch(folder, case.name, grid, (512, 1, 1), SHARED, (2, 1, 1) if case.pair else None)
    random = np.random.default_rng(case.dim)
    values = [launch.add_input(name, random.standard_normal((1, length, HEADS, case.dim)))
              for name, length in (("q", case.rows), ("k", case.keys), ("v", case.keys))]
    scale = case.dim**-0.5
    o, lse = launches.attention(*(each[0].swapaxes(0, 1) for each in values), scale, case.causal)
    launch.add_output("o", "bf16", o.swapaxes(0, 1)[None], 4e-3, 2**-7)
    launch.add_output("lse", "f32", lse[None], 1e-3, 0)
    query, key = words(case.rows, HEADS, 1), words(case.keys, HEADS, 1)
    launch.add_params(query, key, key, query,
                      strided("lse", (case.rows, HEADS, 1), (case.rows, HEADS * case.rows)),
                      describe("q", case.dim, case.rows), describe("k", case.dim, case.keys, (64, 128 // ctas)),
                      describe("v", case.dim, case.keys), describe("o", case.dim, case.rows), {"f32": scale * LOG2_E},
                      unused(case.pair), unused(case.pair), *schedule_params(case, blocks))
    launch.write()


def main():
    folder = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    prepare(folder)
    for module in (sys.modules[__name__], fa4_backward):
        for case in module.CASES:
            if not wanted or case.name in wanted:
                module.compile_case(case, folder)
                module.write_launch(case, folder)
                print(case.name, flush=True)


if __name__ == "__main__":
    main()
