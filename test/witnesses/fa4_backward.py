# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashAttention-4's backward kernel: dK and dV, and sums of dQ in an order of its own, which are not
compared."""

import collections

import launches
import numpy as np
from fa4_packages import HEADS, LOG2_E, SHARED, compile_kernel, describe, divider, fake_tensor, strided, unused, words

Case = collections.namedtuple("Case", "name dim rows keys causal")
CASES = (
    Case("fa4_backward_d64_causal", 64, 256, 384, True),
    Case("fa4_backward_d128", 128, 256, 384, False),
)


def compile_case(case, folder):
    import cutlass
    import cutlass.cute as cute
    from flash_attn.cute.flash_bwd_sm100 import FlashAttentionBackwardSm100

    batch, rows, keys, heads = (cute.sym_int() for _ in range(4))
    query, key = (fake_tensor(cutlass.BFloat16, (batch, length, heads, case.dim), 16) for length in (rows, keys))
    row = fake_tensor(cutlass.Float32, (batch, heads, cute.sym_int(divisibility=128)), 16)
    sums = fake_tensor(cutlass.Float32, (batch, heads, cute.sym_int(divisibility=4)), 16)
    kernel = FlashAttentionBackwardSm100(case.dim, case.dim, is_causal=case.causal, tile_m=128, tile_n=128)
    compile_kernel(folder, case.name, kernel, query, key, key, query, row, row, sums, key, key, cutlass.Float32(1.0))


def differentiate(q, k, v, do, scale, causal):
    """LSE, the row sums of dO O, dK and dV in float64; arrays are (heads, rows, dim)."""
    o, lse = launches.attention(q, k, v, scale, causal)
    scores = q @ k.swapaxes(1, 2) * scale
    if causal:
        launches.hide(scores)
    weights = np.exp(scores - lse[:, :, None])
    sums = (do * o).sum(axis=2)
    slopes = weights * (do @ v.swapaxes(1, 2) - sums[:, :, None])
    return lse, sums, slopes.swapaxes(1, 2) @ q * scale, weights.swapaxes(1, 2) @ do


def tensor_maps(case):
    # Each warpgroup stores half of the columns, in boxes of at most 64.
    stored = (min(64, case.dim // 2), 128)
    lengths = {"q": case.rows, "k": case.keys, "v": case.keys, "do": case.rows}
    return [*(describe(name, case.dim, length) for name, length in lengths.items()),
            *(describe(name, case.dim, case.keys, stored) for name in ("dv", "dk"))]


def write_launch(case, folder):
    launch = launches.Launch(folder, case.name, (case.keys // 128, HEADS, 1), (512, 1, 1), SHARED)
    random = np.random.default_rng(case.dim)
    values = [launch.add_input(name, random.standard_normal((1, length, HEADS, case.dim)))[0].swapaxes(0, 1)
              for name, length in (("q", case.rows), ("k", case.keys), ("v", case.keys), ("do", case.rows))]
    scale = case.dim**-0.5
    lse, sums, dk, dv = differentiate(*values, scale, case.causal)
    launch.add_buffer("lse", lse[None] * LOG2_E)
    launch.add_buffer("sums", sums[None])
    launch.add_buffer("dq", np.zeros((1, HEADS, case.rows * case.dim)))
    launch.add_output("dv", "bf16", dv.swapaxes(0, 1)[None], 2e-2, 2**-6)
    launch.add_output("dk", "bf16", dk.swapaxes(0, 1)[None], 2e-2, 2**-6)

    query, key = (words(length, HEADS, 1) for length in (case.rows, case.keys))
    row = (case.rows, HEADS, 1), (case.rows, HEADS * case.rows)
    stored = (case.keys, HEADS, 1), (HEADS * case.dim, case.keys * HEADS * case.dim)
    total = case.rows * case.dim
    launch.add_params(query, key, key, strided("lse", *row), strided("sums", *row), query,
                      strided("dv", *stored), strided("dk", *stored),
                      strided("dq", (total, HEADS, 1), (total, HEADS * total)), key, key, *tensor_maps(case),
                      *[unused(False)] * 5, {"f32": scale}, {"f32": scale * LOG2_E})
    # Of the work, which is that of the CTA's own place in the grid.
    launch.add_params({"s32": 1}, {"s32": 1}, {"s32": 1}, *divider(1))
    launch.write()
