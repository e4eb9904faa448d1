# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of any library as the runtime sees them: address, device, element
type, shape and strides. torch tensors are read directly, others through
DLPack. Nothing is copied."""

from __future__ import annotations

import concurrent.futures
import ctypes
import functools
import sys
from typing import Any, Callable, NamedTuple, Sequence

from . import _capi, _torch_rules
from ._errors import ArgumentError, UnsupportedError

_LONG_NAMES = {
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64", "bool": "bool", "uint8": "u8",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
}

# Libraries whose tensors must not be written, although their capsules do not say so.
_IMMUTABLE = ("jax", "jaxlib")

WORKSPACE_ALIGNMENT = 256


class View(NamedTuple):
    """One tensor, as strided memory. `owner` (the library's tensor, or another object) and
    `capsule` keep the memory alive."""

    pointer: int
    device: tuple[int, int]  # DLPack's device type, and its number
    dtype: str
    shape: Sequence[int]
    strides: Sequence[int]  # elements
    owner: Any
    capsule: Any = None
    read_only: bool = False

    def swap(self, a: int, b: int) -> View:
        """The same with two dims exchanged."""
        order = list(range(len(self.shape)))
        order[a], order[b] = b, a
        return self._replace(shape=[self.shape[n] for n in order], strides=[self.strides[n] for n in order])

    def expand(self, *shape: int) -> View:
        """The same with dims of size 1 repeated to `shape`, and new ones before."""
        missing = len(shape) - len(self.shape)
        old, steps = [1] * missing + list(self.shape), [0] * missing + list(self.strides)
        strides = [step if size == wanted else 0 for size, wanted, step in zip(old, shape, steps)]
        return self._replace(shape=shape, strides=strides)


def torch_module() -> Any:
    """torch where the program has imported it, else None."""
    return sys.modules.get("torch")


def is_compiling() -> bool:
    """Whether torch.compile is tracing the caller."""
    torch = torch_module()
    return torch is not None and torch.compiler.is_compiling()


def is_torch(tensor: object) -> bool:
    torch = torch_module()
    return torch is not None and isinstance(tensor, torch.Tensor)


def is_tensor(value: object) -> bool:
    return is_torch(value) or hasattr(value, "__dlpack__")


def view(tensor: Any, name: str, stream: int | None = None) -> View:
    """The view of `tensor`; `name` is for messages. `stream` is the CUDA stream
    on which it is going to be used."""
    if isinstance(tensor, View):
        return tensor
    if is_torch(tensor):
        return _view_of_torch(tensor, name)
    if not hasattr(tensor, "__dlpack__"):
        raise TypeError(f"expected '{name}' to be a tensor with __dlpack__, got {type(tensor).__name__}")
    return _view_of_dlpack(tensor, name, stream)


def _view_of_torch(tensor: Any, name: str) -> View:
    # Plain sparse or nested tensors do not get here: the operator has no kernel for them.
    if type(tensor) is not torch_module().Tensor:
        _torch_rules.refuse_meaning(name, tensor)
    kind = tensor.device.type
    if kind not in ("cpu", "cuda"):
        raise UnsupportedError(f"expected '{name}' to be on a cuda or cpu device, got {tensor.device}")
    return View(tensor.data_ptr(), device_of(tensor), dtype_name(tensor), tensor.shape, tensor.stride(), tensor)


def device_of(tensor: Any) -> tuple[int, int]:
    """DLPack's device type and number of a torch tensor on a cuda or cpu device."""
    return (_capi.CPU, 0) if tensor.device.type == "cpu" else (_capi.CUDA, tensor.device.index)


def refuse_traced_by_jax(value: object, name: str) -> None:
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.core.Tracer):
        raise UnsupportedError(f"'{name}' has no memory, since jax traces the caller (jit, grad, vmap): attn is no operator that "
                               "jax knows yet; call it on arrays, outside")


def _view_of_dlpack(tensor: Any, name: str, stream: int | None) -> View:
    refuse_traced_by_jax(tensor, name)
    kind, number = tensor.__dlpack_device__()
    if kind not in (_capi.CPU, _capi.CUDA):
        raise UnsupportedError(f"expected '{name}' to be on a cuda or cpu device, got DLPack's device type {int(kind)}")
    arguments = {} if kind == _capi.CPU else {"stream": stream or 1}
    try:
        try:
            capsule = tensor.__dlpack__(max_version=(1, 0), **arguments)
        except TypeError:  # of libraries from before DLPack 1.0
            capsule = tensor.__dlpack__(**arguments)
    except BufferError as error:
        raise ArgumentError(f"'{name}' cannot be shared through DLPack: {error}") from None
    found, read_only = _capi.tensor_of_capsule(capsule)
    code = (found.dtype.code, found.dtype.bits)
    if code not in _capi.DTYPE_NAMES or found.dtype.lanes != 1:
        raise UnsupportedError(f"'{name}' has an element type that is not known: DLPack's {code}")
    shape = [found.shape[i] for i in range(found.ndim)]
    strides = [found.strides[i] for i in range(found.ndim)] if found.strides else packed_strides(shape)
    return View((found.data or 0) + found.byte_offset, (int(kind), int(number)), _capi.DTYPE_NAMES[code], shape,
                strides, tensor, capsule, read_only or type(tensor).__module__.partition(".")[0] in _IMMUTABLE)


def packed_strides(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]


def dtype_name(tensor: Any) -> str:
    """The element type of a tensor of torch or of the array API, such as "bf16"."""
    name = str(tensor.dtype).rpartition(".")[2]
    if name in _capi.DTYPE_CODES:
        return name
    if name not in _LONG_NAMES:
        raise UnsupportedError(f"the element type {tensor.dtype} is not supported")
    return _LONG_NAMES[name]


def current_stream(tensor: Any) -> int | None:
    """The CUDA stream on which the caller works; None: the default stream."""
    if is_torch(tensor) and tensor.is_cuda:
        return _raw_stream()(tensor.device.index)
    return None


@functools.lru_cache(maxsize=None)
def _raw_stream() -> Callable[[int], int]:
    """torch's function from a device's number to its current stream."""
    torch = torch_module()
    # torch's own generated code calls this; the documented function takes five times as long.
    fast = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return fast or (lambda index: torch.cuda.current_stream(index).cuda_stream)


def is_capturing(tensor: Any) -> bool:
    """Whether the CUDA stream on which the caller works, on the tensor's device, records
    a graph. (torch's function covers only the current device.)"""
    cuda, index = torch_module().cuda, tensor.device.index
    if index == cuda.current_device():
        return cuda.is_current_stream_capturing()
    with cuda.device(index):
        return cuda.is_current_stream_capturing()


def new_bytes(like: Any, size: int) -> Any:
    """Uninitialized memory on the device of a torch tensor."""
    torch = torch_module()
    return torch.empty(size, dtype=torch.uint8, device=like.device)


def like_workspace(like: Any, size: int) -> Any:
    """A torch tensor of one element. One that is allocated like it has `size` bytes, more in host memory, on the device
    of `like`. On a GPU these begin at a multiple of WORKSPACE_ALIGNMENT."""
    return new_bytes(like, 1).expand(size if like.is_cuda else size + WORKSPACE_ALIGNMENT)


def aligned(memory: Any, size: int) -> Any:
    """The first `size` bytes of a torch tensor that begin at a multiple of WORKSPACE_ALIGNMENT."""
    start = -memory.data_ptr() % WORKSPACE_ALIGNMENT
    return memory[start:start + size]


def lasting_bytes(like: Any, size: int) -> Any:
    """Memory on the device of a torch tensor, for the current stream, that belongs to no
    pool. While a pool is in use, such as that of torch.compile's CUDA graphs during warm-up,
    torch allocates from it, and frees that memory with the pool. A pool is in use by a thread
    or by a stream; so another thread allocates this, on another stream. That thread may
    allocate while this one captures a graph."""
    cuda, device = torch_module().cuda, like.device
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        memory = thread.submit(_bytes_of_stream, like, size, _allocating_stream(device.index)).result()
    memory.record_stream(cuda.current_stream(device))
    return memory


def _bytes_of_stream(like: Any, size: int, stream: Any) -> Any:
    torch = torch_module()
    _capi.allow_allocation()
    with torch.cuda.stream(stream):
        return torch.empty(size, dtype=torch.uint8, device=like.device)


@functools.lru_cache(maxsize=None)
def _allocating_stream(index: int) -> Any:
    return torch_module().cuda.Stream(index)


def host_memory(size: int) -> View:
    """Zeroed memory for a launch on the simulator."""
    memory = ctypes.create_string_buffer(size + WORKSPACE_ALIGNMENT)
    start = -(-ctypes.addressof(memory) // WORKSPACE_ALIGNMENT) * WORKSPACE_ALIGNMENT
    return View(start, (_capi.CPU, 0), "u8", [size], [1], memory)


def swap(tensor: Any, a: int, b: int) -> Any:
    """The torch tensor or View with two dims exchanged."""
    return tensor.transpose(a, b) if is_torch(tensor) else tensor.swap(a, b)


def astype(tensor: Any, dtype: str) -> Any:
    """`tensor` with elements of `dtype`: itself, or a copy."""
    if dtype_name(tensor) == dtype:
        return tensor
    if is_torch(tensor):
        return tensor.to(getattr(torch_module(), _long_name(dtype)))
    library = tensor.__array_namespace__()
    return library.astype(tensor, getattr(library, _long_name(dtype)))


def _long_name(dtype: str) -> str:
    return next(long for long, short in _LONG_NAMES.items() if short == dtype)


def empty(like: Any, shape: Sequence[int], dtype: str) -> Any:
    """A new tensor of the library and on the device of `like`."""
    long_name = _long_name(dtype)
    if is_torch(like):
        torch = torch_module()
        return torch.empty(shape, dtype=getattr(torch, long_name), device=like.device)
    if not hasattr(like, "__array_namespace__"):
        raise TypeError(f"expected 'out' and 'lse' to be given, since {type(like).__name__} does not say how to make "
                        "a tensor (no __array_namespace__)")
    library = like.__array_namespace__()
    return library.empty(tuple(shape), dtype=getattr(library, long_name), device=like.device)
