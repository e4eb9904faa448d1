# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the runtime's C interface (attn/runtime/attn.h) that the
benchmarks and attn-tune use, through ctypes."""

import ctypes
import json
import os
import sys

# Of the tree that this file is in, not one that is installed.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "python"))
# Those who import this module find these here, too.
from attn._capi import CPU, CUDA, DTYPE_CODES, DLDataType, DLDevice, DLTensor, LaunchArgs, WORKSPACE_READY  # noqa: F401


def as_device(device):
    """A DLDevice, from one or from the number of a CUDA device."""
    return device if isinstance(device, DLDevice) else DLDevice(CUDA, device)


def make_tensor(pointer, device, dtype, shape, strides):
    """A DLTensor on `device`, of as_device; it keeps its shape alive."""
    shape_array = (ctypes.c_int64 * len(shape))(*shape)
    strides_array = (ctypes.c_int64 * len(strides))(*strides)
    code, bits = DTYPE_CODES[dtype]
    tensor = DLTensor(pointer, as_device(device), len(shape), DLDataType(code, bits, 1),
                      shape_array, strides_array, 0)
    tensor.keep = (shape_array, strides_array)
    return tensor


def make_args(tensors, scalars, device, stream):
    """The arguments of one call on `device`, of as_device, from {name: DLTensor}
    and {name: number}; they keep what they point to alive."""
    pointers = (ctypes.POINTER(DLTensor) * len(tensors))(*[ctypes.pointer(t) for t in tensors.values()])
    tensor_names = (ctypes.c_char_p * len(tensors))(*[n.encode() for n in tensors])
    values = (ctypes.c_double * len(scalars))(*scalars.values())
    scalar_names = (ctypes.c_char_p * len(scalars))(*[n.encode() for n in scalars])
    args = LaunchArgs(ctypes.sizeof(LaunchArgs), len(tensors), pointers, tensor_names,
                      len(scalars), values, scalar_names, as_device(device), stream, None, 0, 0)
    args.keep = (list(tensors.values()), pointers, tensor_names, values, scalar_names)
    return args


def by_name(plan, values):
    """{name: value} of a plan's arguments, from {role: value}; arguments of one role have one value."""
    return {a["name"]: values[a["role"]] for a in plan["args"] if a.get("role") in values}


class Library:
    """libattn_runtime.so"""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.attn_version.restype = ctypes.c_char_p
        self.c.attn_last_error.restype = ctypes.c_char_p
        self.c.attn_bundle_plan.restype = ctypes.c_char_p
        self.c.attn_bundle_plan.argtypes = [ctypes.c_void_p]
        self.c.attn_bundle_destroy.restype = None
        self.c.attn_bundle_destroy.argtypes = [ctypes.c_void_p]
        self.c.attn_bundle_load.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t,
                                            ctypes.POINTER(ctypes.c_void_p)]
        self.c.attn_bundle_prepare.argtypes = [ctypes.c_void_p, DLDevice]
        self.c.attn_workspace_size.argtypes = [ctypes.c_void_p, ctypes.POINTER(LaunchArgs),
                                               ctypes.POINTER(ctypes.c_size_t)]
        self.c.attn_choose_variant.argtypes = [ctypes.c_void_p, ctypes.POINTER(LaunchArgs),
                                               ctypes.POINTER(ctypes.c_size_t)]
        self.c.attn_launch.argtypes = [ctypes.c_void_p, ctypes.POINTER(LaunchArgs)]
        self.version = self.c.attn_version().decode()

    def check(self, status):
        if status:
            raise RuntimeError(f"status {status}: {self.c.attn_last_error().decode(errors='replace')}")

    def set_simulator(self, option, value):
        self.check(self.c.attn_simulator_option(option.encode(), value.encode()))

    def load(self, path):
        handle = ctypes.c_void_p()
        self.check(self.c.attn_bundle_load(str(path).encode(), None, 0, ctypes.byref(handle)))
        return Bundle(self, handle)


class Bundle:
    """A loaded bundle; it lives as long as the process."""

    def __init__(self, library, handle):
        self.runtime, self.handle = library, handle
        self.plan = json.loads(library.c.attn_bundle_plan(handle).decode())

    def argument_names(self):
        """Returns the names of the plan's tensors and of its scalars."""
        tensors = [a["name"] for a in self.plan["args"] if a["kind"] == "tensor"]
        return tensors, [a["name"] for a in self.plan["args"] if a["kind"] != "tensor"]

    def prepare(self, device):
        self.runtime.check(self.runtime.c.attn_bundle_prepare(self.handle, DLDevice(CUDA, device)))

    def choose_variant(self, args):
        """The number of the plan's variant that a launch runs."""
        number = ctypes.c_size_t()
        self.runtime.check(self.runtime.c.attn_choose_variant(self.handle, ctypes.byref(args), ctypes.byref(number)))
        return number.value

    def workspace_size(self, args):
        size = ctypes.c_size_t()
        self.runtime.check(self.runtime.c.attn_workspace_size(self.handle, ctypes.byref(args), ctypes.byref(size)))
        return size.value

    def launcher(self, args):
        """Returns a function that launches with `args`, and does little else."""
        launch, handle, pointer, check = self.runtime.c.attn_launch, self.handle, ctypes.pointer(args), self.runtime.check

        def call():
            status = launch(handle, pointer)
            if status:
                check(status)

        return call
