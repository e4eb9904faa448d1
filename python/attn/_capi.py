# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface (attn/runtime/attn.h) through ctypes: every declaration, and
how failures become exceptions. Nothing else in the package touches ctypes
prototypes."""

from __future__ import annotations

import ctypes
import functools
import os
import tempfile

from ._errors import ArgumentError, AttnError, CompileError, DeviceError, UnsupportedError

CPU = 1  # kDLCPU: the simulator
CUDA = 2  # kDLCUDA

# kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLBool with their bits.
DTYPE_CODES = {
    "bf16": (4, 16), "f16": (2, 16), "f32": (2, 32), "f64": (2, 64), "bool": (6, 8), "u8": (1, 8),
    "i8": (0, 8), "i16": (0, 16), "i32": (0, 32), "i64": (0, 64),
}
DTYPE_NAMES = {code: name for name, code in DTYPE_CODES.items()}


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class LaunchArgs(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("num_tensors", ctypes.c_size_t),
        ("tensors", ctypes.POINTER(ctypes.POINTER(DLTensor))),
        ("tensor_names", ctypes.POINTER(ctypes.c_char_p)),
        ("num_scalars", ctypes.c_size_t),
        ("scalars", ctypes.POINTER(ctypes.c_double)),
        ("scalar_names", ctypes.POINTER(ctypes.c_char_p)),
        ("device", DLDevice),
        ("stream", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("workspace_size", ctypes.c_size_t),
    ]


_STATUS_ERRORS = {1: ArgumentError, 2: CompileError, 3: DeviceError, 4: DeviceError, 5: UnsupportedError}
_MESSAGE_SIZE = 1 << 16


def _library_folders() -> list[str]:
    """Where the libraries may be, best first: the folder that the environment
    names, the wheel's own, and the build of a source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("ATTN_LIBRARY_DIR")
    built = os.path.join(os.path.dirname(os.path.dirname(here)), "build", "lib")
    return [named] if named else [os.path.join(here, "lib"), built]


def _load(name: str) -> ctypes.CDLL:
    folders = _library_folders()
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return ctypes.CDLL(path)
    raise AttnError(f"{name} is in none of {', '.join(folders)}; set ATTN_LIBRARY_DIR to the folder that has it")


@functools.lru_cache(maxsize=None)
def runtime() -> ctypes.CDLL:
    """libattn_runtime.so: loads bundles and launches them."""
    lib = _load("libattn_runtime.so")
    handle, args = ctypes.c_void_p, ctypes.POINTER(LaunchArgs)
    lib.attn_version.restype = ctypes.c_char_p
    lib.attn_last_error.restype = ctypes.c_char_p
    lib.attn_bundle_load.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(handle)]
    lib.attn_bundle_destroy.argtypes = [handle]
    lib.attn_bundle_destroy.restype = None
    lib.attn_bundle_plan.argtypes = [handle]
    lib.attn_bundle_plan.restype = ctypes.c_char_p
    lib.attn_bundle_prepare.argtypes = [handle, DLDevice]
    lib.attn_workspace_size.argtypes = [handle, args, ctypes.POINTER(ctypes.c_size_t)]
    lib.attn_launch.argtypes = [handle, args]
    lib.attn_simulator_option.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    return lib


@functools.lru_cache(maxsize=None)
def compiler() -> ctypes.CDLL:
    """libattn_jit.so: the compiler."""
    lib = _load("libattn_jit.so")
    lib.attn_jit_compile_file.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool,
                                          ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    return lib


def check(status: int) -> None:
    """Raises what `status` of the runtime stands for, with its message."""
    if status:
        message = runtime().attn_last_error().decode(errors="replace")
        raise _STATUS_ERRORS.get(status, AttnError)(message)


def compile_ir(ir: str, target: str) -> bytes:
    """Compiles the text of a module to the bytes of a bundle."""
    with tempfile.TemporaryDirectory() as folder:
        source, bundle = os.path.join(folder, "attention.mlir"), os.path.join(folder, "attention.attn")
        with open(source, "w", encoding="utf-8") as file:
            file.write(ir)
        message = ctypes.create_string_buffer(_MESSAGE_SIZE)
        status = compiler().attn_jit_compile_file(source.encode(), target.encode(), None, False, bundle.encode(),
                                                  message, len(message))
        if status:
            raise CompileError(message.value.decode(errors="replace").replace(folder + os.sep, "").rstrip())
        with open(bundle, "rb") as file:
            return file.read()


class Bundle:
    """A loaded bundle: kernels and their launch plan."""

    def __init__(self, content: bytes):
        self._handle = ctypes.c_void_p()
        check(runtime().attn_bundle_load(None, content, len(content), ctypes.byref(self._handle)))
        self._launch, self._destroy = runtime().attn_launch, runtime().attn_bundle_destroy

    def __del__(self):
        if getattr(self, "_handle", None):
            self._destroy(self._handle)

    def plan(self) -> str:
        """The launch plan's JSON text."""
        return runtime().attn_bundle_plan(self._handle).decode()

    def prepare(self, device: DLDevice) -> None:
        check(runtime().attn_bundle_prepare(self._handle, device))

    def workspace_size(self, args: LaunchArgs) -> int:
        size = ctypes.c_size_t()
        check(runtime().attn_workspace_size(self._handle, ctypes.byref(args), ctypes.byref(size)))
        return size.value

    def launch(self, args: LaunchArgs) -> None:
        status = self._launch(self._handle, ctypes.byref(args))
        if status:
            check(status)


def set_simulator_option(name: str, value: str) -> None:
    check(runtime().attn_simulator_option(name.encode(), value.encode()))


def version() -> str:
    return runtime().attn_version().decode()


# Reading a capsule of the DLPack protocol.


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def tensor_of_capsule(capsule: object) -> DLTensor:
    """The DLTensor inside a capsule named "dltensor". The capsule is not
    consumed: the tensor lives as long as it does."""
    address = _pointer_of(capsule, b"dltensor")
    return _DLManagedTensor.from_address(address).dl_tensor
