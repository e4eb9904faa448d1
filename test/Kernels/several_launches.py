#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a forward pass and the statistics of its rows, launched by one call, with the same
two kernels launched by a call each. On the simulator each problem runs under a schedule of its
own, and a hazard is an error."""

import argparse
import array
import math
import os
import random
import subprocess
import sys

from launching import Device, bf16, launch, libattn

DIM = 64
TILE, ROWS = "tensor<?x?x?x64xbf16>", "tensor<?x?x?xf32>"
INPUTS = f"%q: {TILE}, %k: {TILE}, %v: {TILE}, %scale: f32"
ATTENTION = ("%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd) : "
             f"({TILE}, {TILE}, {TILE}) -> ({TILE}, {ROWS})\n")
DELTA = f"%dl, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : ({TILE}, {ROWS}) -> {ROWS}\n"
TYPES = {"o": TILE, "lse": ROWS, "dl": ROWS, "lse2": ROWS}
# Lengths of queries and keys on both sides of the borders between variants.
LENGTHS = ((1, 1), (5, 40), (100, 100), (130, 700), (64, 1100), (0, 10))


def function(inputs, body, results):
    types = ", ".join(TYPES[name] for name in results)
    names = ", ".join(f"%{name}" for name in results)
    return f"func.func @f({inputs}) -> ({types}) {{\n{body}return {names} : {types}\n}}\n"


class Compiler:
    def __init__(self, args):
        self.tool, self.folder, self.runtime = args.compile, args.folder, libattn.Library(args.runtime)
        os.makedirs(args.folder, exist_ok=True)

    def bundle(self, name, *parts):
        path = os.path.join(self.folder, name)
        with open(path + ".mlir", "w", encoding="utf-8") as file:
            file.write(function(*parts))
        subprocess.run([self.tool, path + ".mlir", "-o", path + ".attn"], check=True, env={**os.environ, "ATTN_PTXAS": "none"})
        return self.runtime.load(path + ".attn")


class Problem:
    def __init__(self, seed, queries, keys):
        generator = random.Random(seed)
        b, h = 2, 2
        self.shapes = {"q": (b, queries, h, DIM), "k": (b, keys, h, DIM), "v": (b, keys, h, DIM), "do": (b, queries, h, DIM),
                       "o": (b, queries, h, DIM), "lse": (b, h, queries), "dlse": (b, h, queries),
                       "dl": (b, h, queries), "lse2": (b, h, queries)}
        self.data = {name: array.array("H", [bf16(generator.gauss(0, 1)) for _ in range(math.prod(self.shapes[name]))]).tobytes()
                     for name in ("q", "k", "v", "do")}
        self.data["dlse"] = array.array("f", [generator.gauss(0, 1) for _ in range(math.prod(self.shapes["dlse"]))]).tobytes()

    def run(self, bundles, device, results):
        """The bytes of the results."""
        sizes = {name: math.prod(self.shapes[name]) * (2 if TYPES[name] == TILE else 4) for name in TYPES}
        memory = {name: device.place(data) for name, data in self.data.items()}
        memory.update((name, device.place(b"\xff" * size)) for name, size in sizes.items())
        for bundle in bundles:
            launch(bundle, device, self.shapes, {"scale": 0.1}, memory)
        got = {name: device.read(memory[name], sizes[name]) for name in results}
        device.clear()
        return got


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", required=True, help="libattn_runtime.so")
    parser.add_argument("--compile", required=True, help="attn-compile")
    parser.add_argument("--folder", required=True, help="for bundles")
    parser.add_argument("--device", choices=["sim", "cuda"], default="sim")
    args = parser.parse_args()
    compiler, device = Compiler(args), Device(args.device)
    gradients = f"%do: {TILE}, %dlse: {ROWS}"
    apart = [compiler.bundle("forward", INPUTS, ATTENTION, ("o", "lse")),
             compiler.bundle("delta", f"%o: {TILE}, %lse: {ROWS}, {gradients}", DELTA, ("dl", "lse2"))]
    calls = 0
    all_results = (("o", "lse", "dl", "lse2"), ("dl", "lse2"))
    for results in all_results:
        joined = compiler.bundle("joined", f"{INPUTS}, {gradients}", ATTENTION + DELTA, results)
        for seed, lengths in enumerate(LENGTHS):
            compiler.runtime.set_simulator("seed", str(seed))
            problem = Problem(seed, *lengths)
            want, got = problem.run(apart, device, results), problem.run([joined], device, results)
            different = [name for name in results if want[name] != got[name]]
            if different:
                sys.exit(f"{lengths[0]} queries, {lengths[1]} keys: other {', '.join(different)} from one call")
            calls += 1
    print(f"{len(all_results)} functions, {calls} calls: the same bits as from two calls each")


if __name__ == "__main__":
    main()
