# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled problems: made once, launched on tensors of any library."""

from __future__ import annotations

import ctypes
import json
import threading
from concurrent.futures import Future
from typing import Any, Sequence

from . import _ahead, _capi, _tensors
from ._errors import AttnError, UnsupportedError
from ._graph_memory import GraphMemory
from ._overlap import refuse_overlaps

# Bytes: a smaller workspace is kept for later launches, whatever is in it.
_KEPT_WORKSPACE = 1 << 20


def target_of(device: tuple[int, int]) -> str | None:
    """The machine to compile for, None for the compiler's default, after a check that a CUDA device can run its kernels."""
    if device[0] == _capi.CPU:
        return None
    torch = _tensors.torch_module()
    capability = torch.cuda.get_device_capability(device[1]) if torch else (9, 0)
    if capability != (9, 0):
        raise UnsupportedError(f"expected a GPU of compute capability 9.0 (Hopper), got {capability[0]}.{capability[1]}")
    return None


# The order of the tensors of a launch, by role: operands, captures and others, then results of the forward pass, their
# gradients, and those of the operands.
_FIRST = ("query", "key", "value")
_LAST = ("output", "lse", "output_gradient", "lse_gradient", "query_gradient", "key_gradient", "value_gradient",
         "capture_gradient")
_RESULTS = 2  # of a forward pass: output and LSE


def places(args: Sequence[Any], first: Sequence[str], last: Sequence[str] = ()) -> list[int]:
    """The places of a plan's arguments, sorted by role: first those of the roles `first`, last
    those of the roles `last`; the others, between them, keep the plan's order."""
    def rank(place: int) -> int:
        role = args[place]["role"]
        if role in first:
            return first.index(role)
        return len(first) + (1 + last.index(role) if role in last else 0)

    return sorted(range(len(args)), key=rank)


class Executable:
    """A problem compiled for a target. Use `get`, which makes each once."""

    _known: dict[tuple[str, str | None, tuple[str, ...], bool], Executable] = {}
    _lock = threading.Lock()

    def __init__(self, ir: str, target: str | None, gradients: tuple[str, ...], any_order: bool):
        self.bundle = _capi.Bundle(ir, target, gradients, any_order)
        plan = json.loads(self.bundle.plan())
        self.problem = plan["problem"]
        self._args = plan["args"]
        tensors = [a for a in self._args if a["kind"] == "tensor"]
        # In the order of `launch`.
        order = places(tensors, _FIRST, _LAST)
        self.tensor_args = [tensors[n] for n in order]
        self._roles = {a["name"]: a["role"] for a in self._args}
        # The places of the plan's tensors in that order.
        self.plan_order = sorted(range(len(order)), key=order.__getitem__)
        sizes = [variant["workspace"] for variant in plan["variants"]]
        # Most kernels need a workspace of the same size for all launches; others are asked at each.
        is_fixed = "temporaries" not in plan and all(isinstance(size, int) for size in sizes)
        self._fixed_workspace = max(sizes) if is_fixed else None
        # Whether launches leave zeros in their workspace for the next one.
        self._keeps_zeros = any(variant.get("zeroed") for variant in plan["variants"])
        self._frames = threading.local()
        self._workspaces: dict[tuple[Any, Any], Any] = {}
        self._graph_memory = GraphMemory()

    @classmethod
    def get(cls, ir: str, target: str | None = None, gradients: tuple[str, ...] = (), any_order: bool = False) -> Executable:
        """The problem `ir`; or the gradients of these of its arguments, by their names in its plan, with sums `any_order`."""
        key = ir, target, gradients, any_order
        found = cls._known.get(key)
        if found is None:
            with cls._lock:
                found = cls._known.get(key)
                if found is None:
                    found = cls._known[key] = cls(*key)
        return found

    @classmethod
    def compile_ahead(cls, ir: str, target: str | None, gradients: tuple[str, ...], any_order: bool) -> Future[None] | None:
        """Compiles what `get` does in a thread of its own; None where there is none, as at the interpreter's exit, and after
        that failed. `get` waits for the kernels of another thread."""
        return _ahead.start((ir, target, gradients, any_order))

    @classmethod
    def is_compiled(cls, ir: str, target: str | None, gradients: tuple[str, ...], any_order: bool) -> bool:
        """Whether `get` returns at once."""
        key = ir, target, gradients, any_order
        return key in cls._known or _ahead.has_made(key)

    @property
    def captures(self) -> Sequence[Any]:
        """Of a forward pass: the plan's tensors between q, k, v and the results, in the order of `launch`."""
        return self.tensor_args[len(_FIRST):-_RESULTS]

    @property
    def has_functions(self) -> bool:
        """Whether a score or mask function of the user's is a part of it."""
        return any(self.problem[region] != "none" for region in ("score_region", "mask_region"))

    @classmethod
    def count(cls) -> int:
        """How many problems this process has compiled or loaded."""
        return len(cls._known)

    def launch(self, tensors: Sequence[Any], floats: Sequence[float], ints: Sequence[int],
               workspace: Any = None) -> None:
        """Runs the kernels on the query, key, value, captures, output and LSE, and for a backward pass the gradients
        of the latter two, of the former three and of captures, on the current stream of their device. `floats` are the scale and captures, `ints` bounds and
        captures. Captures and bounds are in the plan's order."""
        try:
            self._launch(tensors, floats, ints, workspace)
        except AttnError as error:
            error.roles = self._roles
            raise

    def _launch(self, tensors: Sequence[Any], floats: Sequence[float], ints: Sequence[int], workspace: Any) -> None:
        stream = _tensors.current_stream(tensors[0])
        views = [_tensors.view(t, arg["name"], stream) for t, arg in zip(tensors, self.tensor_args)]
        frame = self._frame()
        frame.fill(views, floats, ints, stream)
        space, ready, size = None, False, self.workspace_size(frame)
        if workspace is not None:
            space = _tensors.view(workspace, "workspace", stream)
        elif size:
            space, ready = self.workspace(views[0].owner, views[0].device, size, stream)
        frame.set_workspace(space, ready)
        self.bundle.launch(frame.args)

    def check_overlaps(self, views: Sequence[_tensors.View]) -> None:
        """Refuses outputs of the plan's tensors that share memory with another one."""
        named = [(arg["name"], arg["access"] != "read", view) for arg, view in zip(self.tensor_args, views)]
        try:
            refuse_overlaps({name: view for name, written, view in named if not written},
                            {name: view for name, written, view in named if written})
        except AttnError as error:
            error.roles = self._roles
            raise

    def prepare(self, device: int) -> None:
        """Loads the kernels onto a CUDA device."""
        self.bundle.prepare(_capi.DLDevice(_capi.CUDA, device))

    def new_frame(self) -> Frame:
        return Frame(self._args)

    def _frame(self) -> Frame:
        """This thread's arguments."""
        found = getattr(self._frames, "frame", None)
        if found is None:
            found = self._frames.frame = self.new_frame()
        return found

    def workspace_size(self, frame: Frame) -> int:
        """Bytes, for the arguments in `frame`."""
        size = self._fixed_workspace
        return self.bundle.workspace_size(frame.args) if size is None else size

    def has_own_workspace(self, size: int) -> bool:
        """Whether each launch that needs so many bytes has its own: torch's allocator gives them to others meanwhile."""
        return size > _KEPT_WORKSPACE and not self._keeps_zeros

    def workspace(self, like: Any, device: tuple[int, int], size: int, stream: int | None) -> tuple[_tensors.View, bool]:
        """Memory on the device of the tensor `like`, and whether it is ready for a launch,
        as the launches that share it on one stream leave it. The launches of a graph share another one. A launch
        that needs much memory has its own, unless it needs zeros and is not captured."""
        if device[0] == _capi.CPU:
            return _tensors.host_memory(size), False
        if not _tensors.is_torch(like):
            raise TypeError(f"expected 'workspace' to be given: {size} bytes on the device of 'q'")
        if self.has_own_workspace(size):
            return _tensors.view(_tensors.new_bytes(like, size), "workspace", stream), False
        if _tensors.is_capturing(like):
            return self._captured_workspace(like, size, stream)
        found = self._workspaces.get((device, stream))
        if found is None or found.shape[0] < size:
            space = _tensors.view(_tensors.lasting_bytes(like, size).zero_(), "workspace", stream)
            found = self._workspaces[device, stream] = space
        return found, True

    def _captured_workspace(self, like: Any, size: int, stream: int | None) -> tuple[_tensors.View, bool]:
        shared = self._graph_memory.find(like, size, stream) if self._keeps_zeros and size <= _KEPT_WORKSPACE else None
        memory = _tensors.new_bytes(like, size) if shared is None else shared
        return _tensors.view(memory, "workspace", stream), shared is not None


class Frame:
    """The C structs of a launch, made once and filled for every call. `args` are the
    plan's arguments."""

    def __init__(self, args: Sequence[Any]):
        tensors = [a for a in args if a["kind"] == "tensor"]
        scalars = [a for a in args if a["kind"] != "tensor"]
        made = []
        for arg in tensors:
            shape, strides = (ctypes.c_int64 * len(arg["dims"]))(), (ctypes.c_int64 * len(arg["dims"]))()
            made.append((_capi.DLTensor(shape=shape, strides=strides), shape, strides))
        # In the order of `Executable.launch`, and then the places of floats and integers.
        self._tensors = [made[n] for n in places(tensors, _FIRST, _LAST)]
        order = places(scalars, ("scale", "bound"))
        self._places = [n for is_float in (True, False) for n in order if (scalars[n]["kind"] == "f32") is is_float]
        pointers = [ctypes.pointer(tensor) for tensor, *_ in made]
        self._pointers = (ctypes.POINTER(_capi.DLTensor) * len(made))(*pointers)
        self._scalars = (ctypes.c_double * len(scalars))()
        self.args = _capi.LaunchArgs(ctypes.sizeof(_capi.LaunchArgs), len(made), self._pointers, None,
                                     len(scalars), self._scalars, None)

    def fill(self, views: Sequence[_tensors.View], floats: Sequence[float], ints: Sequence[int],
             stream: int | None) -> None:
        for view, (tensor, shape, strides) in zip(views, self._tensors):
            rank = len(view.shape)
            tensor.data, tensor.ndim = view.pointer, rank
            tensor.device.device_type, tensor.device.device_id = view.device
            tensor.dtype.code, tensor.dtype.bits = _capi.DTYPE_CODES[view.dtype]
            tensor.dtype.lanes = 1
            # The runtime reports a wrong rank, and reads no further.
            if rank == len(shape):
                shape[:], strides[:] = [*view.shape], [*view.strides]
        for place, number in zip(self._places, (*floats, *ints)):
            self._scalars[place] = number
        self.args.device.device_type, self.args.device.device_id = views[0].device
        self.args.stream = stream

    def set_workspace(self, space: _tensors.View | None, ready: bool) -> None:
        self.args.workspace = space.pointer if space else None
        self.args.workspace_size = space.shape[0] if space else 0
        self.args.flags = _capi.WORKSPACE_READY if ready else 0
