# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of a problem: which ones a kernel computes together, and their kernels."""

from __future__ import annotations

from typing import Iterable, NamedTuple, Sequence, Tuple

from . import _capi
from ._errors import AttnError, UnsupportedError
from ._executable import Executable, target_of
from ._ir import SINKS, tensor_names

# The role of sinks in a launch plan.
SINKS_ROLE = "sinks"


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
    return Executable.get(ir, target, *_request(_planned(ir, target), wanted, deterministic))


def are_compiled(ir: str, wanted: Wanted, deterministic: bool, target: str | None) -> bool:
    """Whether this process has the kernels that `gradients_of` returns. `ir` has been launched."""
    return Executable.is_compiled(ir, target, *_request(_planned(ir, target), wanted, deterministic))


def _planned(ir: str, target: str | None) -> list[Tuple[str, bool]]:
    """The names of q, k, v and captured tensors, and whether these are sinks."""
    forward = Executable.get(ir, target)
    return [(arg["name"], arg["role"] == SINKS_ROLE) for arg in (*forward.tensor_args[:3], *forward.captures)]


def _request(tensors: Iterable[Tuple[str, bool]], wanted: Wanted, deterministic: bool) -> tuple[tuple[str, ...], bool]:
    """What the compiler is asked for: the names of arguments, and whether sums may be added in any order. `tensors`: as `_planned`
    returns them."""
    names = tuple(name for (name, is_sinks), is_wanted in zip(tensors, wanted.each) if is_wanted and not is_sinks)
    return names, bool(names) and not deterministic


# The answers of `refusal` that stay true.
_known: dict[tuple[object, ...], str] = {}


def refusal(ir: str, names: tuple[str, ...], needs: tuple[bool, ...], deterministic: bool, device: tuple[int, int]) -> str:
    """Why there are no kernels for the gradients of the problem `ir` that `needs` asks for, "" if there are. They are compiled
    from here on, beside the forward pass that needs them. `names`: what the caller calls q, k and v. An error of the compiler
    that this process knows of is raised."""
    key = ir, names, needs, deterministic, device
    reason = _known.get(key)
    if reason is None:
        reason, stays = _refusal(*key)
        if stays:
            _known[key] = reason
    return reason


refusal.__dict__["_dynamo_marked_constant"] = True  # torch.compiler.assume_constant_result, without torch


def _refusal(ir: str, names: tuple[str, ...], needs: tuple[bool, ...], deterministic: bool, device: tuple[int, int]
             ) -> tuple[str, bool]:
    """The answer of `refusal`, and whether it stays true."""
    try:
        target = target_of(device)
        tensors = tensor_names(ir)
        if tensors is None:  # not written by this process
            tensors = tuple(name for name, _ in _planned(ir, target))
        named = zip((*names, *tensors[len(names):]), needs)
        first = next((name for name, need in named if need), "captures")
        reason, stays = _refusal_beside_forward(ir, Wanted.of(needs), deterministic, target, first)
    except UnsupportedError as error:
        reason, stays = str(error), True
    return reason and f"'{first}' requires a gradient, which the compiler does not have for this attention: {reason}", stays


def _refusal_beside_forward(ir: str, wanted: Wanted, deterministic: bool, target: str | None, first: str) -> tuple[str, bool]:
    """Compiles the problem `ir`, and beside it the gradients that are `wanted`. Why there are none, "" if there are, and whether
    that stays true: an error may still come of a compilation that runs. `first`: the name of the first tensor that needs one."""
    names = tensor_names(ir)
    tensors = _planned(ir, target) if names is None else [(name, name == SINKS) for name in names]
    request = ir, target, *_request(tensors, wanted, deterministic)
    compiled = Executable.compile_ahead(*request)
    Executable.get(ir, target)
    try:
        if compiled is None:
            Executable.get(*request)
            return "", True
        reason = _capi.support_error(*request)
        if compiled.done():
            compiled.result()
        return reason, bool(reason) or compiled.done()
    except UnsupportedError:
        raise
    except AttnError as error:
        raise type(error)(f"'{first}' requires a gradient, and the compiler failed: {error}") from error
