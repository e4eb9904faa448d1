# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of a problem: which ones a kernel computes together, and their IR."""

from __future__ import annotations

import functools
import re
from concurrent.futures import TimeoutError
from typing import Any, Callable, NamedTuple, Sequence, Tuple

from . import _capi
from ._errors import UnsupportedError
from ._executable import Executable, target_of
from ._ir import SINKS

# The arguments of a problem whose gradients exist, in the order of a launch.
_OPERANDS = ("q", "k", "v")
_MARK = "attn.gradient"
# Of a function: sums may be made in another order in each run.
_ANY_ORDER = "attn.any_order"
# Kernels from the cache on disk are there by then.
_CACHE_SECONDS = 0.05


# A captured tensor among the arguments of a problem, and its name.
_CAPTURE = re.compile(r'(%arg\.[^:]+: tensor<[^>]*> \{attn\.name = "([^"]*)")\}')


def capture_names(ir: str) -> list[str]:
    """The names of the captured tensors of a problem, in the order of a launch."""
    return [found[2] for found in _CAPTURE.finditer(ir)]


class Wanted(NamedTuple):
    """The gradients that a launch computes. Those of K and V come from one kernel."""

    q: bool
    kv: bool
    captures: Tuple[bool, ...] = ()

    @classmethod
    def of(cls, needs: Sequence[bool]) -> Wanted:
        """Those that `needs` asks for: q, k, v and captured tensors."""
        q, k, v = needs[:3]
        return cls(bool(q), bool(k or v), tuple(map(bool, needs[3:])))

    @property
    def each(self) -> tuple[bool, ...]:
        """For q, k, v and each captured tensor: whether its gradient is wanted."""
        return self.q, self.kv, self.kv, *self.captures


def gradient_ir(ir: str, wanted: Wanted, deterministic: bool) -> str:
    """The IR from which the compiler makes the gradients of the problem `ir`, but for that of sinks: its launches have no
    argument for these. `deterministic`: gradients have the same bits in each run."""
    for name, is_wanted in zip(_OPERANDS, wanted.each):
        if is_wanted:
            ir = re.sub(rf"(%{name}: tensor<[^>]*>)", rf"\1 {{{_MARK}}}", ir, count=1)
    if any(wanted.captures):
        mark, flags = _MARK if deterministic else f'{_MARK} = "any_order"', iter(wanted.captures)
        ir = _CAPTURE.sub(lambda found: f"{found[1]}, {mark}}}" if next(flags, False) and found[2] != SINKS else found[0], ir)
    return ir if deterministic else re.sub(r"(-> \([^)]*\)) \{", rf"\1 attributes {{{_ANY_ORDER}}} {{", ir, count=1)


def _constant(function: Callable[..., str]) -> Callable[..., str]:
    """Computes each answer once; torch.compile takes it as a constant."""
    cached = functools.lru_cache(maxsize=None)(function)

    @functools.wraps(function)
    def call(*args: Any) -> str:
        return cached(*args)

    call.__dict__["_dynamo_marked_constant"] = True  # torch.compiler.assume_constant_result, without torch
    return call


@_constant
def refusal(ir: str, needs: tuple[bool, ...], deterministic: bool, device: tuple[int, int]) -> str:
    """Why there are no kernels for the gradients of the problem `ir` that `needs` asks for, ""
    if there are. They are compiled from here on, beside the forward pass that needs them."""
    try:
        target = target_of(device)
        gradients = gradient_ir(ir, Wanted.of(needs), deterministic)
        compiled = Executable.compile_ahead(gradients, target)
        Executable.get(ir, target)
        compiled.result(_CACHE_SECONDS)
    except UnsupportedError as error:
        return str(error)
    except TimeoutError:
        return _capi.support_error(gradients, target)
    return ""
