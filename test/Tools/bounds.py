#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how --check uses the numerics contract of a bundle's plan.

usage: bounds.py BUILD FOLDER

Kernels of several types and schedules keep their contracts, in problems whose exponentials
and sums differ, and so do those of backward passes. A contract that is stricter than its kernel is
noticed: --check fails where the bounds of a result become 0. A plan without one is refused."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "Inputs")]
import attention_ir
import edit_bundle
import regions

# Name: options of Inputs/attention_ir.py, and a schedule of test/Schedules or None.
KERNELS = {
    "bf16": (["--mask=causal_bottom_right"], None),
    "f16": (["--dtype=f16", "--head-dim=64"], None),
    "wide": (["--head-dim=256"], None),
    "running": (["--mask=causal_top_left"], "dynamic_d128"),
    "integer": (["--head-dim=64", "--mask=causal_top_left"], "integer_max"),
    "polynomials": (["--dtype=f16", "--mask=causal_top_left"], "exp2_soft_eighth"),
    "parts": (["--head-dim=64", "--mask=causal_top_left"], "last_wave"),
}
PROBLEMS = {"usual": [], "spiked": ["--inputs=spike-key:7:20"], "low": ["--inputs=low"], "steep": ["--scale=0.7"]}
# Which bounds become 0, and what --check then says.
FAULTS = {
    "O": (["o_relative", "o_per_key", "flush", "score_relative"], "check: expected O to be "),
    "LSE": (["lse_relative", "lse_absolute", "lse_per_root_key", "score_relative"], "check: expected LSE to be "),
}
# The same of backward passes.
GRADIENTS = {
    "gradients": (["--mask=causal_bottom_right"], None),
    "gradients, f16": (["--dtype=f16", "--head-dim=64"], None),
    "gradients, wide": (["--head-dim=192"], None),
}
GRADIENT_PROBLEMS = {"usual": [], "steep": ["--scale=0.7"]}
GRADIENT_FAULTS = {"gradients": (["rounding", "least"], "check: expected d")}


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def without(data, keys):
    """The bundle with these bounds of every variant 0."""
    for key in keys:
        for number in re.findall(rb'"%s":([^,}]*)' % key.encode(), bytes(data)):
            old = b'"%s":%s' % (key.encode(), number)
            data = edit_bundle.replace(data, old, b'"%s":0' % key.encode())
    return data


class Kernel:
    """A kernel, or the kernels of a backward pass."""

    def __init__(self, name, options, schedule, build, folder):
        parsed = attention_ir.parse(options)
        source = write(os.path.join(folder, f"{name}.mlir"), attention_ir.write(parsed).encode())
        self.name, self.folder = name, folder
        self.bundle = os.path.join(folder, f"{name}.attn")
        self.compile = [os.path.join(build, "bin", "attn-compile"), source, "-o", self.bundle]
        if schedule:
            self.compile.append(f"--schedule={os.path.join(ROOT, 'test', 'Schedules', schedule + '.mlir')}")
        self.run = [os.path.join(build, "bin", "attn-run"), "--device=sim", f"--q=1x150x2x{parsed.head_dim}",
                    f"--kv=1x300x1x{parsed.head_dim}", "--check"]

    def find_problems(self, problems, faults, *options):
        ok, text = regions.call(*self.compile, *options)
        if not ok:
            return [text]
        wrong = []
        for problem, more in problems.items():
            ok, text = regions.call(*self.run, *more, self.bundle)
            share = re.search(r"; (\S+) and (\S+) of their bounds", text)
            print(f"{self.name}, {problem}: {share[1]} and {share[2]} of the bounds" if ok else f"{self.name}, {problem}: no")
            wrong += [] if ok else [text]
        with open(self.bundle, "rb") as file:
            data = file.read()
        for what, (keys, said) in faults.items():
            ok, text = regions.call(*self.run, write(os.path.join(self.folder, f"{self.name}.broken.attn"), without(data, keys)))
            if ok or said not in text:
                wrong.append(f"bounds of {what} that promise too much are not noticed\n{text}")
        return wrong


def main():
    build, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, of in KERNELS.items():
        for problem in Kernel(name, *of, build, folder).find_problems(PROBLEMS, FAULTS):
            print(f"FAILED: {name}: {problem}")
    for name, of in GRADIENTS.items():
        for problem in Kernel(name, *of, build, folder).find_problems(GRADIENT_PROBLEMS, GRADIENT_FAULTS, "--bwd"):
            print(f"FAILED: {name}: {problem}")
    with open(os.path.join(folder, "bf16.attn"), "rb") as file:
        data = bytearray(file.read())
    for contract in re.findall(rb'"numerics":\{[^}]*\},', bytes(data)):
        data = edit_bundle.replace(data, contract, b"")
    write(os.path.join(folder, "older.attn"), data)


if __name__ == "__main__":
    main()
