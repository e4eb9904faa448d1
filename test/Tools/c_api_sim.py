#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches a bundle of causal attention on host memory through the C interface
of libattn_runtime.so, as a framework would, and compares with Python's floats.

usage: c_api_sim.py ROOT BUILD BUNDLE"""

import array
import ctypes
import math
import os
import random
import struct
import sys

ROOT, BUILD, BUNDLE = sys.argv[1:]
sys.path[:0] = [os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "test")]
import numerics
from racing import libattn

CPU = libattn.DLDevice(libattn.CPU, 0)
LENGTH, DIM, SCALE = 37, 128, 0.125


class Tensor:
    """(1, length, 1, DIM) in bf16 or (1, 1, length) in f32, 16-byte aligned."""

    def __init__(self, dtype, shape):
        size = {"bf16": 2, "f32": 4}[dtype]
        count = math.prod(shape)
        self.dtype, self.count = dtype, count
        self.memory = ctypes.create_string_buffer(count * size + 16)
        self.address = -(-ctypes.addressof(self.memory) // 16) * 16
        strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        self.view = libattn.make_tensor(self.address, CPU, dtype, shape, strides)

    def write(self, values):
        """Rounds toward zero to bf16 and returns what became of the values."""
        words = [struct.unpack("<I", struct.pack("<f", v))[0] >> 16 for v in values]
        ctypes.memmove(self.address, array.array("H", words).tobytes(), 2 * self.count)
        return self.read()

    def read(self):
        if self.dtype == "f32":
            return list(struct.unpack(f"<{self.count}f", ctypes.string_at(self.address, 4 * self.count)))
        words = struct.unpack(f"<{self.count}H", ctypes.string_at(self.address, 2 * self.count))
        return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]


def attention(q, k, v, i):
    """Row i of O and of LSE, its sums of P |V|, and the largest scale |q| |k|."""
    row = lambda x, j: x[j * DIM:(j + 1) * DIM]
    scores = [SCALE * sum(a * b for a, b in zip(row(q, i), row(k, j))) for j in range(i + 1)]
    most = max(scores)
    weights = [math.exp(s - most) for s in scores]
    total = sum(weights)
    out, magnitudes = ([sum(w * of(row(v, j)[c]) for j, w in enumerate(weights)) / total for c in range(DIM)] for of in (float, abs))
    size = SCALE * math.hypot(*row(q, i)) * max(math.hypot(*row(k, j)) for j in range(i + 1))
    return out, most + math.log(total), magnitudes, size


def main():
    generator = random.Random(1)
    tensors = {name: Tensor("bf16", [1, LENGTH, 1, DIM]) for name in ("q", "k", "v", "o")}
    tensors["lse"] = Tensor("f32", [1, 1, LENGTH])
    q, k, v = (tensors[n].write([generator.gauss(0, 1) for _ in range(LENGTH * DIM)]) for n in ("q", "k", "v"))

    bundle = libattn.Library(os.path.join(BUILD, "lib", "libattn_runtime.so")).load(BUNDLE)
    args = libattn.make_args({n: t.view for n, t in tensors.items()}, {"scale": SCALE}, CPU, None)
    size = bundle.workspace_size(args)
    workspace = ctypes.create_string_buffer(b"\xff" * (size + 256))
    args.workspace, args.workspace_size = -(-ctypes.addressof(workspace) // 256) * 256, size
    bundle.launcher(args)()

    o, lse = tensors["o"].read(), tensors["lse"].read()
    bounds = numerics.Bounds(bundle.plan["variants"][0])
    share = lse_share = 0  # of the bounds
    for i in range(LENGTH):
        want, want_lse, magnitudes, size = attention(q, k, v, i)
        shares = [abs(got - x) / bounds.of_output(a, i + 1, size)
                  for got, x, a in zip(o[i * DIM:(i + 1) * DIM], want, magnitudes)]
        share = max([share] + shares)
        lse_share = max(lse_share, abs(lse[i] - want_lse) / bounds.of_lse(want_lse, i + 1, size))
    good = share <= 1 and lse_share <= 1
    print(f"{LENGTH} rows {'are right' if good else 'are wrong'}: {share:.3g} and {lse_share:.3g} of the bounds")

    # The same tensors, said to be on a GPU.
    args.device = libattn.DLDevice(libattn.CUDA, 0)
    try:
        bundle.launcher(args)()
        print("a CUDA launch on host memory passed")
    except RuntimeError as err:
        print(f"refused: {err}")


if __name__ == "__main__":
    main()
