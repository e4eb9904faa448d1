# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch files of attn-run for kernels of other compilers: inputs, parameters, and outputs that
float64 says. Needs numpy."""

import json
import os

import numpy as np

# What hide() takes for a causal mask.
CAUSAL = (np.inf, 0)


def to_bf16(values):
    """The bits of `values`, rounded to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


class Launch:
    """A launch file NAME.json in `folder`, with its arrays beside it."""

    def __init__(self, folder, name, grid, block, shared, cluster=None):
        self.folder = folder
        self.name = name
        self.file = {"grid": list(grid), "block": list(block), "shared": shared, "buffers": {}, "params": [], "outputs": []}
        if cluster:
            self.file["cluster"] = list(cluster)

    def save(self, name, array):
        file = f"{self.name}.{name}.npy"
        np.save(os.path.join(self.folder, file), array)
        return {"file": file}

    def add_input(self, name, values):
        """A buffer of bf16; returns the values that it has in float64."""
        bits = to_bf16(values)
        self.file["buffers"][name] = {"type": "bf16", "shape": list(bits.shape), "fill": self.save(name, bits)}
        return from_bf16(bits)

    def add_buffer(self, name, values):
        """A buffer of f32."""
        self.file["buffers"][name] = {"type": "f32", "shape": list(values.shape),
                                      "fill": self.save(name, values.astype(np.float32))}

    def add_integers(self, name, values):
        """A buffer of s32."""
        self.file["buffers"][name] = {"type": "s32", "shape": list(values.shape),
                                      "fill": self.save(name, values.astype(np.int32))}

    def add_output(self, name, kind, expected, absolute, relative):
        """A buffer of bf16 or f32 that the kernel writes as a whole."""
        bits = to_bf16(expected) if kind == "bf16" else expected.astype(np.float32)
        self.file["buffers"][name] = {"type": kind, "shape": list(bits.shape), "fill": "poison"}
        self.file["outputs"].append({"buffer": name, "expect": self.save(name, bits), "absolute": absolute,
                                     "relative": relative})

    def add_params(self, *params):
        self.file["params"] += params

    def write(self):
        with open(os.path.join(self.folder, self.name + ".json"), "w", encoding="utf-8") as file:
            json.dump(self.file, file, indent=1)


def hide(scores, before, behind):
    """Hides, in (heads, rows, keys), the keys more than `before` before a row's own key or more than `behind` behind
    it. The last row's own key is the last."""
    rows, keys = scores.shape[1:]
    distance = np.arange(keys)[None, :] - (np.arange(rows)[:, None] + keys - rows)
    scores[:, (distance < -before) | (distance > behind)] = -np.inf


def attention(q, k, v, scale, window):
    """(heads, rows, dim) arrays in float64 to O and LSE. `window`: what hide() takes, or None."""
    scores = q @ np.swapaxes(k, 1, 2) * scale
    if window:
        hide(scores, *window)
    top = scores.max(axis=2, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=2, keepdims=True)
    return weights @ v / total, (top + np.log(total))[:, :, 0]
