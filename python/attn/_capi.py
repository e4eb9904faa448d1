# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface (attn/runtime/attn.h) through ctypes: every declaration, and
how failures become exceptions. Nothing else in the package touches ctypes
prototypes."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Sequence

from ._errors import ArgumentError, AttnError, CompileError, DeviceError, UnsupportedError

CPU = 1  # kDLCPU: the simulator
CUDA = 2  # kDLCUDA
WORKSPACE_READY = 1  # ATTN_LAUNCH_WORKSPACE_READY
_ANY_ORDER = 1  # ATTN_COMPILE_ANY_ORDER

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


class CompileArgs(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("ir", ctypes.c_char_p),
        ("ir_size", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("schedule", ctypes.c_char_p),
        ("schedule_size", ctypes.c_size_t),
        ("instrument", ctypes.c_char_p),
        ("gradients", ctypes.POINTER(ctypes.c_char_p)),
        ("num_gradients", ctypes.c_size_t),
        ("flags", ctypes.c_uint64),
    ]


class JitCounters(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("memory_hits", ctypes.c_uint64),
        ("disk_hits", ctypes.c_uint64),
        ("compiles", ctypes.c_uint64),
        ("failures", ctypes.c_uint64),
        ("refused_entries", ctypes.c_uint64),
        ("compile_seconds", ctypes.c_double),
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
        ("flags", ctypes.c_uint64),
    ]


class ExchangeAPI(ctypes.Structure):
    """DLPackExchangeAPI of DLPack 1.3."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("managed_tensor_allocator", ctypes.c_void_p),
        ("managed_tensor_from_py_object_no_sync", ctypes.c_void_p),
        ("managed_tensor_to_py_object_no_sync", ctypes.c_void_p),
        ("dltensor_from_py_object_no_sync", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    ]


# Where the workspace of a launch with objects is: attn_object_workspace in runtime/lib/for_python.h.
NO_WORKSPACE, KEPT_WORKSPACE, GIVEN_WORKSPACE = range(3)


class _ObjectLaunchStruct(ctypes.Structure):
    _fields_ = [
        ("bundle", ctypes.c_void_p),
        ("api", ctypes.POINTER(ExchangeAPI)),
        ("heads_first", ctypes.c_int32),
        ("num_scalars", ctypes.c_size_t),
        ("scalars", ctypes.POINTER(ctypes.c_double)),
        ("workspace_kind", ctypes.c_int32),
        ("workspace", ctypes.c_void_p),
        ("workspace_size", ctypes.c_size_t),
        ("workspace_stream", ctypes.c_void_p),
        ("done", ctypes.py_object),
        ("failed", ctypes.py_object),
        ("elsewhere", ctypes.py_object),
    ]


_STATUS_ERRORS = {
    1: ArgumentError,
    2: CompileError,
    3: DeviceError,
    4: DeviceError,
    5: UnsupportedError,
    6: CompileError,
    7: CompileError,
    8: OSError,
}


def _library_folders() -> list[str]:
    """Where the libraries may be, best first: the folder that the environment
    names, the wheel's own, the build of a source tree, and the archive's, where this
    is share/attn/python/attn."""
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("ATTN_LIBRARY_DIR")
    others = ("lib", "../../build/lib", "../../../../lib")
    return [named] if named else [os.path.normpath(os.path.join(here, other)) for other in others]


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
    lib.attn_bundle_destroy.argtypes = [handle]
    lib.attn_bundle_destroy.restype = None
    lib.attn_bundle_plan.argtypes = [handle]
    lib.attn_bundle_plan.restype = ctypes.c_char_p
    lib.attn_bundle_prepare.argtypes = [handle, DLDevice]
    lib.attn_workspace_size.argtypes = [handle, args, ctypes.POINTER(ctypes.c_size_t)]
    lib.attn_launch.argtypes = [handle, args]
    lib.attn_simulator_option.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    lib.attn_internal_capture.argtypes = [ctypes.c_int32, ctypes.c_void_p]
    lib.attn_internal_capture.restype = ctypes.c_uint64
    lib.attn_internal_clear_in_graph.argtypes = [ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    lib.attn_internal_clear_in_graph.restype = ctypes.POINTER(ctypes.c_int32)
    lib.attn_internal_allow_allocation.argtypes = []
    lib.attn_internal_allow_allocation.restype = None
    return lib


@functools.lru_cache(maxsize=None)
def compiler() -> ctypes.CDLL:
    """libattn_jit.so: the compiler."""
    runtime()  # libattn_jit.so needs it
    lib = _load("libattn_jit.so")
    args = ctypes.POINTER(CompileArgs)
    lib.attn_compile.argtypes = [args, ctypes.POINTER(ctypes.c_void_p)]
    lib.attn_internal_compile_ahead.argtypes = [args, ctypes.POINTER(ctypes.c_void_p)]
    lib.attn_internal_give_up_ahead.argtypes = []
    lib.attn_internal_give_up_ahead.restype = None
    lib.attn_supports.argtypes = [args]
    lib.attn_explain.argtypes = [args, ctypes.POINTER(ctypes.c_char_p)]
    lib.attn_jit_count.argtypes = [ctypes.POINTER(JitCounters)]
    lib.attn_jit_option.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    return lib


def check(status: int) -> None:
    """Raises the exception for a `status` of the runtime, with its message."""
    if status:
        message = runtime().attn_last_error().decode(errors="replace")
        raise _STATUS_ERRORS.get(status, AttnError)(message)


def _compile_args(ir: str, target: str | None, gradients: Sequence[str] = (), any_order: bool = False) -> CompileArgs:
    names = (ctypes.c_char_p * len(gradients))(*[name.encode() for name in gradients])
    return CompileArgs(ctypes.sizeof(CompileArgs), ir.encode(), 0, target and target.encode(), gradients=names,
                       num_gradients=len(names), flags=_ANY_ORDER if any_order else 0)


def support_error(ir: str, target: str | None, gradients: Sequence[str] = (), any_order: bool = False) -> str:
    """Why the compiler cannot compile the module, or the gradients of these of its arguments, "" if it can."""
    status = compiler().attn_supports(ctypes.byref(_compile_args(ir, target, gradients, any_order)))
    return runtime().attn_last_error().decode(errors="replace") if status else ""


def explain(ir: str, target: str | None) -> str:
    """The compiler's decisions about the module, one per line."""
    text = ctypes.c_char_p()
    check(compiler().attn_explain(ctypes.byref(_compile_args(ir, target)), ctypes.byref(text)))
    return (text.value or b"").decode(errors="replace")


def give_up_ahead() -> None:
    """Makes the compilations of bundles `ahead` fail soon."""
    compiler().attn_internal_give_up_ahead()


def set_compiler_option(name: str, value: str) -> None:
    """Sets an option of the compiler for later calls, such as ("cache_dir", path);
    attn_jit_option in attn/runtime/attn.h lists them, with their environment variables."""
    check(compiler().attn_jit_option(name.encode(), value.encode()))


def compiler_counters() -> JitCounters:
    counters = JitCounters(ctypes.sizeof(JitCounters))
    check(compiler().attn_jit_count(ctypes.byref(counters)))
    return counters


class Bundle:
    """The kernels of a module and their launch plan, compiled or from the cache. A target of None is the compiler's default."""

    def __init__(self, ir: str, target: str | None, gradients: Sequence[str] = (), any_order: bool = False,
                 ahead: bool = False):
        """`gradients`: the arguments, by their names in the plan of `ir`, whose gradients the kernels compute instead.
        `any_order`: sums may be added in another order in each run. `ahead`: until `give_up_ahead`."""
        self.handle = ctypes.c_void_p()
        args = _compile_args(ir, target, gradients, any_order)
        compile = compiler().attn_internal_compile_ahead if ahead else compiler().attn_compile
        check(compile(ctypes.byref(args), ctypes.byref(self.handle)))
        self.launch_function, self._destroy = runtime().attn_launch, runtime().attn_bundle_destroy

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._destroy(self.handle)

    def plan(self) -> str:
        """The launch plan's JSON text."""
        return runtime().attn_bundle_plan(self.handle).decode()

    def prepare(self, device: DLDevice) -> None:
        check(runtime().attn_bundle_prepare(self.handle, device))

    def workspace_size(self, args: LaunchArgs) -> int:
        size = ctypes.c_size_t()
        check(runtime().attn_workspace_size(self.handle, ctypes.byref(args), ctypes.byref(size)))
        return size.value

    def launch(self, args: LaunchArgs) -> None:
        status = self.launch_function(self.handle, ctypes.byref(args))
        if status:
            check(status)


def set_simulator_option(name: str, value: str) -> None:
    """Sets an option of the simulator for later launches, such as ("seed", "7");
    attn_simulator_option in attn/runtime/attn.h lists them."""
    check(runtime().attn_simulator_option(name.encode(), value.encode()))


def capture_number(device: int, stream: int | None) -> int:
    """The number of the graph capture that a stream of a GPU takes part in; 0 if there is none, or the driver does not say."""
    return runtime().attn_internal_capture(device, stream)


def clear_in_graph(device: int, stream: int | None, address: int, size: int) -> Any:
    """Records that the graph that the stream records clears memory here. A ctypes integer that becomes 1 when the graph, and all
    that was made of it, is destroyed. None if the driver refuses."""
    found = runtime().attn_internal_clear_in_graph(device, stream, address, size)
    return found.contents if found else None


def allow_allocation() -> None:
    """Lets this thread allocate device memory while other threads capture graphs."""
    runtime().attn_internal_allow_allocation()


def version() -> str:
    """The version of the libraries, for example "0.1.0"."""
    return runtime().attn_version().decode()


# Reading a capsule of the DLPack protocol.


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_has_name = ctypes.pythonapi.PyCapsule_IsValid
_has_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("dl_tensor", DLTensor)]


_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY


def tensor_of_capsule(capsule: object) -> tuple[DLTensor, bool]:
    """The DLTensor inside a capsule of either version of DLPack, and whether it is read-only. The
    capsule is not consumed: the tensor lives as long as it does."""
    if _has_name(capsule, b"dltensor"):
        return _DLManagedTensor.from_address(_pointer_of(capsule, b"dltensor")).dl_tensor, False
    found = _DLManagedTensorVersioned.from_address(_pointer_of(capsule, b"dltensor_versioned"))
    return found.dl_tensor, bool(found.flags & _READ_ONLY)


# Launches with objects of Python: runtime/lib/for_python.h.

_METH_FASTCALL = 0x80
_PYTHON = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyCapsule_GetPointer", "Py_IncRef")


def exchange_api(kind: type) -> ExchangeAPI | None:
    """The interface for reading objects of this class of tensors, None if the class has none."""
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if capsule is None:
        return None
    api = ExchangeAPI.from_address(_pointer_of(capsule, b"dlpack_exchange_api"))
    return api if api.major == 1 and api.dltensor_from_py_object_no_sync and api.current_work_stream else None


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


@functools.lru_cache(maxsize=None)
def _launch_objects() -> _MethodDef:
    functions = (ctypes.c_void_p * len(_PYTHON))(*[_address(getattr(ctypes.pythonapi, name)) for name in _PYTHON])
    runtime().attn_internal_set_python(functions)
    return _MethodDef(b"launch_objects", _address(runtime().attn_internal_launch_objects), _METH_FASTCALL, None)


def _address(function: Any) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value


class ObjectLaunch:
    """A launch, except for its tensors. `function` takes these and a GIVEN_WORKSPACE, as objects of the framework that
    `api` belongs to. It returns whether it has launched, or None if it first needs a KEPT_WORKSPACE for
    the stream."""

    def __init__(self, bundle: Bundle, api: ExchangeAPI, heads_first: bool, args: LaunchArgs, workspace_kind: int):
        """`args` has the scalars, and outlives this."""
        self._struct = _ObjectLaunchStruct(bundle.handle, ctypes.pointer(api), heads_first, args.num_scalars, args.scalars,
                                           workspace_kind, None, 0, None, True, False, None)
        capsule = _new_capsule(ctypes.addressof(self._struct), b"attn_object_launch", None)
        self.function = _new_function(ctypes.byref(_launch_objects()), capsule, None)

    def set_workspace(self, address: int, size: int, stream: int | None) -> None:
        """Memory that is ready: zeroed, or as launches of this bundle left it."""
        struct = self._struct
        struct.workspace, struct.workspace_size, struct.workspace_stream = address, size, stream


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
_new_function.restype = ctypes.py_object
