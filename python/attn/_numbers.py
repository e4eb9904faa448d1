# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of Python that a function closes over. At first a number is part of the kernel. When it
changes, it becomes an argument of a second kernel, so that a third value needs no compilation."""

from __future__ import annotations

import logging
import os
import types
import weakref
from typing import Union

from ._symbols import Scalar
from ._types import I32

_Number = Union[int, float]
# The number of kernels, differing in one number, from which on there is a warning.
_MANY = 8
_logger = logging.getLogger("attn")


class _History:
    """The values that a number of a function had. `fixed`: the function uses it in a way that
    needs a Python number."""

    def __init__(self, first: _Number):
        self.first, self.changed, self.fixed = first, False, False
        self.kernels: set[_Number] = set()  # its values in kernels that it is part of, at most _MANY


# By the function's code and the number's name.
_histories: weakref.WeakKeyDictionary[types.CodeType, dict[str, _History]] = weakref.WeakKeyDictionary()


class AutomaticScalar(Scalar):
    """A number that was made an argument automatically."""

    automatic = True

    def __init__(self, value: _Number, history: _History):
        super().__init__(value)
        self._history = history

    def is_same(self, other: AutomaticScalar) -> bool:
        """Whether the two have the same name in the same function."""
        return self._history is other._history

    def fix(self) -> None:
        """Makes the number part of each kernel from now on."""
        self._history.fixed = True


def as_argument(value: _Number, name: str, code: types.CodeType) -> AutomaticScalar | None:
    """The argument to pass for the number that the function of `code` knows as `name`;
    None as long as it has had one value, and if a kernel cannot have it."""
    history = _histories.setdefault(code, {}).setdefault(name, _History(value))
    first = history.first
    history.changed |= type(first) is not type(value) or (first != value and (first == first or value == value))
    if history.fixed:
        _count_kernel(history, value, f"'{name}' of {code.co_name} at {os.path.basename(code.co_filename)}:{code.co_firstlineno}")
    if not history.changed or history.fixed or (isinstance(value, int) and not I32.low <= value <= I32.high):
        return None
    return AutomaticScalar(value, history)


def _count_kernel(history: _History, value: _Number, what: str) -> None:
    """Warns of the number whose values have compiled many kernels."""
    if len(history.kernels) < _MANY:
        history.kernels.add(value)
        if len(history.kernels) == _MANY:
            _logger.warning(
                "the number %s had %d values, and each compiled a kernel: the function uses it for what a kernel cannot "
                "compute. Let it use an attn.Scalar, or fewer values", what, _MANY)
