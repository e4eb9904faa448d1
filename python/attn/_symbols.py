# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stand-ins for the numbers that a kernel computes for a pair of positions. Operations on them
are recorded as ops of a region. They support Python's operators, and the functions of torch and
numpy through those libraries' own protocols."""

from __future__ import annotations

import re
import sys
import threading
from typing import Any, Callable

from . import _types
from ._errors import TraceError
from ._types import Range
from ._user_code import where

_active = threading.local()


def refuse(operation: str, reason: str) -> TraceError:
    return TraceError(f"{operation} at {where()} cannot become part of a kernel: {reason}")


# The text of an op whose result is no float, or a constant.
_WITHOUT_DERIVATIVE = re.compile(r"arith\.(constant|cmp[fi]) |.*[ x](i\d+|index)>?$")


class Recorder:
    """The ops of one region so far. Equal ops are recorded once. Inside `with recorder:` it is
    the one that symbols write to. `capture` returns the stand-in of a tensor or Scalar, under the
    given name if that is free."""

    def __init__(self, capture: Callable[..., Any]):
        self.capture = capture
        # While a function runs whose result is differentiated: whether torch records derivatives.
        self.records_derivatives: Callable[[], bool] | None = None
        self._values: dict[str, str] = {}

    def __enter__(self) -> Recorder:
        self._outer = getattr(_active, "recorder", None)
        _active.recorder = self
        return self

    def __exit__(self, *_: object) -> None:
        _active.recorder = self._outer

    def lines(self) -> tuple[str, ...]:
        return tuple(f"{name} = {text}" for text, name in self._values.items())


def check_differentiated() -> None:
    """Refuses to compute a float where torch records no derivatives."""
    records = _active.recorder.records_derivatives
    if records is not None and not records():
        raise refuse("a float that is computed under torch.no_grad() or torch.inference_mode()",
                     "a kernel of gradients differentiates all of a score function")


def write(text: str) -> str:
    """Records the op `text` and returns the name of its result."""
    if not _WITHOUT_DERIVATIVE.match(text):
        check_differentiated()
    values = _active.recorder._values
    return values.setdefault(text, f"%{len(values)}")


def is_differentiated() -> bool:
    """Whether the function that is being traced has derivatives."""
    return _active.recorder.records_derivatives is not None


def recorder_capture(value: Any, name: str = "") -> Any:
    """The stand-in of a tensor or Scalar in the region that is being traced."""
    return _active.recorder.capture(value, name)


class Operand:
    """The common part of Symbol and Captured: the protocols of tensor libraries, and
    refusals. Operators and functions are in _functions."""

    functions: dict[str, Callable[..., Any]] = {}
    methods: dict[str, Callable[..., Any]] = {}  # methods that differ from the function of the same name
    supported = ""  # the names that messages offer
    type = ""  # the element type's short name
    shape: tuple[int, ...] = ()
    device: Any = None  # torch's functions then choose their default

    @classmethod
    def __torch_function__(cls, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # torch's functions are builtins of a module, methods are descriptors.
        is_method = hasattr(function, "__objclass__")
        return call_function(function.__name__.removeprefix("special_"), args, kwargs or {}, is_method)

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
        return call_function(name, args, kwargs)

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(function.__name__, args, kwargs)

    @property
    def dtype(self) -> Any:
        """The element type, as torch knows it if the program has imported torch, otherwise
        as numpy does."""
        long_name = _types.LONG_NAMES[self.type]
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None:
            return getattr(torch, long_name)
        if numpy is not None and self.type != "bf16":
            return numpy.dtype(long_name)
        raise refuse("'dtype'", "there is no library whose element type it could be")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.functions and name not in self.methods:
            raise refuse(f"'{name}'", Operand.supported)
        return lambda *args, **kwargs: call_function(name, (self, *args), kwargs, is_method=True)

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


def has_operand(values: Any) -> bool:
    return any(isinstance(v, Operand) or (isinstance(v, (tuple, list)) and has_operand(v)) for v in values)


def call_function(name: str, args: Any, kwargs: Any, is_method: bool = False) -> Any:
    """Calls the function or method that tensor libraries know as `name`."""
    function = is_method and Operand.methods.get(name) or Operand.functions.get(name)
    if function is None:
        raise refuse(f"'{name}'", Operand.supported)
    try:
        return function(*args, **kwargs)
    except TraceError:
        raise
    except TypeError as error:
        raise refuse(f"'{name}'", re.sub(r"^\S+\(\) ", "it ", str(error))) from None


class Symbol(Operand):
    """A number of an element type, as torch's tensors of rank 0 are. The region holds
    floats of 16 bits in f32, integers in i32 if `range` is within it, otherwise in i64.

    Attributes:
        type: the element type.
        range: the values that an integer may have.
        weak: whether it counts as a Python number where the type of a result is chosen.
        automatic: whether it is a Python number that was made an argument automatically. Its
            operations must give exactly Python's results.
        coordinate: "b", "h", "i" or "j" for one of those, otherwise "".
    """

    def __init__(self, name: str, type: str, range: Range | None = None, coordinate: str = ""):
        self.name, self.type, self.coordinate = name, type, coordinate
        self.range = range or _types.INTEGERS.get(type, Range(0, 1))
        self.weak = self.automatic = False

    @property
    def held_in(self) -> str:
        """The type of the region's value."""
        if self.type == "bool":
            return "i1"
        if self.type in _types.FLOATS:
            return _types.computed_in(self.type)
        return "i32" if self.range.within(_types.I32) else "i64"

    def as_type(self, type: str) -> Symbol:
        """The same value in another type, which contains it and has the same representation."""
        return Symbol(self.name, type, self.range, self.coordinate)


class Scalar:
    """A number that score and mask functions capture; every launch reads its current value.

    ``cap = attn.Scalar(20.0)`` is f32 in the kernel, ``attn.Scalar(3)`` i32. Assigning
    ``cap.value`` compiles nothing. It counts as a Python number where the type of a result is
    chosen.
    """

    automatic = False

    def __init__(self, value: float):
        self.value = value
        self.kind = "i32" if isinstance(value, int) else "f32"
