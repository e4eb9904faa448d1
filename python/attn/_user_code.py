# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locations in the user's code, for messages."""

from __future__ import annotations

import functools
import os
import sys
import types

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARIES = ("torch", "numpy", "jax")


def where() -> str:
    """File and line of the innermost caller that is neither this package nor a
    tensor library."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return "an unknown place"


def is_library(code: types.CodeType) -> bool:
    """Whether the code is this package's or a tensor library's."""
    libraries = (_folder(getattr(sys.modules.get(library), "__file__", None)) for library in _LIBRARIES)
    return code.co_filename.startswith((_OWN_FOLDER, "<__array", *filter(None, libraries)))


@functools.lru_cache(maxsize=None)
def _folder(path: str | None) -> str:
    return os.path.dirname(os.path.abspath(path)) + os.sep if path else ""
