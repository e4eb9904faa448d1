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

PAGE = 128
# `clc`: CTAs cancel others and do their work; `pair`: two CTAs work on one tile; `group`: heads of Q for each of K
# and V; `window`: the keys before and behind a row's own that it sees; `paged`: K and V lie in pages.
Case = collections.namedtuple("Case", "name dim rows keys ctas causal clc pair group window paged", defaults=(1, None, False))
CASES = (
    Case("fa4_d64", 64, 512, 384, 3, False, False, False),
    Case("fa4_d128", 128, 512, 384, 3, False, False, False),
    Case("fa4_d128_causal", 128, 512, 640, None, True, False, False),
    Case("fa4_d128_clc", 128, 512, 256, None, False, True, False),
    Case("fa4_d128_pair", 128, 1024, 384, 2, False, False, True),
    Case("fa4_d128_group", 128, 512, 384, 3, False, False, False, group=2),
    Case("fa4_d128_window", 128, 512, 640, None, False, False, False, window=(200, 50)),
    Case("fa4_d128_paged", 128, 512, 384, 3, False, False, False, paged=True),
)


def compile_case(case, folder):
    import cutlass
    import cutlass.cute as cute
    from flash_attn.cute.flash_fwd_sm100 import FlashAttentionForwardSm100

    batch, rows, keys, heads, pages = (cute.sym_int() for _ in range(5))
    few = cute.sym_int() if case.group > 1 else heads
    query = fake_tensor(cutlass.BFloat16, (batch, rows, heads, case.dim), 16)
    key = fake_tensor(cutlass.BFloat16, (pages if case.paged else batch, keys, few, case.dim), 16)
    lse = fake_tensor(cutlass.Float32, (batch, heads, rows), 4)
    options = {}
    if case.paged:
        options["mPageTable"] = fake_tensor(cutlass.Int32, (batch, cute.sym_int()), 4)
    if case.window:
        options.update(window_size_left=cutlass.Int32(1), window_size_right=cutlass.Int32(1))
    kernel = FlashAttentionForwardSm100(case.dim, case.dim, case.group, is_causal=case.causal,
                                        is_local=case.window is not None, use_clc_scheduler=case.clc,
                                        is_static_persistent=case.ctas is not None, use_2cta_instrs=case.pair)
    compile_kernel(folder, case.name, kernel, query, key, key, query, lse, cutlass.Float32(1.0), **options)


def schedule_params(case, blocks):
    """The parameters for work items: a CTA, or a pair, takes items in turn, or one of its own."""
    items = blocks * HEADS
    if case.ctas:
        return (*divider(blocks), *divider(HEADS), {"s32": items}, {"s32": 1})
    # The heads whose keys and values the L2 cache holds.
    head_bytes = case.keys * 2 * case.dim * 2
    section = 1 << (50 * 1024 * 1024 // head_bytes).bit_length() - 1
    return ({"s32": items}, {"s32": 1}, {"s32": blocks}, {"s32": HEADS}, {"s32": 1}, {"s32": section},
            *divider(HEADS), *divider(section), *divider(section * blocks), *divider(max(HEADS % section, 1)),
            {"s32": HEADS // section}, *divider(1), {"s32": 1})


def add_inputs(case, launch):
    """Returns Q, K and V, (heads, positions, dim) in float64. Pages are in no order, and one is none of the sequence."""
    random = np.random.default_rng(case.dim)
    heads = HEADS // case.group
    q, *keys = (random.standard_normal((1, length, count, case.dim))
                for length, count in ((case.rows, HEADS), (case.keys, heads), (case.keys, heads)))
    q = launch.add_input("q", q)[0]
    if not case.paged:
        keys = [launch.add_input(name, each)[0] for name, each in zip("kv", keys)]
    else:
        used = random.permutation(case.keys // PAGE + 1)[:-1]
        launch.add_integers("pages", used[None])
        for i, name in enumerate("kv"):
            pages = np.full((len(used) + 1, PAGE, heads, case.dim), np.nan)
            pages[used] = keys[i].reshape(-1, PAGE, heads, case.dim)
            keys[i] = launch.add_input(name, pages)[used].reshape(-1, heads, case.dim)
    return q.swapaxes(0, 1), *(each.swapaxes(0, 1).repeat(case.group, axis=0) for each in keys)


def add_params(case, launch, blocks, scale):
    ctas = 2 if case.pair else 1
    heads = HEADS // case.group
    keys, count = (PAGE, case.keys // PAGE + 1) if case.paged else (case.keys, 1)
    query, key = words(case.rows, HEADS, 1), words(keys, heads, count)
    launch.add_params(query, key, key, query, strided("lse", (case.rows, HEADS, 1), (case.rows, HEADS * case.rows)))
    if case.paged:
        launch.add_params(strided("pages", (1, case.keys // PAGE), (case.keys // PAGE,), at=16))
    launch.add_params(describe("q", case.dim, case.rows), describe("k", case.dim, keys, (64, 128 // ctas), heads, count),
                      describe("v", case.dim, keys, (64, 128), heads, count), describe("o", case.dim, case.rows),
                      {"f32": scale * LOG2_E}, *({"s32": each} for each in case.window or ()), unused(case.pair),
                      unused(case.pair), *schedule_params(case, blocks))


def write_launch(case, folder):
    ctas = 2 if case.pair else 1
    blocks = -(-case.rows // (256 * ctas))
    grid = (case.ctas, 1, 1) if case.ctas else (blocks, HEADS, 1) if case.clc else (blocks * HEADS, 1, 1)
    launch = launches.Launch(folder, case.name, grid, (512, 1, 1), SHARED, (2, 1, 1) if case.pair else None)
    scale = case.dim**-0.5
    window = launches.CAUSAL if case.causal else case.window
    o, lse = launches.attention(*add_inputs(case, launch), scale, window)
    launch.add_output("o", "bf16", o.swapaxes(0, 1)[None], 4e-3, 2**-7)
    launch.add_output("lse", "f32", lse[None], 1e-3, 0)
    add_params(case, launch, blocks, scale)
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
