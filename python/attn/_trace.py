# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs score and mask functions once, on symbols, and writes down what they do
as the regions of `attn.attention`."""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any, Callable, ContextManager

from . import _score_ops, _tensors
from ._errors import TraceError
from ._ir import Region
from ._symbols import Captured, Operand, Recorder, Scalar, Slot, Symbol

_POSITIONS = ("b", "h", "i", "j")
_TAKEN = {"q", "k", "v", "o", "s", "lse", "scale", "window_left", "window_right", *_POSITIONS}


class Trace:
    """The regions of one problem and what they capture, each thing once."""

    def __init__(self) -> None:
        self._known: list[Captured] = []

    @property
    def captures(self) -> list[Captured]:
        """The captures that the functions read."""
        return [captured for captured in self._known if captured.used]

    def score(self, function: Callable[..., Any]) -> Region:
        """The region of score_mod(score, b, h, q_idx, kv_idx)."""
        return self._region(function, [Symbol("%s", "f32")], "f32", "score_mod")

    def mask(self, function: Callable[..., Any]) -> Region:
        """The region of mask_mod(b, h, q_idx, kv_idx)."""
        return self._region(function, [], "i1", "mask_mod")

    def signature(self) -> tuple[tuple[str, str], ...]:
        """Names and IR types of the captures."""
        return tuple((captured.name, captured.ir_type) for captured in self.captures)

    def capture(self, value: Any, name: str = "") -> Captured:
        """The stand-in of a tensor, Scalar or Slot, called as in the function."""
        for found in self._known:
            if found.value is value:
                return found
        if not name.isidentifier() or not name.isascii() or name in _TAKEN.union(c.name for c in self._known):
            name = f"capture{len(self._known)}"
        self._known.append(Captured(value, name))
        return self._known[-1]

    def _region(self, function: Callable[..., Any], first: list[Symbol], kind: str, role: str) -> Region:
        recorder = Recorder(self.capture)
        arguments = first + [Symbol(f"%{n}", "i32", natural=True, coordinate=n) for n in _POSITIONS]
        with recorder, _torch_calls():
            result = _Rebinding(self.capture).function(function)(*arguments)
            if not isinstance(result, (Operand, bool, int, float)) or (kind == "i1" and not _is_truth(result)):
                raise TraceError(f"expected {role} to return {'a truth value' if kind == 'i1' else 'a number'} made of "
                                 f"its arguments, got {_describe(result)}")
            name = _score_ops.cast(result, kind).name
            return Region(recorder.lines(), name)


def _is_truth(result: Any) -> bool:
    return isinstance(result, bool) or getattr(result, "kind", "") == "i1"


def _describe(result: Any) -> str:
    return f"one of type {result.kind}" if isinstance(result, Symbol) else f"{type(result).__name__}"


class _Rebinding:
    """Copies of functions in which tensors that they close over, or know as
    globals or defaults, are Captured."""

    def __init__(self, capture: Callable[[Any, str], Captured]):
        self._capture = capture
        self._functions: dict[int, Any] = {}

    def value(self, value: Any, module: str, name: str = "") -> Any:
        if isinstance(value, Operand):
            return value
        if isinstance(value, (Scalar, Slot)) or _tensors.is_tensor(value):
            return self._capture(value, name)
        same_module = isinstance(value, types.FunctionType) and value.__module__ == module
        return self.function(value) if same_module or isinstance(value, functools.partial) else value

    def function(self, function: Any) -> Any:
        if isinstance(function, functools.partial):
            module = getattr(function.func, "__module__", "")
            args = [self.value(a, module) for a in function.args]
            kwargs = {k: self.value(v, module, k) for k, v in function.keywords.items()}
            return functools.partial(self.function(function.func), *args, **kwargs)
        if not isinstance(function, types.FunctionType):
            return function  # torch's calls are seen all the same
        if id(function) not in self._functions:
            self._functions[id(function)] = function  # while a function that calls itself is being copied
            self._functions[id(function)] = self._copy(function)
        return self._functions[id(function)]

    def _copy(self, function: types.FunctionType) -> types.FunctionType:
        module = function.__module__
        known = {n: function.__globals__[n] for n in _names(function.__code__) if n in function.__globals__}
        rebound = {name: self.value(value, module, name) for name, value in known.items()}
        code, given = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(given):code.co_argcount]
        defaults = tuple(self.value(value, module, name) for value, name in zip(given, names))
        cells = function.__closure__ and tuple(map(self._cell, function.__closure__, code.co_freevars,
                                                       [module] * len(function.__closure__)))
        copy = types.FunctionType(code, {**function.__globals__, **rebound}, function.__name__, defaults,
                                  cells)
        copy.__kwdefaults__ = {k: self.value(v, module, k) for k, v in (function.__kwdefaults__ or {}).items()}
        return copy

    def _cell(self, cell: Any, name: str, module: str) -> Any:
        try:
            return types.CellType(self.value(cell.cell_contents, module, name))
        except ValueError:  # not assigned yet
            return cell


def _names(code: types.CodeType) -> set[str]:
    """The globals and attributes that `code` and the functions in it name."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _torch_calls() -> ContextManager[Any]:
    """Sees every call of torch on a tensor, such as the index of one that a
    function reaches through an attribute."""
    torch = _tensors.torch_module()
    if torch is None:
        return contextlib.nullcontext()

    class Calls(torch.overrides.TorchFunctionMode):  # type: ignore[name-defined, misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if _has_operand(args) or _has_operand((kwargs or {}).values()):
                return Operand.__torch_function__(function, types, args, kwargs)
            return function(*args, **(kwargs or {}))

    return Calls()


def _has_operand(values: Any) -> bool:
    return any(isinstance(v, Operand) or (isinstance(v, tuple) and _has_operand(v)) for v in values)
