# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of the operations on symbols, and their conversions between element types."""

from __future__ import annotations

from typing import Any, Union

from . import _tensors, _types
from ._captures import Captured, Indexed
from ._errors import ArgumentError
from ._symbols import Scalar, Symbol, check_differentiated, recorder_capture, refuse, write
from ._types import FLOATS, I32, INTEGERS, Range, computed_in

Number = Union[bool, int, float]


def number(value: Any) -> Symbol | Number:
    """`value` as a Symbol or a number of Python."""
    if isinstance(value, (Symbol, bool, int, float)):
        return value
    if isinstance(value, Indexed) or (isinstance(value, Captured) and value.shape):
        raise refuse("a captured tensor as a whole", f"index all of its dims; {len(value.shape)} are left")
    if isinstance(value, Captured):
        return value.read()
    if isinstance(value, Scalar) or _tensors.is_tensor(value):
        return number(recorder_capture(value))
    if hasattr(value, "item"):
        return number(value.item())
    raise refuse(f"an operand of type {type(value).__name__}", "operands are numbers and elements of tensors")


def is_weak(value: Symbol | Number) -> bool:
    return not isinstance(value, Symbol) or value.weak


def common_type(*values: Symbol | Number) -> str:
    """The type that torch promotes the numbers to."""
    weak = [v.type if isinstance(v, Symbol) else _types.number_dtype(v) for v in values if is_weak(v)]
    return _types.promote([v.type for v in values if isinstance(v, Symbol) and not v.weak], weak)


def constant(value: Number, type: str) -> Symbol:
    try:
        value = _types.converted(value, type)
    except ArgumentError as error:
        raise refuse(f"the number {value}", str(error)) from None
    if type == "bool":
        return Symbol(write(f"arith.constant {'true' if value else 'false'}"), type)
    if type in FLOATS:
        held_in = computed_in(type)
        return Symbol(write(f"arith.constant 0x{_types.bits_of(value, held_in)} : {held_in}"), type)
    result = Symbol("", type, Range(int(value), int(value)))
    result.name = write(f"arith.constant {value} : {result.held_in}")
    return result


def cast(value: Any, type: str) -> Symbol:
    """`value` in `type`, as torch converts it: integers wrap around, floats are rounded,
    a truth value says whether a number is not 0."""
    value = number(value)
    if not isinstance(value, Symbol):
        return constant(value, type)
    if value.automatic and type in ("bool", "f64"):
        raise refuse("this conversion of a number that changes", "the kernel has it in float32")
    if value.type == type:
        return value.as_type(type)
    if type == "bool":
        return _is_not_zero(value)
    if type in FLOATS:
        return _float(value, type)
    if value.type in FLOATS:
        raise refuse(f"a conversion from {_types.LONG_NAMES[value.type]} to an integer", "there is no rounding to integers")
    if value.type == "bool":
        one, zero = constant(1, "i32"), constant(0, "i32")
        return Symbol(write(f"arith.select {value.name}, {one.name}, {zero.name} : i32"), type, Range(0, 1))
    return wrapped(value, type)


def _is_not_zero(value: Symbol) -> Symbol:
    if value.type in FLOATS:
        return Symbol(write(f"arith.cmpf une, {value.name}, {constant(0.0, value.held_in).name} : {value.held_in}"), "bool")
    wide = is_wide(value)
    return Symbol(apply("arith.cmpi ne,", value, constant(0, value.type), wide), "bool")


# Floats.


def _float(value: Symbol, type: str) -> Symbol:
    """A number of another type as a float of `type`."""
    if value.type == "bool":
        value = cast(value, "i32")
    target = computed_in(type)
    if value.type in INTEGERS:
        return rounded(Symbol(write(f"arith.sitofp {value.name} : {value.held_in} to {target}"), target), type)
    if value.held_in == target:
        if type != value.type:
            check_differentiated()
        return rounded(value.as_type(target), type) if type != target else value.as_type(type)
    op = "extf" if target == "f64" else "truncf"
    return rounded(Symbol(write(f"arith.{op} {value.name} : {value.held_in} to {target}"), target), type)


def rounded(value: Symbol, type: str) -> Symbol:
    """`value`, rounded to the nearest float of `type`. It has the type in which floats of
    `type` compute, and the result keeps that."""
    if type == value.type:
        return value
    narrow = write(f"arith.truncf {value.name} : {value.type} to {type}")
    return Symbol(write(f"arith.extf {narrow} : {type} to {value.type}"), type)


# Integers.


def wrapped(value: Symbol, type: str) -> Symbol:
    """The integer of `type` with the low bits of `value`."""
    limits = INTEGERS[type]
    if value.range.within(limits):
        return value.as_type(type)
    name = held(value, "i32")
    if type != "i32":
        bits = f"i{limits.high.bit_length() + (limits.low < 0)}"
        op = "extui" if type == "u8" else "extsi"
        name = write(f"arith.{op} {write(f'arith.trunci {name} : i32 to {bits}')} : {bits} to i32")
    return Symbol(name, type, limits)


def held(value: Symbol, held_in: str) -> str:
    """The name of the low bits of an integer, as "i32" or "i64"."""
    if value.held_in == held_in:
        return value.name
    if held_in == "i64":
        return write(f"arith.extsi {value.name} : i32 to i64")
    return write(f"arith.trunci {value.name} : i64 to i32")


def integer(op: str, a: Symbol, b: Symbol, type: str, exact: Range) -> Symbol:
    """The result of `op` in `type`, whose low bits depend on those of its operands alone.
    `exact`: its range if it did not wrap around."""
    wide = type == "i64" and not (exact.within(I32) and not is_wide(a, b))
    name = apply(op, a, b, wide)
    if exact.within(INTEGERS[type]):
        return narrowed(name, type, exact, wide)
    return wrapped(Symbol(name, type, INTEGERS["i64" if wide else "i32"]), type)


def apply(op: str, a: Symbol, b: Symbol, wide: bool) -> str:
    """The name of the result of `op` on two integers, in i64 if `wide`."""
    held_in = "i64" if wide else "i32"
    return write(f"{op} {held(a, held_in)}, {held(b, held_in)} : {held_in}")


def narrowed(name: str, type: str, exact: Range, wide: bool) -> Symbol:
    """The integer `name`, of i64 if `wide`, in the type that its range needs."""
    result = Symbol(name, type, exact)
    if wide and result.held_in == "i32":
        result.name = write(f"arith.trunci {name} : i64 to i32")
    return result


def is_wide(*operands: Symbol) -> bool:
    return any(operand.held_in == "i64" for operand in operands)
