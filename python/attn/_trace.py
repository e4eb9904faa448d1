# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs score and mask functions once, on symbols, and records their operations as the regions of
`attn.attention`."""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any, Callable, ContextManager, NamedTuple, Union

from . import _tensors
from ._captures import Captured
from ._errors import ArgumentError, TraceError
from ._functions import install
from ._ir import Region
from ._numbers import AutomaticScalar, as_argument
from ._operands import cast
from ._rebinding import Rebinding, random_numbers
from ._symbols import Operand, Recorder, Symbol, has_operand
from ._types import LONG_NAMES, Range

install()

_POSITIONS = ("b", "h", "i", "j")
# A launch with functions has at most so many batches, heads, queries and keys.
MAX_POSITIONS = 1 << 30


class Trace:
    """The regions of one problem and their captures, each of them once. Numbers of Python
    are part of the kernel, but for those that changed since an earlier trace and that
    `passes` accepts as arguments."""

    def __init__(self, passes: Callable[[AutomaticScalar], bool] = lambda _: False) -> None:
        self._known: list[Captured] = []
        self._passes = passes
        self.automatic: list[AutomaticScalar] = []

    @property
    def captures(self) -> list[Captured]:
        """The captures that the functions read."""
        return [captured for captured in self._known if captured.used]

    def score(self, function: Callable[..., Any]) -> Region:
        """The region of score_mod(score, b, h, q_idx, kv_idx)."""
        return self._region(function, [Symbol("%s", "f32")], "f32", "score_mod")

    def mask(self, function: Callable[..., Any]) -> Region:
        """The region of mask_mod(b, h, q_idx, kv_idx)."""
        return self._region(function, [], "bool", "mask_mod")

    def signature(self) -> tuple[tuple[str, str], ...]:
        """Names and IR types of the captures."""
        return tuple((captured.name, captured.ir_type) for captured in self.captures)

    def capture(self, value: Any, name: str = "") -> Captured:
        """The stand-in of a tensor, Scalar or Slot, called as in the function."""
        for found in self._known:
            if found.value is value:
                return found
        taken = {captured.name for captured in self._known}
        if not name.isidentifier() or not name.isascii() or name in taken:
            number = len(self._known)
            while f"capture{number}" in taken:
                number += 1
            name = f"capture{number}"
        self._known.append(Captured(value, name))
        return self._known[-1]

    def _number(self, value: Any, name: str, code: types.CodeType) -> Any:
        scalar = as_argument(value if isinstance(value, (int, float)) else value.item(), name, code)
        if scalar is None or not self._passes(scalar):
            return value
        self.automatic.append(scalar)
        return self.capture(scalar, name)

    def _region(self, function: Callable[..., Any], first: list[Symbol], type: str, role: str) -> Region:
        if not callable(function):
            raise ArgumentError(f"expected '{role}' to be a function, got {_describe(function)}")
        recorder = Recorder(self.capture)
        arguments = first + [Symbol(f"%{n}", "i32", Range(0, MAX_POSITIONS - 1), n) for n in _POSITIONS]
        with recorder:
            copy = Rebinding(self.capture, self._number).function(function)
            with _torch_calls():
                recorder.records_derivatives = _records_derivatives(role)
                result = copy(*arguments)
            recorder.records_derivatives = None
            if _tensors.is_tensor(result):
                result = self.capture(result)
            if not isinstance(result, (Operand, bool, int, float)) or (type == "bool" and not _is_truth(result)):
                raise TraceError(f"expected {role} to return {'a truth value' if type == 'bool' else 'a number'} made of "
                                 f"its arguments, got {_describe(result)}")
            name = cast(result, type).name
            return Region(recorder.lines(), name)


def _is_truth(result: Any) -> bool:
    return isinstance(result, bool) or getattr(result, "type", "") == "bool"


def _describe(result: Any) -> str:
    return f"one of type {LONG_NAMES[result.type]}" if isinstance(result, Operand) else f"{type(result).__name__}"


class Regions(NamedTuple):
    """The regions of a problem, None for a function that is not there."""

    trace: Trace
    score: Union[Region, None]
    allow: Union[Region, None]


def regions_of(score_mod: Callable[..., Any] | None, mask_mod: Callable[..., Any] | None) -> Regions:
    """The regions of a user's functions. Numbers that changed since an earlier call are arguments of the kernel, if
    the functions use them only in ways that a kernel can."""
    for _ in range(2):
        trace = Trace(lambda _: True)
        try:
            return _regions(trace, score_mod, mask_mod)
        except Exception:  # any error of a function that gets a symbol in place of a number
            if not trace.automatic:
                raise
        for scalar in trace.automatic:
            try:
                _regions(Trace(scalar.is_same), score_mod, mask_mod)
            except Exception:
                scalar.fix()
    return _regions(Trace(), score_mod, mask_mod)


def _regions(trace: Trace, score_mod: Callable[..., Any] | None, mask_mod: Callable[..., Any] | None) -> Regions:
    return Regions(trace, trace.score(score_mod) if score_mod else None, trace.mask(mask_mod) if mask_mod else None)


def _records_derivatives(role: str) -> Callable[[], bool] | None:
    """torch's function that says whether derivatives are recorded, for a score function; None for masks, which have none."""
    torch = _tensors.torch_module()
    return None if torch is None or role != "score_mod" else torch.is_grad_enabled


def _torch_calls() -> ContextManager[Any]:
    """Sees every call of torch on a tensor, such as the index of one that a function
    reaches through an attribute, and refuses random numbers. Whether the caller wants derivatives does not count."""
    modes = contextlib.ExitStack()
    torch = _tensors.torch_module()
    if torch is not None:
        modes.enter_context(torch.enable_grad())
        for mode in _modes():
            modes.enter_context(mode())
    return modes


@functools.lru_cache(maxsize=None)
def _modes() -> tuple[type, ...]:
    torch: Any = _tensors.torch_module()
    from torch.utils._python_dispatch import TorchDispatchMode

    class Operations(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if torch.Tag.nondeterministic_seeded in function.tags:
                raise random_numbers(function.overloadpacket.__name__)
            return function(*args, **(kwargs or {}))

    class Calls(torch.overrides.TorchFunctionMode):  # type: ignore[name-defined, misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if has_operand(args) or has_operand((kwargs or {}).values()):
                return Operand.__torch_function__(function, types, args, kwargs)
            return function(*args, **(kwargs or {}))

    return Operations, Calls
