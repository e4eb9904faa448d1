# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests of the Python package: the package itself, and tensors
in host memory that need no library."""

import ctypes
import math
import os
import random
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# With ATTN_INSTALLED, the package and the libraries that are installed.
if not os.environ.get("ATTN_INSTALLED"):
    BUILD = os.environ.get("ATTN_BUILD", os.path.join(ROOT, "build"))
    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.join(BUILD, "lib"))
    os.environ.setdefault("ATTN_CACHE_DIR", os.path.join(BUILD, "test", "kernels"))

from attn import _capi

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
_FORMATS = {"f16": "e", "bf16": "H", "f32": "f", "f64": "d", "bool": "?", "u8": "B", "i8": "b", "i16": "h", "i32": "i",
            "i64": "q"}


def bf16_bits(value):
    """The bits of the nearest bf16, ties to even."""
    bits, = struct.unpack("I", struct.pack("f", value))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def from_bf16(bits):
    return struct.unpack("f", struct.pack("I", bits << 16))[0]


def packed(shape):
    return [math.prod(shape[n + 1:]) for n in range(len(shape))]


class HostTensor:
    """A tensor with __dlpack__, row-major unless `strides` are given."""

    def __init__(self, dtype, shape, values=None, strides=None):
        self.dtype, self.shape = dtype, tuple(shape)
        self.strides = list(strides or packed(shape))
        self._format = _FORMATS[dtype]
        self._item = struct.calcsize(self._format)
        reach = 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        self._memory = ctypes.create_string_buffer(reach * self._item + 16)
        self.address = -(-ctypes.addressof(self._memory) // 16) * 16
        for index, value in zip(self.indices(), values or ()):
            self[index] = value

    def indices(self):
        for n in range(math.prod(self.shape)):
            yield tuple(n // step % size for step, size in zip(packed(self.shape), self.shape))

    def _offset(self, index):
        return self.address + self._item * sum(i * stride for i, stride in zip(index, self.strides))

    def __getitem__(self, index):
        value, = struct.unpack(self._format, ctypes.string_at(self._offset(index), self._item))
        return from_bf16(value) if self.dtype == "bf16" else value

    def __setitem__(self, index, value):
        value = bf16_bits(value) if self.dtype == "bf16" else value
        ctypes.memmove(self._offset(index), struct.pack(self._format, value), self._item)

    def __dlpack_device__(self):
        return _capi.CPU, 0

    def __dlpack__(self, **_):
        rank = len(self.shape)
        code, bits = _capi.DTYPE_CODES[self.dtype]
        self._managed = _capi._DLManagedTensor(_capi.DLTensor(
            self.address, _capi.DLDevice(_capi.CPU, 0), rank, _capi.DLDataType(code, bits, 1),
            (ctypes.c_int64 * rank)(*self.shape), (ctypes.c_int64 * rank)(*self.strides), 0))
        return _new_capsule(ctypes.addressof(self._managed), b"dltensor", None)


def gaussian(shape, seed, strides=None):
    generator = random.Random(seed)
    return HostTensor("f16", shape, [generator.gauss(0, 1) for _ in range(math.prod(shape))], strides)


def expected_row(q, k, v, batch, head, i, allow=lambda j: True, score=lambda s, j: s):
    """Row i of out and of lse, in floats, for tensors (batch, position, head, dim)."""
    dim, kv_head = q.shape[3], head // (q.shape[2] // k.shape[2])
    keys = [j for j in range(k.shape[1]) if allow(j)]
    scores = [score(sum(q[batch, i, head, c] * k[batch, j, kv_head, c] for c in range(dim)) / math.sqrt(dim), j)
              for j in keys]
    if not keys:
        return [0.0] * v.shape[3], -math.inf
    most = max(scores)
    weights = [math.exp(s - most) for s in scores]
    total = sum(weights)
    row = [sum(w * v[batch, j, kv_head, c] for w, j in zip(weights, keys)) / total for c in range(v.shape[3])]
    return row, most + math.log(total)
