#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small kernels in Triton, compiled for sm_100 without a GPU, and launches of them.

    triton_kernels.py FOLDER       # writes NAME.ptx, NAME.json and arrays; prints the names

witnesses.py calls it with a Python that has Triton and numpy."""

import os
import re
import sys

import launches
import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

SIZES = (256, 256, 320)  # of the products: m, n, k
BLOCK_M, BLOCK_N, BLOCK_K = 128, 128, 64
HEADS, ROWS, KEYS = 2, 256, 384
LOG2_E = 1.4426950408889634


@triton.jit
def pointer_product(a, b, c, m, n, k, row_a, row_b, row_c, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    """Tiles come by cp.async."""
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bn + tl.arange(0, bn)
    depth = tl.arange(0, bk)
    total = tl.zeros((bm, bn), tl.float32)
    for first in range(0, k, bk):
        left = tl.load(a + rows[:, None] * row_a + (first + depth)[None, :])
        right = tl.load(b + (first + depth)[:, None] * row_b + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * row_c + columns[None, :], total.to(tl.bfloat16))


@triton.jit
def tensor_product(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, split: tl.constexpr):
    """Tiles come and go by TMA; `split`: warps of their own load and multiply."""
    row = tl.program_id(0) * bm
    column = tl.program_id(1) * bn
    total = tl.zeros((bm, bn), tl.float32)
    for first in tl.range(0, k, bk, warp_specialize=split):
        total = tl.dot(a.load([row, first]), b.load([first, column]), total)
    c.store([row, column], total.to(tl.bfloat16))


@triton.jit
def attend(q, k, v, o, lse, scale, rows, keys, d: tl.constexpr, bm: tl.constexpr, bn: tl.constexpr,
           causal: tl.constexpr):
    """O and LSE of a block of rows of one head."""
    head = tl.program_id(1)
    row = tl.program_id(0) * bm + tl.arange(0, bm)
    key = tl.arange(0, bn)
    depth = tl.arange(0, d)
    query = tl.load(q + (head * rows + row)[:, None] * d + depth[None, :])
    top = tl.full((bm,), float("-inf"), tl.float32)
    weight = tl.zeros((bm,), tl.float32)
    total = tl.zeros((bm, d), tl.float32)
    last = row + keys - rows
    end = keys
    if causal:
        end = tl.program_id(0) * bm + bm + keys - rows
    for first in range(0, end, bn):
        block = (head * keys + first + key)[:, None] * d + depth[None, :]
        score = tl.dot(query, tl.load(k + block).T) * scale
        if causal:
            score = tl.where(last[:, None] >= (first + key)[None, :], score, float("-inf"))
        now = tl.maximum(top, tl.max(score, 1))
        keep = tl.exp2(top - now)
        part = tl.exp2(score - now[:, None])
        weight = weight * keep + tl.sum(part, 1)
        total = tl.dot(part.to(tl.bfloat16), tl.load(v + block), total * keep[:, None])
        top = now
    tl.store(o + (head * rows + row)[:, None] * d + depth[None, :], (total / weight[:, None]).to(tl.bfloat16))
    tl.store(lse + head * rows + row, (top + tl.log2(weight)) * 0.6931471805599453)


def compile_kernel(folder, name, kernel, signature, constants, **options):
    """Writes NAME.ptx; returns what Triton says of the kernel, and its threads."""
    types = {**signature, **dict.fromkeys(constants, "constexpr")}
    whole = [i for i, kind in enumerate(types.values()) if kind.startswith("*") or kind == "i32"]
    source = ASTSource(kernel, types, constants, {(i,): [["tt.divisibility", 16]] for i in whole})
    compiled = triton.compile(source, target=GPUTarget("cuda", 100, 32), options=options)
    with open(os.path.join(folder, name + ".ptx"), "w", encoding="utf-8") as file:
        file.write(compiled.asm["ptx"])
    threads = int(re.search(r"\.reqntid (\d+)", compiled.asm["ptx"]).group(1))
    return compiled.metadata, threads


def begin(folder, name, compiled, grid):
    facts, threads = compiled
    return launches.Launch(folder, name, grid, [threads], facts.shared)


def add_product(launch):
    """The inputs and the output of C = A B."""
    m, n, k = SIZES
    random = np.random.default_rng(1)
    a = launch.add_input("a", random.standard_normal((m, k)))
    b = launch.add_input("b", random.standard_normal((k, n)))
    launch.add_output("c", "bf16", a @ b, 1e-3, 2**-7)


def finish(launch):
    """Two parameters for scratch memory, of which these kernels have none."""
    launch.add_params({"u64": 0}, {"u64": 0})
    launch.write()
    print(launch.name)


def make_pointer_product(folder):
    m, n, k = SIZES
    numbers = {"m": m, "n": n, "k": k, "row_a": k, "row_b": n, "row_c": n}
    compiled = compile_kernel(folder, "triton_matmul", pointer_product,
                           {**dict.fromkeys("abc", "*bf16"), **dict.fromkeys(numbers, "i32")},
                              {"bm": BLOCK_M, "bn": BLOCK_N, "bk": BLOCK_K}, num_warps=4, num_stages=3)
    launch = begin(folder, "triton_matmul", compiled, (m // BLOCK_M, n // BLOCK_N))
    add_product(launch)
    launch.add_params(*({"buffer": name} for name in "abc"), *({"s32": value} for value in numbers.values()))
    finish(launch)


def describe(buffer, shape, facts):
    """The parameters of a descriptor: the map, the sizes, the strides."""
    tensor_map = {"buffer": buffer, "type": "bf16", "sizes": shape[::-1], "box": list(facts["block_size"])[::-1],
                  "swizzle": (0, 32, 64, 128)[facts["swizzle"]]}
    return ({"tensor_map": tensor_map}, *({"s32": size} for size in shape), {"s64": shape[1]}, {"s64": 1})


def make_tensor_product(folder, name, split):
    m, n, k = SIZES
    tiles = {"a": (BLOCK_M, BLOCK_K), "b": (BLOCK_K, BLOCK_N), "c": (BLOCK_M, BLOCK_N)}
    signature = {name: f"tensordesc<bf16[{rows}, {columns}]>" for name, (rows, columns) in tiles.items()}
    compiled = compile_kernel(folder, name, tensor_product, {**signature, **dict.fromkeys("mnk", "i32")},
                              {"bm": BLOCK_M, "bn": BLOCK_N, "bk": BLOCK_K, "split": split}, num_warps=4, num_stages=3)
    launch = begin(folder, name, compiled, (m // BLOCK_M, n // BLOCK_N))
    add_product(launch)
    shapes = ([m, k], [k, n], [m, n])
    for buffer, shape, meta in zip("abc", shapes, compiled[0].tensordesc_meta):
        launch.add_params(*describe(buffer, shape, meta))
    launch.add_params(*({"s32": size} for size in SIZES))
    finish(launch)


def make_attention(folder, name, dim, block_n, causal):
    compiled = compile_kernel(folder, name, attend,
                           {**dict.fromkeys(("q", "k", "v", "o"), "*bf16"), "lse": "*fp32", "scale": "fp32", "rows": "i32",
                            "keys": "i32"}, {"d": dim, "bm": 128, "bn": block_n, "causal": causal}, num_warps=4,
                           num_stages=2)
    launch = begin(folder, name, compiled, (ROWS // 128, HEADS))
    random = np.random.default_rng(dim)
    q, k, v = (launch.add_input(each, random.standard_normal((HEADS, size, dim)))
               for each, size in (("q", ROWS), ("k", KEYS), ("v", KEYS)))
    scale = dim**-0.5
    o, lse = launches.attention(q, k, v, scale, launches.CAUSAL if causal else None)
    launch.add_output("o", "bf16", o, 4e-3, 2**-7)
    launch.add_output("lse", "f32", lse, 1e-3, 0)
    launch.add_params(*({"buffer": each} for each in ("q", "k", "v", "o", "lse")), {"f32": scale * LOG2_E}, {"s32": ROWS},
                      {"s32": KEYS})
    finish(launch)


def main():
    folder = sys.argv[1]
    make_pointer_product(folder)
    make_tensor_product(folder, "triton_matmul_tma", False)
    make_tensor_product(folder, "triton_matmul_roles", True)
    make_attention(folder, "triton_attention_d64", 64, 128, False)
    make_attention(folder, "triton_attention_d64_causal", 64, 128, True)
    make_attention(folder, "triton_attention_d128", 128, 64, False)
    make_attention(folder, "triton_attention_d128_causal", 128, 64, True)


if __name__ == "__main__":
    main()
