# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element types that score and mask functions compute in, with torch's rules for the type of a result and for the
conversion of numbers."""

from __future__ import annotations

import struct
from typing import Any, Iterable, NamedTuple

from ._errors import ArgumentError, TraceError


class Range(NamedTuple):
    """The integers from `low` to `high`, inclusive."""

    low: int
    high: int

    def within(self, other: Range) -> bool:
        return other.low <= self.low and self.high <= other.high

    def union(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))

    @property
    def natural(self) -> bool:
        return self.low >= 0


def _signed(bits: int) -> Range:
    return Range(-(1 << bits - 1), (1 << bits - 1) - 1)


# The narrower ones first.
INTEGERS = {"u8": Range(0, 255), "i8": _signed(8), "i16": _signed(16), "i32": _signed(32), "i64": _signed(64)}
FLOATS = ("bf16", "f16", "f32", "f64")
I32, I64 = INTEGERS["i32"], INTEGERS["i64"]
LONG_NAMES = {
    "bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "bf16": "bfloat16",
    "f16": "float16", "f32": "float32", "f64": "float64",
}
_SHORT_NAMES = {long: short for short, long in LONG_NAMES.items()}
# Other names of torch and Python for them.
_SHORT_NAMES.update({"half": "f16", "float": "f32", "int": "i64", "short": "i16", "long": "i64", "double": "f64"})
_DEFAULTS = ("bool", "i64", "f32")  # of Python's bool, int and float


def named(dtype: Any) -> str | None:
    """The short name of a dtype of torch or numpy, or of a type of Python; None if
    functions cannot compute in it."""
    return _SHORT_NAMES.get(getattr(dtype, "__name__", str(dtype)).rpartition(".")[2])


def _category(dtype: str) -> int:
    return 0 if dtype == "bool" else 1 if dtype in INTEGERS else 2


def _promote(a: str, b: str) -> str:
    if a == b or _category(b) < _category(a):
        return a
    if _category(a) < _category(b):
        return b
    if _category(a) == 2:
        return max("f32", a, b, key=FLOATS.index)
    if {a, b} == {"u8", "i8"}:
        return "i16"  # the type that contains both
    return max(a, b, key=list(INTEGERS).index)


def promote(dtypes: Iterable[str], number_dtypes: Iterable[str] = ()) -> str:
    """The type of a result of operands of `dtypes` and of Python's numbers, whose
    default types are `number_dtypes`. A number matters only if no operand is of its
    category (truth values, integers, floats) or of a higher one."""
    result = ""
    for dtype in dtypes:
        result = _promote(result, dtype) if result else dtype
    number = max(map(_category, number_dtypes), default=-1)
    return result if result and _category(result) >= number else _DEFAULTS[number]


def computed_in(dtype: str) -> str:
    """The type of arithmetic on floats of `dtype`."""
    return "f64" if dtype == "f64" else "f32"


def number_dtype(value: bool | int | float) -> str:
    """The type that torch gives a number of Python."""
    return _DEFAULTS[0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2]


def rounded(value: float, dtype: str) -> float:
    """`value` rounded to a float of `dtype`."""
    if dtype == "f64":
        return float(value)
    if dtype == "bf16":
        (bits,) = struct.unpack(">I", _packed(value, ">f"))
        if value == value:
            bits += 0x7FFF + (bits >> 16 & 1)  # to nearest, ties to even
        return struct.unpack(">f", struct.pack(">I", bits & 0xFFFF0000))[0]
    (value,) = struct.unpack(">f", _packed(value, ">f"))
    return value if dtype == "f32" else struct.unpack(">e", _packed(value, ">e"))[0]


def bits_of(value: float, dtype: str) -> str:
    """The bits of a float of type f32 or f64, in hexadecimal."""
    return _packed(value, {"f32": ">f", "f64": ">d"}[dtype]).hex().upper()


def _packed(value: float, code: str) -> bytes:
    try:
        return struct.pack(code, value)
    except OverflowError:
        return struct.pack(code, float("inf") if value > 0 else float("-inf"))
    except struct.error:  # of an integer
        raise TraceError(f"expected an integer that a float can hold, got one of {int(value).bit_length()} bits") from None


def converted(value: bool | int | float, dtype: str) -> bool | int | float:
    """A number of Python in `dtype`, as the fill value of a tensor; ArgumentError if an
    integer has no place in it."""
    if dtype == "bool":
        return bool(value)
    if dtype in FLOATS:
        return rounded(value, dtype)
    if not isinstance(value, int):
        raise ArgumentError(f"{value} is no integer")
    low, high = INTEGERS[dtype]
    if not low <= value <= high:
        raise ArgumentError(f"{LONG_NAMES[dtype]} has numbers from {low} to {high}")
    return int(value)
