# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What score and mask functions can compute, and the ops that it becomes: the
operators of Python, and functions under the names that torch and numpy use."""

from __future__ import annotations

import struct
from typing import Any, Callable

from . import _tensors
from ._symbols import Captured, Indexed, Operand, Scalar, Symbol, emit, recorder_capture, refuse

_ORDER = ("i1", "i32", "f32")
LN2 = 0.6931471805599453


# Operands: symbols, captured numbers and Python's numbers.


def _kind_of(value: Any) -> str:
    if isinstance(value, Symbol):
        return value.kind
    return "i1" if isinstance(value, bool) else "i32" if isinstance(value, int) else "f32"


def _number(value: Any) -> Any:
    """`value` as a Symbol or a number of Python."""
    if isinstance(value, (Symbol, bool, int, float)):
        return value
    if isinstance(value, Indexed) or (isinstance(value, Captured) and value.shape):
        raise refuse("a captured tensor as a whole", f"index all of its dims; {len(value.shape)} are left")
    if isinstance(value, Captured):
        return value.read()
    if isinstance(value, Scalar) or _tensors.is_tensor(value):
        return _number(recorder_capture(value))
    if hasattr(value, "item"):
        return value.item()
    raise refuse(f"an operand of type {type(value).__name__}", "operands are numbers and elements of tensors")


def _constant(value: float, kind: str) -> Symbol:
    if kind == "i1":
        return emit(f"arith.constant {'true' if value else 'false'}", kind)
    if kind == "i32":
        if not -(2**31) <= value < 2**31:
            raise refuse(f"the integer {value}", "integers have 32 bits")
        return emit(f"arith.constant {int(value)} : i32", kind, natural=value >= 0)
    try:
        bits = struct.pack(">f", value)
    except OverflowError:
        bits = struct.pack(">f", float("inf") if value > 0 else float("-inf"))
    return emit(f"arith.constant 0x{bits.hex().upper()} : f32", kind)


def cast(value: Any, kind: str) -> Symbol:
    """`value` as a symbol of `kind`; from a number to i1: whether it is not 0."""
    value = _number(value)
    if not isinstance(value, Symbol):
        return _constant(value, kind)
    if value.kind == kind:
        return value
    if kind == "i1":
        compare = "cmpf une" if value.kind == "f32" else "cmpi ne"
        return emit(f"arith.{compare}, {value.name}, {_constant(0, value.kind).name} : {value.kind}", "i1")
    if value.kind == "i1":
        one, zero = _constant(1, kind), _constant(0, kind)
        return emit(f"arith.select {value.name}, {one.name}, {zero.name} : {kind}", kind, natural=kind == "i32")
    if kind == "i32":
        raise refuse("a conversion from f32 to an integer", "there is no rounding to integers")
    return emit(f"arith.sitofp {value.name} : i32 to f32", "f32")


def _together(*values: Any, least: str = "i1") -> list[Symbol]:
    """The values as symbols of one kind, `least` or more."""
    numbers = [_number(value) for value in values]
    kind = max([least, *map(_kind_of, numbers)], key=_ORDER.index)
    return [cast(number, kind) for number in numbers]


def _apply(op: str, *operands: Symbol, natural: bool = False) -> Symbol:
    kind = operands[0].kind
    return emit(f"{op} {', '.join(o.name for o in operands)} : {kind}", kind, natural)


# Arithmetic.


def _arithmetic(float_op: str, int_op: str, keeps_natural: bool) -> Callable[[Any, Any], Symbol]:
    def function(a: Any, b: Any) -> Symbol:
        a, b = _together(a, b, least="i32")
        natural = keeps_natural and a.natural and b.natural
        return _apply(float_op if a.kind == "f32" else int_op, a, b, natural=natural)

    return function


add = _arithmetic("arith.addf", "arith.addi", True)
subtract = _arithmetic("arith.subf", "arith.subi", False)
multiply = _arithmetic("arith.mulf", "arith.muli", True)
maximum = _arithmetic("arith.maximumf", "arith.maxsi", True)
minimum = _arithmetic("arith.minimumf", "arith.minsi", True)


def divide(a: Any, b: Any) -> Symbol:
    return _apply("arith.divf", *_together(a, b, least="f32"))


def _integers(operation: str, a: Any, b: Any) -> list[Symbol]:
    a, b = _together(a, b, least="i32")
    if a.kind == "f32":
        raise refuse(f"'{operation}' of a float", "it is for integers")
    return [a, b]


def floor_divide(a: Any, b: Any) -> Symbol:
    shift = b.bit_length() - 1 if _is_power_of_two(b) else 0
    a, b = _integers("//", a, b)
    if shift:
        return shift_right(a, shift)
    quotient = _apply("arith.divsi", a, b, natural=a.natural and b.natural)
    if a.natural and b.natural:
        return quotient
    # arith.divsi rounds toward zero.
    return where(_rounded_up(a, b), subtract(quotient, 1), quotient)


def remainder(a: Any, b: Any) -> Symbol:
    """With the sign of `b`, as in Python."""
    mask = b - 1 if _is_power_of_two(b) else 0
    a, b = _integers("%", a, b)
    if mask:
        return bitwise_and(a, mask)
    rest = _apply("arith.remsi", a, b, natural=a.natural and b.natural)
    if a.natural and b.natural:
        return rest
    return where(_rounded_up(a, b), add(rest, b), rest)


def _is_power_of_two(value: Any) -> bool:
    return type(value) is int and value > 0 and value & (value - 1) == 0


def _rounded_up(a: Symbol, b: Symbol) -> Symbol:
    """Whether a / b, rounded toward zero, is above its floor."""
    rest = _apply("arith.remsi", a, b)
    if b.natural:
        return less(rest, 0)
    return _apply("arith.andi", not_equal(rest, 0), _apply("arith.xori", less(rest, 0), less(b, 0)))


def negative(a: Any) -> Symbol:
    (a,) = _together(a, least="i32")
    return _apply("arith.negf", a) if a.kind == "f32" else subtract(0, a)


def absolute(a: Any) -> Symbol:
    (a,) = _together(a, least="i32")
    return _apply("math.absf", a) if a.kind == "f32" else _apply("arith.maxsi", a, negative(a), natural=True)


def power(a: Any, b: Any) -> Symbol:
    known = {1: lambda x: x, 2: square, 3: lambda x: multiply(square(x), x), 0.5: sqrt, -1: reciprocal, -0.5: rsqrt}
    a = _together(a, least="i32")[0]
    if isinstance(b, Operand) or b not in known:
        raise refuse("a power", f"the exponent is one of {', '.join(map(str, known))}")
    return known[b](a)


def square(a: Any) -> Symbol:
    return multiply(a, a)


def clamp(a: Any, min: Any = None, max: Any = None) -> Symbol:  # noqa: A002 (torch's names)
    a = a if min is None else maximum(a, min)
    return a if max is None else minimum(a, max)


# Comparisons, logic and choice.


def _comparison(float_name: str, int_name: str) -> Callable[[Any, Any], Symbol]:
    def function(a: Any, b: Any) -> Symbol:
        a, b = _together(a, b, least="i32")
        op = f"arith.cmpf {float_name}" if a.kind == "f32" else f"arith.cmpi {int_name}"
        return emit(f"{op}, {a.name}, {b.name} : {a.kind}", "i1")

    return function


less = _comparison("olt", "slt")
less_equal = _comparison("ole", "sle")
greater = _comparison("ogt", "sgt")
greater_equal = _comparison("oge", "sge")
equal = _comparison("oeq", "eq")
not_equal = _comparison("une", "ne")


def _bitwise(op: str, operator: str, least: str, logical: bool = False) -> Callable[[Any, Any], Symbol]:
    def function(a: Any, b: Any) -> Symbol:
        a, b = (cast(a, "i1"), cast(b, "i1")) if logical else _together(a, b, least=least)
        if a.kind == "f32":
            raise refuse(f"'{operator}' of a float", "it is for integers and truth values")
        return _apply(op, a, b, natural=a.natural and (b.natural or operator in ("&", ">>")))

    return function


bitwise_and = _bitwise("arith.andi", "&", "i1")
bitwise_or = _bitwise("arith.ori", "|", "i1")
bitwise_xor = _bitwise("arith.xori", "^", "i1")
shift_left = _bitwise("arith.shli", "<<", "i32")
shift_right = _bitwise("arith.shrsi", ">>", "i32")
logical_and = _bitwise("arith.andi", "&", "i1", logical=True)
logical_or = _bitwise("arith.ori", "|", "i1", logical=True)
logical_xor = _bitwise("arith.xori", "^", "i1", logical=True)


def invert(a: Any) -> Symbol:
    (a,) = _together(a)
    return bitwise_xor(a, True if a.kind == "i1" else -1)


def logical_not(a: Any) -> Symbol:
    return invert(cast(a, "i1"))


def where(condition: Any, a: Any, b: Any) -> Symbol:
    a, b = _together(a, b)
    natural = a.natural and b.natural
    return emit(f"arith.select {cast(condition, 'i1').name}, {a.name}, {b.name} : {a.kind}", a.kind, natural)


# Functions of a float.


def _of_float(op: str) -> Callable[[Any], Symbol]:
    return lambda a: _apply(op, cast(a, "f32"))


exp, exp2, log, log2 = (_of_float(f"math.{name}") for name in ("exp", "exp2", "log", "log2"))
sqrt, rsqrt, tanh = (_of_float(f"math.{name}") for name in ("sqrt", "rsqrt", "tanh"))


def reciprocal(a: Any) -> Symbol:
    return divide(1.0, a)


def sigmoid(a: Any) -> Symbol:
    return reciprocal(add(1.0, exp(negative(a))))


def relu(a: Any) -> Symbol:
    return maximum(a, 0)


# What torch and numpy call them.


def _convert(a: Any, dtype: Any = None, **_: Any) -> Symbol:
    """Tensor.to and the like: floats are f32 whatever their width."""
    name = str(dtype).rpartition(".")[2]
    kind = "f32" if "float" in name else "i1" if name == "bool" else "i32" if "int" in name else ""
    if not kind:
        raise refuse(f"a conversion to {dtype}", "conversions are to element types")
    return cast(a, kind)


def _torch_where(a: Any, b: Any, c: Any) -> Symbol:
    """where(condition, x, y) and x.where(condition, y)."""
    return where(b, a, c) if _kind_of(_number(a)) != "i1" and _kind_of(_number(b)) == "i1" else where(a, b, c)


OPERATORS: dict[str, Callable[..., Symbol]] = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floor_divide, "mod": remainder,
    "pow": power, "and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor, "lshift": shift_left,
    "rshift": shift_right,
}
COMPARISONS: dict[str, Callable[..., Symbol]] = {
    "lt": less, "le": less_equal, "gt": greater, "ge": greater_equal, "eq": equal, "ne": not_equal,
}
UNARY: dict[str, Callable[..., Symbol]] = {"neg": negative, "abs": absolute, "invert": invert, "pos": lambda a: a}
# Public functions, those of `attn.ops`.
FUNCTIONS: dict[str, Callable[..., Symbol]] = {
    "where": _torch_where, "abs": absolute, "exp": exp, "exp2": exp2, "log": log, "log2": log2, "sqrt": sqrt,
    "rsqrt": rsqrt, "tanh": tanh, "sigmoid": sigmoid, "relu": relu, "square": square, "reciprocal": reciprocal,
    "maximum": maximum, "minimum": minimum, "clamp": clamp, "logical_and": logical_and, "logical_or": logical_or,
    "logical_xor": logical_xor, "logical_not": logical_not,
}
_ALIASES: dict[str, Callable[..., Symbol]] = {
    "absolute": absolute, "clip": clamp, "subtract": subtract, "multiply": multiply, "divide": divide,
    "true_divide": divide, "div": divide, "floor_divide": floor_divide, "remainder": remainder, "neg": negative,
    "negative": negative, "power": power, "less": less, "less_equal": less_equal, "greater": greater,
    "greater_equal": greater_equal, "equal": equal, "not_equal": not_equal, "bitwise_and": bitwise_and,
    "bitwise_or": bitwise_or, "bitwise_xor": bitwise_xor, "bitwise_not": invert, "invert": invert,
    "bitwise_left_shift": shift_left, "bitwise_right_shift": shift_right, "left_shift": shift_left,
    "right_shift": shift_right, "sub": subtract, "mul": multiply, "add": add, "pow": power, "to": _convert,
    "type": _convert, "float": lambda a: cast(a, "f32"), "bool": lambda a: cast(a, "i1"),
    "int": lambda a: cast(a, "i32"), "long": lambda a: cast(a, "i32"),
    "zeros_like": lambda a, **_: _constant(0, _kind_of(a)), "ones_like": lambda a, **_: _constant(1, _kind_of(a)),
    "full_like": lambda a, fill_value, **_: cast(fill_value, _kind_of(a)), "clone": lambda a: a, "detach": lambda a: a,
    "min": minimum, "max": maximum, "rsub": lambda a, b: subtract(b, a),
}


def _install() -> None:
    table = Operand.functions
    table.update(_ALIASES)
    table.update(FUNCTIONS)
    table.update(COMPARISONS)
    for name, function in OPERATORS.items():
        reflected = (lambda f: lambda a, b: f(b, a))(function)
        table[f"__{name}__"] = table[f"__i{name}__"] = function
        table[f"__r{name}__"] = reflected
        setattr(Operand, f"__{name}__", function)
        setattr(Operand, f"__r{name}__", reflected)
    for name, function in {**COMPARISONS, **UNARY}.items():
        table[f"__{name}__"] = function
        setattr(Operand, f"__{name}__", function)
    # torch knows the reflected division by this name.
    table["__rdiv__"] = table["__rtruediv__"]
    Operand.supported = f"supported are Python's operators, {', '.join(FUNCTIONS)}"
    table["__getitem__"] = lambda tensor, index: recorder_capture(tensor)[index]


_install()
