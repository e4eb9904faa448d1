# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's code something happens, for messages."""

from __future__ import annotations

import os
import sys
import types

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARIES = ("torch", "numpy")


def where() -> str:
    """File and line of the innermost caller that is neither this package nor a
    tensor library."""
    folders = [_OWN_FOLDER]
    for name in _LIBRARIES:
        path = getattr(sys.modules.get(name), "__file__", None)
        if path:
            folders.append(os.path.dirname(os.path.abspath(path)) + os.sep)
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(tuple(folders)) and not name.startswith("<__array"):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return "an unknown place"
