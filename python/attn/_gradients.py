# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of a problem: which ones a kernel computes together, and their IR."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, NamedTuple, Sequence

from ._errors import UnsupportedError
from ._executable import Executable, target_of

# The arguments of a problem whose gradients exist, in the order of a launch.
_OPERANDS = ("q", "k", "v")
_MARK = "attn.gradient"


class Wanted(NamedTuple):
    """Which gradients a launch computes. Those of K and V have one kernel."""

    q: bool
    kv: bool

    @classmethod
    def of(cls, needs: Sequence[bool]) -> Wanted:
        """Those that `needs` (q, k, v) asks for."""
        q, k, v = needs
        return cls(bool(q), bool(k or v))

    @property
    def each(self) -> tuple[bool, bool, bool]:
        """Whether there is one, for q, k and v."""
        return self.q, self.kv, self.kv


def gradient_ir(ir: str, wanted: Wanted) -> str:
    """The IR from which the compiler makes the gradients of the problem `ir`."""
    for name, is_wanted in zip(_OPERANDS, wanted.each):
        if is_wanted:
            ir = re.sub(rf"(%{name}: tensor<[^>]*>)", rf"\1 {{{_MARK}}}", ir, count=1)
    return ir


def _constant(function: Callable[..., str]) -> Callable[..., str]:
    """Computes each answer once; torch.compile takes it as a constant."""
    cached = functools.lru_cache(maxsize=None)(function)

    @functools.wraps(function)
    def call(*args: Any) -> str:
        return cached(*args)

    call.__dict__["_dynamo_marked_constant"] = True  # torch.compiler.assume_constant_result, without torch
    return call


@_constant
def refusal(ir: str, needs: tuple[bool, bool, bool], device: tuple[int, int]) -> str:
    """Why there are no kernels for the gradients of the problem `ir` that `needs` asks for, ""
    if there are: they are compiled here, before the forward pass that needs them."""
    try:
        Executable.get(gradient_ir(ir, Wanted.of(needs)), target_of(device))
    except UnsupportedError as error:
        return str(error)
    return ""
