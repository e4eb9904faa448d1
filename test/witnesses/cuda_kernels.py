#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products for sm_100 that others wrote by hand in CUDA and measured on a B200, compiled by nvcc to PTX,
and launches of them.

    cuda_kernels.py FOLDER SOURCES      # writes NAME.ptx, NAME.json and arrays; prints the names

SOURCES is a checkout of github.com/gau-nernst/learn-cuda at 1454f8b; the files that are compiled have to have
the hashes below. Versions 1 to 3 are left out: in these, a warp that falls behind an mbarrier by two phases
waits forever. Of torch, whose headers the files include, they need no more than what SHIMS declares. The
environment's NVCC names the compiler (nvcc)."""

import collections
import hashlib
import os
import re
import subprocess
import sys

import launches
import numpy as np

SUBFOLDER = "02e_matmul_sm100"
HASHES = {
    "common.h": "a9acc16cb4a3c19ffa1096ce23e46709d769288c243d3bf4ca07858580dc67c4",
    "profiler.h": "5a9dae96af9c55ead40425dfd25dde41683de0f397fe9d74680c6633cde365fc",
    "matmul_v4.cu": "01ae1c9b6f0f3e5601567acac3146d0c7cfc163a3b8d35ff81429bd2eae7a4d9",
    "matmul_v5.cu": "603025c0efb6a0f6079dfa09e9f8d61556f93c5000cf49a3ab986e750a795d1c",
    "matmul_v6.cu": "546f03a94d6493e9e72e72eabf54894218bc0bb8bf28dd76c539fcdf3912da78",
    "matmul_v7.cu": "fd73c57370b6ba26cf6f0a3a6d6a70f5c595716ddabf65e8b23cb38c047642a9",
    "_matmul_tmem.cu": "305d358ad1917cc9b1016b0eb0bd3b655ee8ed021a167fb90bbe044dae4b40d1",
    "_matmul_v4_trans.cu": "5b5b58ad795062fb8c74b844ca839805c9dbe786e7f9744aa5124ea4992c6e0f",
}
SHIMS = {
    "torch/library.h": """#pragma once
#define TORCH_CHECK(...)
struct Library { template <class... A> void def(A...) {} };
#define TORCH_LIBRARY(name, m) inline void define(Library &m)
""",
    "ATen/ATen.h": """#pragma once
namespace at {
struct Tensor { int size(int) const; int options() const; void *data_ptr() const; };
template <class A> Tensor empty(A &&, int);
template <class A> Tensor empty(std::initializer_list<A>, int);
}
""",
}
M, N, K = 512, 512, 512
# `instance`: in the mangled name of the entry; `tile`: rows, columns and steps of K of a CTA's tile; `stages` of
# shared memory; `more` of its bytes; `ctas`: 0 for one a tile.
Case = collections.namedtuple("Case", "file instance warps tile stages more pair ctas profiled", defaults=(0, False, 0, False))
CASES = {
    "cuda_matmul_v4": Case("matmul_v4", "", 4, (128, 128, 64), 7),
    "cuda_matmul_v5": Case("matmul_v5", "Lb0E", 4, (128, 256, 64), 7, pair=True, profiled=True),
    "cuda_matmul_v6": Case("matmul_v6", "Lb0E", 6, (128, 256, 64), 7, pair=True, ctas=4, profiled=True),
    "cuda_matmul_v7": Case("matmul_v7", "Lb0ELb0E", 6, (128, 256, 64), 7, 7 * 16 + 36, pair=True, ctas=4, profiled=True),
    "cuda_matmul_tmem": Case("_matmul_tmem", "", 4, (64, 128, 64), 1, 20),
    "cuda_matmul_trans": Case("_matmul_v4_trans", "", 4, (128, 128, 128), 3),
}


def check_sources(folder):
    for name, expected in HASHES.items():
        with open(os.path.join(folder, name), "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
        if found != expected:
            raise ValueError(f"{name}: expected hash {expected}, got {found}")


def write_shims(folder):
    for name, text in SHIMS.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def compile_case(case, sources, shims, output):
    """Writes PTX; returns the name of the entry."""
    subprocess.run([os.environ.get("NVCC", "nvcc"), "-arch=sm_100a", "-std=c++17", "-O3", "-w", "-I" + shims, "-include",
                    "cuda_bf16.h", "-include", "tuple", "--expt-relaxed-constexpr", "--ptx", "-o", output,
                    os.path.join(sources, case.file + ".cu")], check=True)
    with open(output, encoding="utf-8") as file:
        names = re.findall(r"\.entry (\w+)\(", file.read())
    (found,) = (name for name in names if case.instance + "EvP" in name or case.instance + "Ev14" in name)
    return found


def describe(name, height, width, box):
    """The tensor map of a matrix, in boxes of rows and columns that lie as blocks of 64 columns."""
    return {"tensor_map": {"buffer": name, "type": "bf16", "sizes": [64, height, width // 64], "strides": [2 * width, 128],
                           "box": [64, box[0], box[1] // 64], "swizzle": 128}}


def operands(case):
    """A and B: B is transposed, but in one case A is, and B is not."""
    rows, columns, depth = case.tile
    if case.file == "_matmul_v4_trans":
        return describe("a", K, M, (depth, rows)), describe("b", K, N, (depth, columns))
    a = {"buffer": "a"} if case.file == "_matmul_tmem" else describe("a", M, K, (rows, depth))
    return a, describe("b", N, K, (columns // (1 + case.pair), depth))


def write_launch(name, case, entry, folder):
    rows, columns, depth = case.tile
    loaded = (0 if case.file == "_matmul_tmem" else rows) + columns // (1 + case.pair)
    launch = launches.Launch(folder, name, (case.ctas or M // rows * (N // columns),), (32 * case.warps,),
                             2 * loaded * depth * case.stages + case.more, (2,) if case.pair else None)
    launch.file["kernel"] = entry
    random = np.random.default_rng(1)
    transposed = case.file == "_matmul_v4_trans"
    # One kernel loads rows behind the last tile's, for lanes that are not used.
    a = launch.add_input("a", random.standard_normal((K, M) if transposed else (M + 16, K)))
    a = a.T if transposed else a[:M]
    b = launch.add_input("b", random.standard_normal((K, N) if transposed else (N, K)))
    launch.add_output("c", "bf16", a @ b if transposed else a @ b.T, 2e-3, 2**-7)
    launch.add_params(*operands(case), {"buffer": "c"}, *({"s32": size} for size in (M, N, K)))
    if case.profiled:
        launch.add_params({"u64": 0}, {"s32": 0})
    launch.write()


def main():
    folder, sources = (os.path.abspath(path) for path in sys.argv[1:3])
    sources = os.path.join(sources, SUBFOLDER)
    check_sources(sources)
    shims = os.path.join(folder, "shims")
    write_shims(shims)
    for name, case in CASES.items():
        entry = compile_case(case, sources, shims, os.path.join(folder, name + ".ptx"))
        write_launch(name, case, entry, folder)
        print(name, flush=True)


if __name__ == "__main__":
    main()
