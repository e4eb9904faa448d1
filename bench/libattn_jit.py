# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the C interface that compiles (libattn_jit.so), through ctypes."""

import ctypes
import os

import paths  # noqa: F401 (finds racing)
from racing import libattn

from attn._capi import CompileArgs, JitCounters

LOG_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def make_args(ir, target=None):
    """The arguments of a compilation; they keep their texts alive."""
    return CompileArgs(ctypes.sizeof(CompileArgs), ir.encode(), 0, target and target.encode())


class Compiler:
    """Both libraries of the build folder `build`."""

    def __init__(self, build):
        self.runtime = libattn.Library(os.path.join(build, "lib", "libattn_runtime.so"))
        self.c = ctypes.CDLL(os.path.join(build, "lib", "libattn_jit.so"))
        args, handle = ctypes.POINTER(CompileArgs), ctypes.POINTER(ctypes.c_void_p)
        self.c.attn_compile.argtypes = [args, handle]
        self.c.attn_cache_key.argtypes = [args, ctypes.c_char_p]
        self.c.attn_jit_count.argtypes = [ctypes.POINTER(JitCounters)]
        self.c.attn_jit_option.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        self.c.attn_jit_clear.restype = None
        self.runtime.c.attn_bundle_serialize.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        self.runtime.c.attn_set_log_callback.restype = None
        self.runtime.c.attn_set_log_callback.argtypes = [LOG_CALLBACK, ctypes.c_void_p]

    def set_option(self, name, value):
        self.runtime.check(self.c.attn_jit_option(name.encode(), str(value).encode()))

    def set_log(self, function):
        """Calls `function` with each message."""
        self.callback = LOG_CALLBACK(lambda level, message, user: function(message.decode()))
        self.runtime.c.attn_set_log_callback(self.callback, None)

    def compile(self, args):
        """The handle of a compiled bundle."""
        handle = ctypes.c_void_p()
        self.runtime.check(self.c.attn_compile(ctypes.byref(args), ctypes.byref(handle)))
        return handle

    def destroy(self, handle):
        self.runtime.c.attn_bundle_destroy(handle)

    def compile_to_bytes(self, args):
        """The file image of a compiled bundle."""
        handle, size = self.compile(args), ctypes.c_size_t()
        serialize = self.runtime.c.attn_bundle_serialize
        self.runtime.check(serialize(handle, None, 0, ctypes.byref(size)))
        image = ctypes.create_string_buffer(size.value)
        self.runtime.check(serialize(handle, image, size.value, ctypes.byref(size)))
        self.destroy(handle)
        return image.raw

    def key(self, args):
        key = ctypes.create_string_buffer(65)
        self.runtime.check(self.c.attn_cache_key(ctypes.byref(args), key))
        return key.value.decode()

    def clear(self):
        self.c.attn_jit_clear()

    def count(self):
        counters = JitCounters(ctypes.sizeof(JitCounters))
        self.runtime.check(self.c.attn_jit_count(ctypes.byref(counters)))
        return counters
