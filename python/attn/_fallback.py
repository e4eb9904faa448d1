# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of other libraries' functions that attn does not support and that these libraries compute themselves: the
errors that mean this, and the warning."""

from __future__ import annotations

import functools
import logging
from ._errors import ArgumentError, CompileError, UnsupportedError

_log = logging.getLogger("attn")

# ArgumentError, too: torch's own function accepts some tensors that no kernel can read, and
# reports the rest in its own words.
REFUSALS = (ArgumentError, UnsupportedError, CompileError)


def reason_of(error: Exception) -> str:
    """Returns the first line of the message; the compiler's messages have several."""
    return str(error).partition("\n")[0]


def warn(reason: str) -> None:
    _log.warning("torch computes an attention that attn does not: %s", reason)


@functools.lru_cache(maxsize=1024)
def _warned(reason: str) -> None:
    warn(reason)


def warn_once(reason: str) -> None:
    """Logs a reason, unless this function has logged it before."""
    _warned(reason)


# Runs while torch.compile traces, and is not part of the graph: torch.compiler's
# assume_constant_result, without torch.
warn_once.__dict__["_dynamo_marked_constant"] = True
