# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches bundles of kernels that attn-run has no reference for, on the simulator or a GPU."""

import array
import ctypes
import math
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "test", "probes")]
from racing import libattn

ALIGNMENT = 256


def bf16(value):
    """The nearest bf16, to even, as its 16 bits."""
    word = struct.unpack("<I", struct.pack("<f", value))[0]
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16


def floats_of_bf16(words):
    return array.array("f", array.array("I", (w << 16 for w in words)).tobytes())


class Device:
    """The device that runs the kernels; `place` copies bytes to it and returns their address."""

    def __init__(self, name):
        self.driver = None
        if name == "cuda":
            from cuda import Driver
            self.driver = Driver()
        self.device = libattn.DLDevice(libattn.CUDA if self.driver else libattn.CPU, 0)
        self.held = []

    def place(self, data):
        if self.driver:
            self.held.append(self.driver.upload(data))
            return self.held[-1].value
        self.held.append(ctypes.create_string_buffer(len(data) + ALIGNMENT))
        address = -(-ctypes.addressof(self.held[-1]) // ALIGNMENT) * ALIGNMENT
        ctypes.memmove(address, data, len(data))
        return address

    def read(self, address, size):
        if not self.driver:
            return ctypes.string_at(address, size)
        self.driver.call("cuCtxSynchronize")
        return self.driver.download(ctypes.c_uint64(address), size)

    def clear(self):
        if self.driver:
            for pointer in self.held:
                self.driver.free(pointer)
        self.held = []


def launch(bundle, device, shapes, scalars, memory):
    """Launches a kernel: shape, value and address of each argument are found by its name."""
    views = {}
    for arg in bundle.plan["args"]:
        if arg["kind"] == "tensor":
            shape = shapes[arg["name"]]
            strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
            views[arg["name"]] = libattn.make_tensor(memory[arg["name"]], device.device, arg["dtype"], shape, strides)
    names = bundle.argument_names()[1]
    args = libattn.make_args(views, {n: scalars[n] for n in names}, device.device, None)
    args.workspace_size = bundle.workspace_size(args)
    # No kernel may rely on the workspace's content.
    args.workspace = device.place(b"\xff" * args.workspace_size) if args.workspace_size else None
    bundle.launcher(args)()
    return args.workspace_size
