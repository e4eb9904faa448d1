# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of a problem: which ones a kernel computes together, and their kernels."""

from __future__ import annotations

import functools
from concurrent.futures import TimeoutError
from typing import Any, Callable, Iterable, NamedTuple, Sequence, Tuple

from . import _capi
from ._errors import UnsupportedError
from ._executable import Executable, target_of
from ._ir import SINKS, tensor_names

# The role of sinks in a launch plan.
SINKS_ROLE = "sinks"
# Kernels from the cache on disk are there by then.
_CACHE_SECONDS = 0.05


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


def gradients_of(ir: str, wanted: Wanted, deterministic: bool, target: str | None) -> Executable:
    """The kernels of the gradients of the problem `ir`, but for that of sinks: its launches have no argument for these.
    `deterministic`: gradients have the same bits in each run."""
    forward = Executable.get(ir, target)
    tensors = [(arg["name"], arg["role"] == SINKS_ROLE) for arg in (*forward.tensor_args[:3], *forward.captures)]
    return Executable.get(ir, target, *_request(tensors, wanted, deterministic))


def _request(tensors: Iterable[Tuple[str, bool]], wanted: Wanted, deterministic: bool) -> tuple[tuple[str, ...], bool]:
    """What the compiler is asked for: the names of arguments, and whether sums may be added in any order. `tensors`: the names of
    q, k, v and captured tensors, and whether these are sinks."""
    names = tuple(name for (name, is_sinks), is_wanted in zip(tensors, wanted.each) if is_wanted and not is_sinks)
    return names, bool(names) and not deterministic


def _constant(function: Callable[..., str]) -> Callable[..., str]:
    """Computes each answer once; torch.compile takes it as a constant."""
    cached = functools.lru_cache(maxsize=None)(function)

    @functools.wraps(function)
    def call(*args: Any) -> str:
        return cached(*args)

    call.__dict__["_dynamo_marked_constant"] = True  # torch.compiler.assume_constant_result, without torch
    return call


@_constant
def refusal(ir: str, names: tuple[str, ...], needs: tuple[bool, ...], deterministic: bool, device: tuple[int, int]) -> str:
    """Why there are no kernels for the gradients of the problem `ir` that `needs` asks for, "" if there are. They are compiled
    from here on, beside the forward pass that needs them. `names`: what the caller calls q, k and v."""
    captures = (tensor_names(ir) or ())[len(names):]
    try:
        target = target_of(device)
        reason = _refusal_beside_forward(ir, Wanted.of(needs), deterministic, target)
        captures = tuple(arg["name"] for arg in Executable.get(ir, target).captures)
    except UnsupportedError as error:
        reason = str(error)
    if not reason:
        return ""
    wanting = [name for name, need in zip((*names, *captures), needs) if need] or ["captures"]
    return f"'{wanting[0]}' requires a gradient, which the compiler does not have for this attention: {reason}"


def _refusal_beside_forward(ir: str, wanted: Wanted, deterministic: bool, target: str | None) -> str:
    """Compiles the problem `ir`, and beside it the gradients that are `wanted`. Why there are none, "" if there are."""
    tensors = tensor_names(ir)
    if tensors is None:  # not written by this process
        gradients_of(ir, wanted, deterministic, target)
        return ""
    gradients, any_order = _request([(name, name == SINKS) for name in tensors], wanted, deterministic)
    compiled = Executable.compile_ahead(ir, target, gradients, any_order)
    Executable.get(ir, target)
    if compiled is None:
        Executable.get(ir, target, gradients, any_order)
        return ""
    try:
        compiled.result(_CACHE_SECONDS)
    except TimeoutError:
        return _capi.support_error(ir, target, gradients, any_order)
    return ""
