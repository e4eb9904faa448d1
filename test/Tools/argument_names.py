#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches Inputs/names.mlir through the C interface of libattn_runtime.so: captures by the
names that they have there, the others by their roles. Scores are 0 but for the regions, so
that the log-sum-exp tells what the captures are.

usage: argument_names.py ROOT BUILD BUNDLE"""

import ctypes
import math
import os
import struct
import sys

ROOT, BUILD, BUNDLE = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
from racing import libattn

CPU = libattn.DLDevice(libattn.CPU, 0)
QUERIES, KEYS, HEADS, DIM = 9, 31, 2, 64
LEFT, AHEAD, EVERY, ADD, SLOPES = 5, 6, 2, 1.5, (0.25, -0.5)


def memory(dtype, shape):
    data = ctypes.create_string_buffer(math.prod(shape) * {"bf16": 2, "f32": 4}[dtype] + 16)
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    tensor = libattn.make_tensor(-(-ctypes.addressof(data) // 16) * 16, CPU, dtype, shape, strides)
    tensor.memory = data
    return tensor


def expected(head, i):
    keys = [j for j in range(KEYS) if i - LEFT <= j <= i + AHEAD and j % EVERY == 0]
    return math.log(sum(math.exp(SLOPES[head] * j + ADD) for j in keys))


def main():
    bundle = libattn.Library(os.path.join(BUILD, "lib", "libattn_runtime.so")).load(BUNDLE)
    rows, keys = (1, QUERIES, HEADS, DIM), (1, KEYS, HEADS, DIM)
    lse, slopes = memory("f32", (1, HEADS, QUERIES)), memory("f32", (HEADS,))
    struct.pack_into(f"<{HEADS}f", (ctypes.c_char * (4 * HEADS)).from_address(slopes.data), 0, *SLOPES)
    own = {"query": memory("bf16", rows), "key": memory("bf16", keys), "value": memory("bf16", keys),
           "output": memory("bf16", rows), "lse": lse}
    tensors = {**libattn.by_name(bundle.plan, own), "q": slopes}
    scalars = {**libattn.by_name(bundle.plan, {"scale": 0.125, "bound": LEFT}), "sq": AHEAD, "window_left": EVERY, "a.b={c}": ADD}
    args = libattn.make_args(tensors, scalars, CPU, None)
    size = bundle.workspace_size(args)
    workspace = ctypes.create_string_buffer(size + 256)
    args.workspace, args.workspace_size = -(-ctypes.addressof(workspace) // 256) * 256, size
    bundle.launcher(args)()
    got = struct.unpack(f"<{HEADS * QUERIES}f", ctypes.string_at(lse.data, 4 * HEADS * QUERIES))
    wrong = [(h, i) for h in range(HEADS) for i in range(QUERIES) if abs(got[h * QUERIES + i] - expected(h, i)) > 1e-4]
    print(f"{QUERIES} rows are right" if not wrong else f"wrong rows: {wrong}")


main()
