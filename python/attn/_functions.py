# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that operators and functions have in Python, torch and numpy."""

from __future__ import annotations

from typing import Any, Callable

from . import _score_ops as ops
from . import _types
from ._operands import Number, cast, number
from ._symbols import Operand, Symbol, check_differentiated, is_differentiated, recorder_capture, refuse

_OPERATORS: dict[str, Callable[..., Symbol]] = {
    "add": ops.add, "sub": ops.subtract, "mul": ops.multiply, "truediv": ops.divide, "floordiv": ops.floor_divide,
    "mod": ops.remainder, "pow": ops.power, "and": ops.bitwise_and, "or": ops.bitwise_or, "xor": ops.bitwise_xor,
    "lshift": ops.shift_left, "rshift": ops.shift_right,
}
_COMPARISONS: dict[str, Callable[..., Symbol]] = {
    "lt": ops.less, "le": ops.less_equal, "gt": ops.greater, "ge": ops.greater_equal, "eq": ops.equal, "ne": ops.not_equal,
}
_UNARY: dict[str, Callable[..., Any]] = {
    "neg": ops.negative, "abs": ops.absolute, "invert": ops.invert, "pos": lambda a: a,
}
_FUNCTIONS: dict[str, Callable[..., Symbol]] = {name: getattr(ops, name) for name in ops.__all__}


# Conversions.


def _to(a: Any, dtype: Any = None, *_: Any, **__: Any) -> Symbol | Number:
    """Tensor.to and similar methods. Options about devices and copies are ignored."""
    if isinstance(dtype, Operand):
        return cast(a, dtype.type)
    is_device = dtype is None or type(dtype).__name__ == "device" or (isinstance(dtype, str) and not _types.named(dtype))
    return number(a) if is_device else cast(a, _named(dtype))


def _named(dtype: Any) -> str:
    name = _types.named(dtype)
    if name is None:
        raise refuse(f"a conversion to {dtype}", f"conversions are to {', '.join(_types.LONG_NAMES.values())}")
    return name


def _detached(a: Any) -> Symbol | Number:
    """Integers and truth values have no derivative, and masks neither."""
    a = number(a)
    if isinstance(a, Symbol) and a.type in _types.FLOATS and is_differentiated():
        raise refuse("'detach' of a float", "a kernel of gradients differentiates all of a score function")
    return a


def _cloned(a: Any, **_: Any) -> Symbol | Number:
    a = number(a)
    if isinstance(a, Symbol) and a.type in _types.FLOATS:
        check_differentiated()
    return a


def _converts_to(dtype: str) -> Callable[..., Symbol]:
    return lambda a, **_: cast(a, dtype)


# Constants of rank 0.


def _filled(a: Any, fill_value: Any, dtype: Any = None, **_: Any) -> Symbol:
    """The number `fill_value` in the type of `a`, or in `dtype`."""
    name = a.type if dtype is None else _named(dtype)
    if isinstance(fill_value, float) and name in _types.INTEGERS:
        fill_value = int(fill_value)
    return cast(fill_value, name)


def _new(a: Any, size: Any, fill_value: Any, **rest: Any) -> Symbol:
    if size != ():
        raise refuse("a new tensor", f"only those of size () are numbers, got {size}")
    return _filled(a, fill_value, **rest)


# Methods whose operands come in another order than those of the function of their name.
_METHODS: dict[str, Callable[..., Any]] = {"where": lambda a, condition, other: ops.where(condition, a, other)}
_ALIASES: dict[str, Callable[..., Any]] = {
    "abs": ops.absolute, "clip": ops.clamp, "subtract": ops.subtract, "multiply": ops.multiply, "divide": ops.divide,
    "true_divide": ops.divide, "div": ops.divide, "floor_divide": ops.floor_divide, "remainder": ops.remainder,
    "neg": ops.negative, "negative": ops.negative, "power": ops.power, "less": ops.less, "less_equal": ops.less_equal,
    "greater": ops.greater, "greater_equal": ops.greater_equal, "equal": ops.equal, "not_equal": ops.not_equal,
    "bitwise_and": ops.bitwise_and, "bitwise_or": ops.bitwise_or, "bitwise_xor": ops.bitwise_xor, "bitwise_not": ops.invert,
    "invert": ops.invert, "bitwise_left_shift": ops.shift_left, "bitwise_right_shift": ops.shift_right,
    "left_shift": ops.shift_left, "right_shift": ops.shift_right, "sub": ops.subtract, "mul": ops.multiply, "add": ops.add,
    "pow": ops.power, "rsub": lambda a, b: ops.subtract(b, a), "min": ops.minimum, "max": ops.maximum,
    "clone": _cloned, "detach": _detached, "contiguous": lambda a, **_: number(a),
    "to": _to, "type": _to, "type_as": _to, "astype": _to, "bool": _converts_to("bool"), "byte": _converts_to("u8"),
    "char": _converts_to("i8"), "short": _converts_to("i16"), "int": _converts_to("i32"), "long": _converts_to("i64"),
    "half": _converts_to("f16"), "bfloat16": _converts_to("bf16"), "float": _converts_to("f32"),
    "double": _converts_to("f64"), "zeros_like": lambda a, **kinds: _filled(a, 0, **kinds),
    "ones_like": lambda a, **kinds: _filled(a, 1, **kinds), "full_like": _filled,
    "new_zeros": lambda a, size, **kinds: _new(a, size, 0, **kinds),
    "new_ones": lambda a, size, **kinds: _new(a, size, 1, **kinds), "new_full": _new,
}


def install() -> None:
    """Gives symbols their operators and functions."""
    table = Operand.functions
    table.update(_ALIASES)
    table.update(_FUNCTIONS)
    table.update(_COMPARISONS)
    for name, function in _OPERATORS.items():
        reflected = (lambda f: lambda a, b: f(b, a))(function)
        table[f"__{name}__"] = table[f"__i{name}__"] = function
        table[f"__r{name}__"] = reflected
        setattr(Operand, f"__{name}__", function)
        setattr(Operand, f"__r{name}__", reflected)
    for name, function in {**_COMPARISONS, **_UNARY}.items():
        table[f"__{name}__"] = function
        setattr(Operand, f"__{name}__", function)
    # torch knows the reflected division by this name.
    table["__rdiv__"] = table["__rtruediv__"]
    table["__getitem__"] = lambda tensor, index: recorder_capture(tensor)[index]
    Operand.methods = _METHODS
    Operand.supported = f"supported are Python's operators, {', '.join(_FUNCTIONS)}"
