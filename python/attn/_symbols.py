# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stand-ins for the numbers that a kernel computes for a pair of positions. What
is done to them is written down as ops of a region. They follow Python's
operators, and take part in the functions of torch and numpy through those
libraries' own protocols."""

from __future__ import annotations

import threading
from typing import Any, Callable

from . import _tensors, _torch_rules
from ._errors import TraceError
from ._user_code import where

_active = threading.local()


def refuse(operation: str, reason: str) -> TraceError:
    return TraceError(f"{operation} at {where()} cannot become part of a kernel: {reason}")


class Recorder:
    """The ops of one region so far. Equal ops are written down once. Inside
    `with recorder:` it is the one that symbols write to. `capture` gives the
    stand-in of a tensor or Scalar."""

    def __init__(self, capture: Callable[[Any], Captured]):
        self.capture = capture
        self._values: dict[str, str] = {}

    def __enter__(self) -> Recorder:
        self._outer = getattr(_active, "recorder", None)
        _active.recorder = self
        return self

    def __exit__(self, *_: object) -> None:
        _active.recorder = self._outer

    def lines(self) -> tuple[str, ...]:
        return tuple(f"{name} = {text}" for text, name in self._values.items())


def emit(text: str, kind: str, natural: bool = False) -> Symbol:
    """The result of the op `text`."""
    values = _active.recorder._values
    return Symbol(values.setdefault(text, f"%{len(values)}"), kind, natural)


def recorder_capture(value: Any) -> Captured | Indexed:
    """What stands for a tensor or Scalar in the region that is being traced."""
    return value if isinstance(value, (Captured, Indexed)) else _active.recorder.capture(value)


class Operand:
    """What Symbol and Captured share: the protocols of tensor libraries, and what
    no number of a kernel can do. Operators and functions are in _score_ops."""

    functions: dict[str, Callable[..., Any]] = {}
    supported = ""  # the names that messages offer

    @classmethod
    def __torch_function__(cls, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return call_function(function.__name__, args, kwargs or {})

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
        return call_function(name, args, kwargs)

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(function.__name__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.functions:
            raise refuse(f"'{name}'", Operand.supported)
        return lambda *args, **kwargs: call_function(name, (self, *args), kwargs)

    def __bool__(self) -> bool:
        raise refuse("a branch on a computed value (if, and, or, not, min, max)",
                     "every pair of positions runs the same code; use where, &, |, ~, minimum or maximum")

    def __float__(self) -> float:
        raise refuse("float() of a computed value", "use the functions of torch, numpy or attn.ops, not of math")

    def __int__(self) -> int:
        raise refuse("int() of a computed value", "there is no rounding to integers")

    def __index__(self) -> int:
        raise refuse("an index into what is no captured tensor", "only elements of tensors can be looked up")

    def __iter__(self) -> Any:
        raise refuse("iteration over a computed value", "it is one number")

    __hash__ = None  # type: ignore[assignment]


def call_function(name: str, args: Any, kwargs: Any) -> Any:
    """Calls the function that tensor libraries know as `name`."""
    function = Operand.functions.get(name)
    if function is None:
        raise refuse(f"'{name}'", Operand.supported)
    try:
        return function(*args, **kwargs)
    except TraceError:
        raise
    except TypeError as error:
        raise refuse(f"'{name}'", str(error)) from None


class Symbol(Operand):
    """A number: f32, i32 or i1. `natural`: known to be at least 0. `coordinate`:
    b, h, i or j where it is one of those."""

    def __init__(self, name: str, kind: str, natural: bool = False, coordinate: str = ""):
        self.name, self.kind, self.natural, self.coordinate = name, kind, natural, coordinate


class Scalar:
    """A number that score and mask functions capture and every launch reads anew.

    ``cap = attn.Scalar(20.0)`` is f32 in the kernel, ``attn.Scalar(3)`` i32. To
    assign ``cap.value`` compiles nothing, where a plain number is part of the
    kernel.
    """

    def __init__(self, value: float):
        self.value = value
        self.kind = "i32" if isinstance(value, int) else "f32"


class Slot:
    """A capture whose value each call brings: a tensor of `rank`, or a number."""

    def __init__(self, dtype: str, rank: int):
        self.dtype, self.shape = dtype, (None,) * rank


class Captured(Operand):
    """A tensor, Scalar or Slot from outside a function. The kernel calls it `name`,
    and reads it as f32 or i32, its `kind`."""

    def __init__(self, value: Any, name: str):
        if _tensors.is_torch(value):
            _torch_rules.refuse_meaning(name, value)
        self.value, self.name, self.used = value, name, False
        dtype = value.kind if isinstance(value, Scalar) else _tensors.dtype_name(value)
        self.is_bool, self.kind = dtype == "bool", "f32" if dtype in ("f32", "f16", "bf16", "f64") else "i32"
        self.shape = () if isinstance(value, Scalar) else tuple(value.shape)
        # A number in host memory goes by value, whatever device the kernel runs on.
        by_value = not self.shape and not (_tensors.is_torch(value) and value.is_cuda)
        self.passed_as = self.kind if by_value else "tensor"
        self.ir_type = self.kind if by_value else f"tensor<{'?x' * max(len(self.shape), 1)}{self.kind}>"
        self.bounds: set[tuple[int, str]] = set()  # dims and the coordinates that index them
        if len(self.shape) > 4:
            raise refuse(f"a captured tensor of rank {len(self.shape)}", "captured tensors have at most 4 dims")

    def __getitem__(self, index: Any) -> Any:
        return Indexed(self, ())[index]

    def read(self, indices: tuple[Symbol, ...] = ()) -> Symbol:
        """The element at `indices`, one a dim."""
        self.used = True
        name = f"%{self.name}"
        if self.passed_as == "tensor":
            name = self._extract(name, indices or (emit("arith.constant 0 : i32", "i32"),))
        if self.is_bool:
            return emit(f"arith.cmpi ne, {name}, {emit('arith.constant 0 : i32', 'i32').name} : i32", "i1")
        return Symbol(name, self.kind)

    def _extract(self, name: str, indices: tuple[Symbol, ...]) -> str:
        casts = [emit(f"arith.index_cast {index.name} : i32 to index", "index").name for index in indices]
        self.bounds |= {(dim, index.coordinate) for dim, index in enumerate(indices) if index.coordinate}
        return emit(f"tensor.extract {name}[{', '.join(casts)}] : {self.ir_type}", self.kind).name


class Indexed(Operand):
    """A captured tensor of which some dims are indexed, as in bias[h][i]."""

    def __init__(self, captured: Captured, indices: tuple[Symbol, ...]):
        self.captured, self.indices = captured, indices
        self.shape = captured.shape[len(indices):]

    def __getitem__(self, index: Any) -> Any:
        given = index if isinstance(index, tuple) else (index,)
        if len(given) > len(self.shape):
            raise refuse("an index", f"{len(given)} indices are for a tensor of {len(self.shape)} dims")
        indices = self.indices + tuple(self._as_index(one) for one in given)
        if len(indices) == len(self.captured.shape):
            return self.captured.read(indices)
        return Indexed(self.captured, indices)

    def _as_index(self, index: Any) -> Symbol:
        if isinstance(index, Symbol) and index.kind == "i32":
            return index
        if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
            return emit(f"arith.constant {index} : i32", "i32", natural=True)
        what = f"one of type {index.kind}" if isinstance(index, Symbol) else repr(index)
        raise refuse("an index", f"an index is an i32 or a number that is at least 0, got {what}")
