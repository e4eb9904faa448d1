#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes launch files for the kernels of this folder.

usage: launches.py FOLDER [KERNEL]

FOLDER/KERNEL.PROBLEM.json launches KERNEL.ptx on inputs beside it, and has what to expect: of the
matrix products every bit, of attention what differs in rounding alone. Problems differ in how often
stages and accumulators are used anew.
"""

import array
import json
import math
import os
import random
import struct
import sys

# By kernel: CTAs or pairs, blocks of K or of keys, and tiles.
PROBLEMS = {
    "matmul": [(1, 1, 1), (1, 1, 5), (1, 5, 1), (2, 2, 3)],
    "pair": [(1, 1, 1), (1, 1, 5), (1, 5, 1), (2, 1, 3)],
    "attention": [(1, 1, 1), (1, 2, 1), (2, 5, 1)],
}
ROWS = 128
TILE = 64
LOG2E = math.log2(math.e)
SCALE = 1 / 8


def write_npy(path, kind, rows, values):
    """numpy's file of a matrix; `kind` is 'e' for f16 or 'f' for f32."""
    shape = f"({rows}, {len(values) // rows})"
    header = f"{{'descr': '<f{2 if kind == 'e' else 4}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{kind}", *values))


def matrix(rows, columns, most, source):
    return [[source.randint(-most, most) for _ in range(columns)] for _ in range(rows)]


def multiply(a, b):
    """a times the transposed b."""
    return [[math.fsum(map(float.__mul__, left, right)) for right in b] for left in a]


def floats(rows):
    return [list(map(float, row)) for row in rows]


def attention(q, k, v):
    columns = list(zip(*floats(v)))
    result = []
    for row in multiply(floats(q), floats(k)):
        p = array.array("d", (math.exp(SCALE * score) for score in row))
        total = math.fsum(p)
        result.append([math.fsum(map(float.__mul__, p, column)) / total for column in columns])
    return result


class Writer:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.buffers = {}

    def file(self, name, kind, rows):
        path = os.path.join(self.folder, f"{self.name}.{name}.npy")
        write_npy(path, kind, len(rows), [value for row in rows for value in row])
        return {"file": path}

    def add(self, name, rows):
        self.buffers[name] = {"type": "f16", "shape": [len(rows), len(rows[0])], "fill": self.file(name, "e", rows)}

    def map_of(self, name, box):
        rows, columns = self.buffers[name]["shape"]
        return {"tensor_map": {"buffer": name, "type": "f16", "sizes": [columns, rows], "box": [64, box], "swizzle": 128}}

    def write(self, expected, params, tolerance, launch):
        self.buffers["out"] = {"type": "f32", "shape": [len(expected), len(expected[0])], "fill": "poison"}
        output = {"buffer": "out", "expect": self.file("expected", "f", expected),
                  "absolute": tolerance, "relative": tolerance}
        roles = [{"name": "load", "first_warp": 0, "warps": 1}, {"name": "mma", "first_warp": 1, "warps": 1},
                 {"name": "rows", "first_warp": 2, "warps": 4}]
        text = {"block": [6 * 32], "buffers": self.buffers, "params": params, "outputs": [output], "roles": roles}
        with open(os.path.join(self.folder, self.name + ".json"), "w", encoding="utf-8") as file:
            json.dump({**launch, **text}, file, indent=1)


def write_product(writer, is_pair, groups, blocks, tiles, source):
    ctas = groups * (2 if is_pair else 1)
    a, b = matrix(ctas * ROWS, blocks * 64, 3, source), matrix(tiles * TILE, blocks * 64, 3, source)
    writer.add("a", a)
    writer.add("b", b)
    params = [writer.map_of("a", ROWS), writer.map_of("b", TILE // 2 if is_pair else TILE), {"buffer": "out"},
              {"u32": blocks}, {"u32": tiles}]
    launch = {"grid": [ctas], "shared": 50176}
    writer.write(multiply(floats(a), floats(b)), params, 0, {**launch, "cluster": [2]} if is_pair else launch)


def write_attention(writer, ctas, blocks, source):
    q, k, v = matrix(ctas * ROWS, 64, 1, source), matrix(blocks * TILE, 64, 1, source), matrix(blocks * TILE, 64, 3, source)
    for name, rows in (("q", q), ("k", k), ("v", v)):
        writer.add(name, rows)
    params = [writer.map_of("q", ROWS), writer.map_of("k", TILE), writer.map_of("v", TILE), {"buffer": "out"},
              {"u32": blocks}, {"f32": SCALE * LOG2E}]
    writer.write(attention(q, k, v), params, 2e-3, {"grid": [ctas], "shared": 50176})


def write_all(folder, kernels):
    os.makedirs(folder, exist_ok=True)
    for kernel in kernels:
        problems = PROBLEMS[kernel]
        for number, (ctas, blocks, tiles) in enumerate(problems):
            writer = Writer(folder, f"{kernel}.{number}")
            source = random.Random(number)
            if kernel == "attention":
                write_attention(writer, ctas, blocks, source)
            else:
                write_product(writer, kernel == "pair", ctas, blocks, tiles, source)


if __name__ == "__main__":
    write_all(sys.argv[1], sys.argv[2:] or PROBLEMS)
