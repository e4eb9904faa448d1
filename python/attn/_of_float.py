# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How functions of a float are applied to numbers of any type."""

from __future__ import annotations

import functools
from typing import Any, Callable

from ._operands import cast, common_type, is_weak, number, rounded
from ._symbols import Symbol, refuse, write
from ._types import FLOATS, computed_in


def arithmetic(function: Callable[..., Symbol]) -> Callable[..., Symbol]:
    """The function on operands of any kind. Its result counts as a number of Python if
    all of them do."""

    @functools.wraps(function)
    def call(*values: Any) -> Symbol:
        operands = [number(value) for value in values]
        result = function(*operands)
        if all(map(is_weak, operands)):
            if any(isinstance(one, Symbol) and one.automatic for one in operands):
                raise refuse("arithmetic on a number that changes", "Python has it in more bits than the kernel")
            result = result.as_type(result.type)
            result.weak = True
        return result

    return call


def of_float(function: Callable[[Symbol], Symbol], name: str = "") -> Callable[[Any], Symbol]:
    """`function`, from f32 to f32, on numbers of any type. With a `name`, f64 is refused."""

    @arithmetic
    def call(a: Any) -> Symbol:
        type = common_type(a)
        type = type if type in FLOATS else "f32"
        if type == "f64" and name:
            raise refuse(f"'{name}' of float64", "the GPU has none; convert its operand to float32")
        return rounded(function(cast(cast(a, type), computed_in(type))), type)

    return call


def math_function(name: str, meaning: str, f32_only: bool) -> Callable[[Any], Symbol]:
    """The function that the op `math.<name>` is."""

    def apply_to(a: Symbol) -> Symbol:
        return Symbol(write(f"math.{name} {a.name} : {a.held_in}"), a.type)

    function = of_float(apply_to, name if f32_only else "")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return function
