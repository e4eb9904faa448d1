# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of functions, with stand-ins for the tensors and numbers in their closures, globals and
defaults."""

from __future__ import annotations

import functools
import operator
import random
import sys
import types
from typing import Any, Callable

from . import _tensors
from ._captures import Slot
from ._symbols import Operand, Scalar, has_operand, refuse
from ._user_code import is_library


class Rebinding:
    """Copies of functions, and of those that they call, in which tensors are replaced by
    `capture(tensor, name)` and numbers by `number(value, name, code)`; sources of random
    numbers refuse."""

    def __init__(self, capture: Callable[[Any, str], Any], number: Callable[[Any, str, types.CodeType], Any]):
        self._capture, self._number = capture, number
        self._functions: dict[int, Any] = {}

    def function(self, function: Any) -> Any:
        if isinstance(function, functools.partial):
            code = getattr(function.func, "__code__", None)
            args = [self._value(value, "", code) for value in function.args]
            kwargs = {name: self._value(value, name, code) for name, value in function.keywords.items()}
            return functools.partial(self.function(function.func), *args, **kwargs)
        if not isinstance(function, types.FunctionType):
            return function  # calls of torch are intercepted all the same
        if id(function) not in self._functions:
            self._functions[id(function)] = function  # a recursive function finds its own copy
            self._functions[id(function)] = self._copy(function)
        return self._functions[id(function)]

    def _value(self, value: Any, name: str, code: types.CodeType | None) -> Any:
        if isinstance(value, Operand):
            return value
        if isinstance(value, (Scalar, Slot)) or _tensors.is_tensor(value):
            return self._capture(value, name)
        if _is_number(value):
            return value if code is None or is_library(code) else self._number(value, name, code)
        if type(value) in (tuple, list):
            # A number inside a container stays a number.
            rebound = type(value)(one if _is_number(one) else self._value(one, "", code) for one in value)
            return value if all(map(operator.is_, rebound, value)) else rebound
        if isinstance(value, functools.partial) or (isinstance(value, types.FunctionType) and _is_users(value, code)):
            return self.function(value)
        return _without_jax(_without_random(value))

    def _copy(self, function: types.FunctionType) -> types.FunctionType:
        code, given = function.__code__, function.__defaults__ or ()
        known = {n: function.__globals__[n] for n in names_in(code) if n in function.__globals__}
        rebound = {name: self._value(value, name, code) for name, value in known.items()}
        names = code.co_varnames[code.co_argcount - len(given):code.co_argcount]
        defaults = tuple(self._value(value, name, code) for value, name in zip(given, names))
        cells = tuple(self._cell(*pair, code) for pair in zip(function.__closure__ or (), code.co_freevars))
        copy = types.FunctionType(code, {**function.__globals__, **rebound}, function.__name__, defaults,
                                  cells if function.__closure__ else None)
        copy.__kwdefaults__ = {k: self._value(v, k, code) for k, v in (function.__kwdefaults__ or {}).items()}
        return copy

    def _cell(self, cell: Any, name: str, code: types.CodeType) -> Any:
        try:
            return types.CellType(self._value(cell.cell_contents, name, code))
        except ValueError:  # not assigned yet
            return cell


def _is_number(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    types_of_numbers = (int, float) if numpy is None else (int, float, numpy.integer, numpy.floating)
    return isinstance(value, types_of_numbers) and not isinstance(value, bool)


@functools.lru_cache(maxsize=1024)
def names_in(code: types.CodeType) -> frozenset[str]:
    """The globals and attributes that `code` and the functions in it name."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return frozenset(code.co_names).union(*map(names_in, inner))


def _is_users(function: types.FunctionType, caller: types.CodeType | None) -> bool:
    """Whether the function belongs to no library, or to the same library as its caller."""
    code = function.__code__
    return not is_library(code) or (caller is not None and caller.co_filename == code.co_filename)


class _Refused:
    """Replaces a source of random numbers."""

    def __getattr__(self, name: str) -> Any:
        raise random_numbers(name)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise random_numbers("random")


class _NumpyWithoutRandom:
    """numpy's module, except for its random numbers."""

    def __getattr__(self, name: str) -> Any:
        return _Refused() if name == "random" else getattr(sys.modules["numpy"], name)


def _without_random(value: Any) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and value is numpy:
        return _NumpyWithoutRandom()
    owner = getattr(value, "__self__", value) if isinstance(value, (types.BuiltinMethodType, types.MethodType)) else value
    sources: tuple[type, ...] = (random.Random,)
    if numpy is not None:
        sources += (numpy.random.Generator, numpy.random.RandomState)
    is_module = value is random or (numpy is not None and value is numpy.random)
    return _Refused() if is_module or isinstance(owner, sources) else value


class _JaxModule:
    """A module of JAX, whose functions do not know symbols."""

    def __init__(self, module: types.ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _without_jax(getattr(self._module, name))


def _without_jax(value: Any) -> Any:
    if isinstance(value, types.ModuleType):
        return _JaxModule(value) if value.__name__.partition(".")[0] == "jax" else value
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, type) or not callable(value) or module.partition(".")[0] != "jax":
        return value

    def function(*args: Any, **kwargs: Any) -> Any:
        if has_operand(args) or has_operand(kwargs.values()):
            raise refuse(f"'{value.__name__}', a function of JAX,", "use Python's operators and the functions of attn.ops")
        return value(*args, **kwargs)

    return function


def random_numbers(name: str) -> Exception:
    return refuse(f"'{name}', a random number,", "the function runs once, so that every position and every call would "
                  "have the same number")
