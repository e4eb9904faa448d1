#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs sum_parts_d128.mlir on random problems: the sums are those of f32 in the order of the
parts, bit for bit. On the simulator each problem runs under a schedule of its own."""

import argparse
import array
import math
import random
import struct
import sys

from launching import Device, bf16, launch, libattn

DIM = 128


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def check(bundle, device, seed):
    generator = random.Random(seed)
    parts, *shape = (generator.randint(least, most) for least, most in ((0, 4), (1, 2), (1, 140), (1, 3)))
    shape += [DIM]
    count = math.prod(shape)
    numbers = array.array("f", (generator.gauss(0, 1) for _ in range(parts * count)))
    want = [0.0] * count
    for part in reversed(range(parts)):
        want = [f32(a + b) for a, b in zip(want, numbers[part * count:(part + 1) * count])]
    # What is not written stays a NaN.
    memory = {"x_part": device.place(numbers.tobytes()), "x": device.place(b"\xff" * (2 * count))}
    launch(bundle, device, {"x_part": (parts, *shape), "x": shape}, {}, memory)
    got = array.array("H", device.read(memory["x"], 2 * count))
    device.clear()
    wrong = sum(a != bf16(b) for a, b in zip(got, want))
    if wrong:
        sys.exit(f"seed {seed}: {parts} parts of {shape}: {wrong} of {count} elements are wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", required=True, help="libattn_runtime.so")
    parser.add_argument("--bundle", required=True, help="the bundle of sum_parts_d128.mlir")
    parser.add_argument("--device", choices=["sim", "cuda"], default="sim")
    parser.add_argument("--seeds", type=int, default=16)
    args = parser.parse_args()
    library = libattn.Library(args.runtime)
    bundle, device = library.load(args.bundle), Device(args.device)
    for seed in range(args.seeds):
        if args.device == "sim":
            library.set_simulator("seed", str(seed))
        check(bundle, device, seed)
    print(f"sum of parts: {args.seeds} problems right")


if __name__ == "__main__":
    main()
