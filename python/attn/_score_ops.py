# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of score and mask functions, and the ops that they become. Types and
rounding are torch's. `__all__` has the functions, those of _math_functions among them:
`attn.ops` has these names, and symbols take those of torch and numpy for the same."""

from __future__ import annotations

from typing import Any, Callable

from . import _math_functions
from ._math_functions import *  # noqa: F403
from ._math_functions import exp, rsqrt, sqrt
from ._of_float import arithmetic, of_float
from ._operands import (Number, apply, cast, common_type, constant, held, integer, is_weak, is_wide, narrowed, number, rounded,
                        wrapped)
from ._symbols import Operand, Symbol, refuse, write
from ._torch_rules import bounds_pass_gradients
from ._types import FLOATS, INTEGERS, Range, computed_in

__all__ = [
    "where", "absolute", "sigmoid", "relu", "square", "reciprocal", "maximum", "minimum", "clamp", "logical_and", "logical_or",
    "logical_xor", "logical_not",
]
__all__ += _math_functions.__all__

_Binary = Callable[[Any, Any], Symbol]


# Arithmetic. Floats of 16 bits compute in f32 and are rounded at the end.


def _float_op(op: str, operands: tuple[Symbol | Number, ...], type: str) -> Symbol:
    """`op` on numbers whose common type is the float `type`. Numbers of Python are not
    rounded to 16 bits before."""
    held_in = computed_in(type)
    names = ", ".join(cast(one, held_in if is_weak(one) else type).name for one in operands)
    return rounded(Symbol(write(f"{op} {names} : {held_in}"), held_in), type)


def _bool_op(op: str, a: Any, b: Any) -> Symbol:
    return Symbol(write(f"arith.{op} {cast(a, 'bool').name}, {cast(b, 'bool').name} : i1"), "bool")


def _binary(name: str, float_op: str, int_op: str, exact: Callable[[Range, Range], Range], bool_op: str = ""
            ) -> Callable[[Any, Any], Symbol]:
    @arithmetic
    def function(a: Any, b: Any) -> Symbol:
        type = common_type(a, b)
        if type in FLOATS:
            return _float_op(float_op, (a, b), type)
        if type == "bool":
            if not bool_op:
                raise refuse(f"'{name}' of truth values", "use ^, ~ or logical_not")
            return _bool_op(bool_op, a, b)
        a, b = cast(a, type), cast(b, type)
        return integer(int_op, a, b, type, exact(a.range, b.range))

    return function


def _products(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return Range(min(corners), max(corners))


add = _binary("+", "arith.addf", "arith.addi", lambda a, b: Range(a.low + b.low, a.high + b.high), "ori")
subtract = _binary("-", "arith.subf", "arith.subi", lambda a, b: Range(a.low - b.high, a.high - b.low))
multiply = _binary("*", "arith.mulf", "arith.muli", _products, "andi")


def _extremum(name: str, pick: Callable[..., int], bool_op: str) -> Callable[[Any, Any], Symbol]:
    @arithmetic
    def function(a: Any, b: Any) -> Symbol:
        type = common_type(a, b)
        if type == "bool":
            return _bool_op(bool_op, a, b)
        a, b = cast(a, type), cast(b, type)
        if type in FLOATS:
            return Symbol(write(f"arith.{name}imumf {a.name}, {b.name} : {a.held_in}"), type)
        wide = is_wide(a, b)
        range = Range(pick(a.range.low, b.range.low), pick(a.range.high, b.range.high))
        return narrowed(apply(f"arith.{name}si", a, b, wide), type, range, wide)

    return function


maximum = _extremum("max", max, "ori")
minimum = _extremum("min", min, "andi")


@arithmetic
def divide(a: Any, b: Any) -> Symbol:
    """True division, of integers in f32."""
    type = common_type(a, b)
    if type in FLOATS:
        return _float_op("arith.divf", (a, b), type)
    return _float_op("arith.divf", (cast(a, "f32"), cast(b, "f32")), "f32")


def _integers(operation: str, a: Any, b: Any) -> tuple[Symbol, Symbol, str]:
    """The operands in their common type, which is one of integers, and that type."""
    type = common_type(a, b)
    if type not in INTEGERS:
        raise refuse(f"'{operation}' of {'a float' if type in FLOATS else 'truth values'}", "it is for integers")
    a, b = cast(a, type), cast(b, type)
    if operation in "//%" and b.range == Range(0, 0):
        raise refuse(f"'{operation}'", "the divisor is 0")
    return a, b, type


@arithmetic
def floor_divide(a: Any, b: Any) -> Symbol:
    a, b, type = _integers("//", a, b)
    if _is_power_of_two(b):
        return shift_right(a, b.range.low.bit_length() - 1)
    most = max(abs(a.range.low), abs(a.range.high)) // max(1, b.range.low, -b.range.high)
    quotient = _division("arith.divsi", a, b, type, Range(0 if a.range.natural and b.range.natural else -most, most))
    if a.range.natural and b.range.natural:
        return quotient
    # arith.divsi rounds toward zero.
    return where(_rounded_up(a, b, type), subtract(quotient, 1), quotient)


@arithmetic
def remainder(a: Any, b: Any) -> Symbol:
    """With the sign of `b`, as in Python."""
    a, b, type = _integers("%", a, b)
    if _is_power_of_two(b):
        return bitwise_and(a, b.range.low - 1)
    rest = _remainder_toward_zero(a, b, type)
    if a.range.natural and b.range.natural:
        return rest
    result = where(_rounded_up(a, b, type), add(rest, b), rest)
    range = Range(min(b.range.low + 1, 0), max(b.range.high - 1, 0))
    return narrowed(result.name, type, range, is_wide(result))


def _is_power_of_two(value: Symbol) -> bool:
    low, high = value.range
    return low == high and low > 0 and low & (low - 1) == 0


def _division(op: str, a: Symbol, b: Symbol, type: str, exact: Range) -> Symbol:
    wide = is_wide(a, b)
    limits = INTEGERS["i64" if wide else "i32"]  # where the quotient of the lowest number by -1 wraps around
    name = apply(op, a, b, wide)
    if not exact.within(limits):
        return wrapped(Symbol(name, type, limits), type)
    return wrapped(narrowed(name, type, exact, wide), type)


def _remainder_toward_zero(a: Symbol, b: Symbol, type: str) -> Symbol:
    most = min(max(abs(a.range.low), abs(a.range.high)), max(abs(b.range.low), abs(b.range.high)) - 1)
    return _division("arith.remsi", a, b, type, Range(0 if a.range.natural else -most, most))


def _rounded_up(a: Symbol, b: Symbol, type: str) -> Symbol:
    """Whether a / b, rounded toward zero, is above its floor."""
    rest = _remainder_toward_zero(a, b, type)
    if b.range.natural:
        return less(rest, 0)
    return bitwise_and(not_equal(rest, 0), bitwise_xor(less(rest, 0), less(b, 0)))


@arithmetic
def negative(a: Any) -> Symbol:
    type = common_type(a)
    if type in FLOATS:
        return _float_op("arith.negf", (a,), type)
    if type == "bool":
        raise refuse("'-' of a truth value", "use ~ or logical_not")
    return subtract(constant(0, type), cast(a, type))


@arithmetic
def absolute(a: Any) -> Symbol:
    type = common_type(a)
    if type in FLOATS:
        return _float_op("math.absf", (a,), type)
    if type == "bool":
        raise refuse("'abs' of a truth value", "it is for numbers")
    a = cast(a, type)
    if a.range.natural:
        return a
    result = maximum(a, negative(a))
    # The lowest number of a type has no opposite in it.
    low = 0 if -a.range.low <= INTEGERS[type].high else a.range.low
    return narrowed(result.name, type, Range(low, result.range.high), is_wide(result))


@arithmetic
def power(a: Any, b: Any) -> Symbol:
    known = {1: lambda x: x, 2: lambda x: multiply(x, x), 3: lambda x: multiply(multiply(x, x), x), 0.5: sqrt,
             -1: reciprocal, -0.5: rsqrt}
    if isinstance(b, Operand) or b not in known:
        raise refuse("a power", f"the exponent is one of {', '.join(map(str, known))}")
    type = common_type(a, b)
    if type in INTEGERS:
        if b < 0:
            raise refuse("a power", "the exponent of an integer is not negative")
        return known[b](cast(a, type))
    return rounded(known[b](cast(cast(a, type), computed_in(type))), type)


def square(a: Any) -> Symbol:
    return power(a, 2)


def clamp(a: Any, min: Any = None, max: Any = None) -> Symbol:  # torch's names
    operands = [number(value) for value in (a, min, max) if value is not None]
    type = common_type(*operands)
    a = cast(a, type)
    if type not in FLOATS:
        a = a if min is None else maximum(a, cast(min, type))
        return a if max is None else minimum(a, cast(max, type))
    a = a if min is None else _bounded(a, number(min), less, less_equal, maximum)
    return a if max is None else _bounded(a, number(max), greater, greater_equal, minimum)


def _bounded(a: Symbol, bound: Symbol | Number, beyond: _Binary, beyond_or_at: _Binary, extremum: _Binary) -> Symbol:
    """The float `a`, or the bound where `a` is beyond it. At the bound itself the gradient is torch's: see
    `bounds_pass_gradients`; if they do not, a tensor as the bound gets half of it."""
    if bounds_pass_gradients():
        return where(beyond(a, bound), bound, a)
    return extremum(a, bound) if isinstance(bound, Symbol) else where(beyond_or_at(a, bound), bound, a)


# Comparisons, logic and choice.


def _comparison(float_name: str, int_name: str) -> Callable[[Any, Any], Symbol]:
    @arithmetic
    def function(a: Any, b: Any) -> Symbol:
        type = common_type(a, b)
        a, b = cast(a, type), cast(b, type)
        if type in FLOATS:
            return Symbol(write(f"arith.cmpf {float_name}, {a.name}, {b.name} : {a.held_in}"), "bool")
        if type == "bool":
            a, b = cast(a, "i32"), cast(b, "i32")
        return Symbol(apply(f"arith.cmpi {int_name},", a, b, is_wide(a, b)), "bool")

    return function


less = _comparison("olt", "slt")
less_equal = _comparison("ole", "sle")
greater = _comparison("ogt", "sgt")
greater_equal = _comparison("oge", "sge")
equal = _comparison("oeq", "eq")
not_equal = _comparison("une", "ne")


def _bitwise(op: str, operator: str) -> Callable[[Any, Any], Symbol]:
    @arithmetic
    def function(a: Any, b: Any) -> Symbol:
        type = common_type(a, b)
        if type in FLOATS:
            raise refuse(f"'{operator}' of a float", "it is for integers and truth values")
        if type == "bool":
            return _bool_op(op, a, b)
        a, b = cast(a, type), cast(b, type)
        return integer(f"arith.{op}", a, b, type, _bits(operator, a.range, b.range))

    return function


def _bits(operator: str, a: Range, b: Range) -> Range:
    """The range of a bitwise operation."""
    if operator == "&" and (a.natural or b.natural):
        return Range(0, min(one.high for one in (a, b) if one.natural))
    above = 1 << max(max(~one.low, one.high) for one in (a, b)).bit_length()
    return Range(0 if a.natural and b.natural else -above, above - 1)


bitwise_and = _bitwise("andi", "&")
bitwise_or = _bitwise("ori", "|")
bitwise_xor = _bitwise("xori", "^")


def _logical(op: str) -> Callable[[Any, Any], Symbol]:
    return lambda a, b: _bool_op(op, a, b)


logical_and, logical_or, logical_xor = (_logical(op) for op in ("andi", "ori", "xori"))


@arithmetic
def invert(a: Any) -> Symbol:
    type = common_type(a)
    return bitwise_xor(cast(a, type) if type in INTEGERS else a, True if type == "bool" else 255 if type == "u8" else -1)


def logical_not(a: Any) -> Symbol:
    return invert(cast(a, "bool"))


_COUNTS = Range(0, 63)


@arithmetic
def shift_left(a: Any, b: Any) -> Symbol:
    """Where `b` is negative, or no less than the number of bits of the type, the result is 0,
    as that of a region's op is."""
    a, b, type = _integers("<<", a, b)
    if b.range.within(_COUNTS):
        corners = [x << y for x in a.range for y in b.range]
        return integer("arith.shli", a, b, type, Range(min(corners), max(corners)))
    wide = type == "i64"
    return wrapped(Symbol(apply("arith.shli", a, b, wide), type, INTEGERS["i64" if wide else "i32"]), type)


@arithmetic
def shift_right(a: Any, b: Any) -> Symbol:
    """Where `b` is negative, or no less than the number of bits of the type, the result is the
    sign of `a`, 0 or -1, as that of a region's op is."""
    a, b, type = _integers(">>", a, b)
    counts = b.range if b.range.within(_COUNTS) else _COUNTS
    corners = [x >> y for x in a.range for y in counts]
    wide = is_wide(a, b)
    return narrowed(apply("arith.shrsi", a, b, wide), type, Range(min(corners), max(corners)), wide)


def where(condition: Any, a: Any, b: Any) -> Symbol:
    a, b = number(a), number(b)
    type = common_type(a, b)
    a, b, chosen = cast(a, type), cast(b, type), cast(condition, "bool").name
    if type not in INTEGERS:
        return Symbol(write(f"arith.select {chosen}, {a.name}, {b.name} : {a.held_in}"), type)
    wide = is_wide(a, b)
    held_in = "i64" if wide else "i32"
    name = write(f"arith.select {chosen}, {held(a, held_in)}, {held(b, held_in)} : {held_in}")
    return narrowed(name, type, a.range.union(b.range), wide)


# Functions of a float, beside those that are ops.


reciprocal = of_float(lambda a: divide(1.0, a))
sigmoid = of_float(lambda a: reciprocal(add(1.0, exp(negative(a)))), "sigmoid")


def relu(a: Any) -> Symbol:
    a = number(a)
    if common_type(a) == "bool":
        raise refuse("'relu' of a truth value", "it is for numbers")
    return where(less_equal(a, 0), 0, a) if common_type(a) in FLOATS else maximum(a, 0)
