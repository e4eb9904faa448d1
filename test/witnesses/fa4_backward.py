# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashAttention-4's backward kernel: dK and dV, and sums of dQ in an order of its own, which are not
compared."""

import collections

import launches
import numpy as np
from fa4_packages import HEADS, LOG2_E, SHARED, compile_kernel, describe, divider, fake_tensor, strided, unused, words

Case = collections.namedtuple("Case", "name dim rows keys causal pair")
CASES = (
    Case("fa4_backward_d64_causal", 64, 256, 384, True, False),
    Case("fa4_backward_d128", 128, 256, 384, False, False),
    Case("fa4_backward_d128_pair", 128, 256, 512, False, True),
)


def compile_case(case, folder):
    import cutlass
    import cutlass.cute as cute
    from flash_attn.cute.flash_bwd_sm100 import FlashAttentionBackwardSm100

    batch, rows, keys, heads = (cute.sym_int() for _ in range(4))
    query, key = (fake_tensor(cutlass.BFloat16, (batch, length, heads, case.dim), 16) for length in (rows, keys))
    row = fake_tensor(cutlass.Float32, (batch, heads, cute.sym_int(divisibility=128)), 16)
    sums = fake_tensor(cutlass.Float32, (batch, heads, cute.sym_int(divisibility=4)), 16)
    kernel = FlashAttentionBackwardSm100(case.dim, case.dim, is_causal=case.causal, tile_m=128, tile_n=128,
                                         cluster_size=2 if case.pair else 1, use_2cta_instrs=case.pair)
    compile_kernel(folder, case.name, kernel, query, key, key, query, row, row, sums, key, key, cutlass.Float32(1.0))


def differentiate(q, k, v, do, scale, window):
    """LSE, the row sums of dO O, dK and dV in float64; arrays are (heads, rows, dim)."""
    o, lse = launches.attention(q, k, v, scale, window)
    scores = q @ k.swapaxes(1, 2) * scale
    if window:
        launches.hide(scores, *window)
    weights = np.exp(scores - lse[:, :, None])
    sums = (do * o).sum(axis=2)
    slopes = weights * (do @ v.swapaxes(1, 2) - sums[:, :, None])
    return lse, sums, slopes.swapaxes(1, 2) @ q * scale, weights.swapaxes(1, 2) @ do


def tensor_maps(case):
    # Each warpgroup stores half of the columns, in boxes of at most 64.
    stored = [describe(name, case.dim, case.keys, (min(64, case.dim // 2), 128)) for name in ("dv", "dk")]
    if case.pair:
        # A CTA loads half of the rows of a tile of Q, and all rows of half of the columns of what is transposed.
        q, whole_q, do, whole_do = (describe(name, case.dim, case.rows, (64, rows))
                                    for name in ("q", "do") for rows in (64, 128))
        k, v = (describe(name, case.dim, case.keys) for name in ("k", "v"))
        return [q, whole_q, k, describe("k", case.dim, case.keys, (64, 256)), v, whole_do, do, *stored]
    lengths = {"q": case.rows, "k": case.keys, "v": case.keys, "do": case.rows}
    return [*(describe(name, case.dim, length) for name, length in lengths.items()), *stored]


def write_launch(case, folder):
    launch = launches.Launch(folder, case.name, (case.keys // 128, HEADS, 1), (512, 1, 1), SHARED,
                             (2, 1, 1) if case.pair else None)
    random = np.random.default_rng(case.dim)
    values = [launch.add_input(name, random.standard_normal((1, length, HEADS, case.dim)))[0].swapaxes(0, 1)
              for name, length in (("q", case.rows), ("k", case.keys), ("v", case.keys), ("do", case.rows))]
    scale = case.dim**-0.5
    lse, sums, dk, dv = differentiate(*values, scale, launches.CAUSAL if case.causal else None)
    launch.add_buffer("lse", lse[None] * LOG2_E)
    launch.add_buffer("sums", sums[None])
    launch.add_buffer("dq", np.zeros((1, HEADS, case.rows * case.dim)))
    launch.add_output("dv", "bf16", dv.swapaxes(0, 1)[None], 2e-2, 2**-6)
    launch.add_output("dk", "bf16", dk.swapaxes(0, 1)[None], 2e-2, 2**-6)

    query, key = (words(length, HEADS, 1) for length in (case.rows, case.keys))
    row = (case.rows, HEADS, 1), (case.rows, HEADS * case.rows)
    stored = (case.keys, HEADS, 1), (HEADS * case.dim, case.keys * HEADS * case.dim)
    total = case.rows * case.dim
    # A pair has Q, K and dO a second time, transposed.
    tensors = 2 if case.pair else 1
    launch.add_params(*[query] * tensors, *[key] * tensors, key, strided("lse", *row), strided("sums", *row),
                      *[query] * tensors,
                      strided("dv", *stored), strided("dk", *stored),
                      strided("dq", (total, HEADS, 1), (total, HEADS * total)), key, key, *tensor_maps(case),
                      *[unused(case.pair)] * 5, {"f32": scale}, {"f32": scale * LOG2_E})
    # Of the work, which is that of the CTA's own place in the grid.
    launch.add_params({"s32": 1}, {"s32": 1}, {"s32": 1}, *divider(1))
    launch.write()
