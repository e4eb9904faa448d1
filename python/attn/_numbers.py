# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of Python that a function closes over. At first they are part of the kernel;
one that changes becomes an argument of it, so that its third value compiles nothing."""

from __future__ import annotations

import logging
import os
import types
import weakref
from typing import Union

from ._symbols import Scalar
from ._types import I32

_Number = Union[int, float]
# So many kernels that differ in a number are worth a warning.
_MANY = 8
_logger = logging.getLogger("attn")


class _History:
    """The values that a number of a function had."""

    def __init__(self, first: _Number):
        self.first, self.changed = first, False
        self.kernels: set[_Number] = set()  # its values in kernels that it is part of, at most _MANY


# By the function's code and the number's name.
_histories: weakref.WeakKeyDictionary[types.CodeType, dict[str, _History]] = weakref.WeakKeyDictionary()


class AutomaticScalar(Scalar):
    """A number that became an argument by itself."""

    automatic = True

    def __init__(self, value: _Number, history: _History, place: str):
        super().__init__(value)
        self._history, self._place = history, place

    def count_kernel(self) -> None:
        """Notes that the number is part of a kernel all the same, and warns of many."""
        kernels = self._history.kernels
        if len(kernels) < _MANY:
            kernels.add(self.value)
            if len(kernels) == _MANY:
                _logger.warning(
                    "%s had %d values, and each compiled a kernel: the function uses the number for what a kernel "
                    "cannot compute. Let it use an attn.Scalar, or fewer values", self._place, _MANY)


def as_argument(value: _Number, name: str, code: types.CodeType) -> AutomaticScalar | None:
    """The argument to pass for the number that the function of `code` knows as `name`;
    None as long as it has had one value, or if a kernel cannot have it."""
    history = _histories.setdefault(code, {}).setdefault(name, _History(value))
    first = history.first
    history.changed |= type(first) is not type(value) or (first != value and (first == first or value == value))
    if not history.changed or (isinstance(value, int) and not I32.low <= value <= I32.high):
        return None
    place = f"the number '{name}' of {code.co_name} at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    return AutomaticScalar(value, history, place)
