# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that repeat an earlier one on other memory. What was checked and computed for
that one holds again; only the addresses are new, and the runtime checks those. This
keeps the CPU's time for a launch at that of torch's own functions. Imported when the
first torch tensor comes."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Optional, Sequence

import torch

from . import _capi, _tensors
from ._executable import Executable

# What a thread remembers, so that ever new lengths do not fill the memory.
_MOST = 4096
_PLAIN = frozenset((type(None), bool, int, float, str))
_Tensor, _grad_enabled = torch.Tensor, torch.is_grad_enabled

Signature = Optional[tuple]


class _Remembered(threading.local):
    """A thread's replays: each has C structs that a launch fills."""

    def __init__(self) -> None:
        self.replays: dict[Signature, Replay] = {}


_remembered = _Remembered()


def _find_watchers() -> list[Any]:
    """Functions that say whether something in torch looks at the operators which this
    thread calls: a mode, a transform of functions, a trace."""
    return [torch._C._is_torch_function_mode_enabled, torch._C._len_torch_dispatch_stack,
            torch._C._functorch.peek_interpreter_stack, torch._C._get_tracing_state]


try:
    _function_mode, _dispatch_modes, _transform, _trace = _find_watchers()
except AttributeError:  # a torch that is too old or too new: then every call is made in full
    _function_mode = _dispatch_modes = _transform = _trace = lambda: True


def repeat(options: tuple, q: Any, k: Any, v: Any, out: Any, lse: Any) -> tuple[Signature, Replay | None]:
    """What this call has in common with those that repeat it, None where it has to go
    through torch's operators; and the earlier call that it repeats, or None. Written
    out, because this is most of what a launch costs."""
    if _function_mode() or _dispatch_modes() or _transform() or _trace() or not _PLAIN.issuperset(map(type, options)):
        return None, None
    if not (type(q) is type(k) is type(v) is _Tensor):
        return None, None
    if _grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
        return None, None
    call = (options, q.shape, q.stride(), q.dtype, q.device, k.shape, k.stride(), k.dtype, k.device,
            v.shape, v.stride(), v.dtype, v.device)
    for given in () if out is lse is None else (out, lse):
        if type(given) is not _Tensor:
            return None, None
        call += (given.shape, given.stride(), given.dtype, given.device)
    return call, _remembered.replays.get(call)


def remember(call: Signature, executable: Executable, tensors: Sequence[Any], floats: Sequence[float],
             ints: Sequence[int], heads_first: bool) -> None:
    """Makes later calls with this signature repeat the one with these tensors, which are
    q, k, v, out and lse as the kernel takes them."""
    replays = _remembered.replays
    if len(replays) >= _MOST:
        replays.clear()
    replays[call] = Replay(executable, tensors, floats, ints, heads_first)


class Replay:
    """A launch, but for its addresses, stream and workspace."""

    def __init__(self, executable: Executable, tensors: Sequence[Any], floats: Sequence[float], ints: Sequence[int],
                 heads_first: bool):
        views = [_tensors.view(tensor, arg["name"]) for tensor, arg in zip(tensors, executable.tensor_args)]
        frame = executable.new_frame()
        frame.fill(views, floats, ints, None)
        self._executable, self._frame, self._args = executable, frame, ctypes.byref(frame.args)
        self._q, self._k, self._v, self._out, self._lse = frame.tensors
        self._device = views[0].device
        self._workspace_size = executable.workspace_size(frame)
        out, lse = tensors[3:]
        out = out.transpose(1, 2) if heads_first else out
        self._out_shape, self._out_strides = out.shape, out.stride()
        # As torch makes a tensor like another one faster than one of another element type.
        self._like_lse, self._lse_shape, self._lse_strides = lse.new_empty(0), lse.shape, lse.stride()
        self._launch, self._bundle = executable.bundle.launch_function, executable.bundle.handle

    def __call__(self, q: Any, k: Any, v: Any, out: Any = None, lse: Any = None) -> tuple[Any, Any]:
        if out is None:
            out = q.new_empty_strided(self._out_shape, self._out_strides)
        if lse is None:
            lse = self._like_lse.new_empty_strided(self._lse_shape, self._lse_strides)
        self._q.data, self._k.data, self._v.data = q.data_ptr(), k.data_ptr(), v.data_ptr()
        self._out.data, self._lse.data = out.data_ptr(), lse.data_ptr()
        args = self._frame.args
        args.stream = stream = _tensors.current_stream(q)
        if self._workspace_size:
            space = self._executable.workspace(q, self._device, self._workspace_size, stream)
            args.workspace, args.workspace_size = space.pointer, space.shape[0]
        status = self._launch(self._bundle, self._args)
        if status:
            _capi.check(status)
        return out, lse
