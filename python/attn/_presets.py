# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The problems behind `sdpa` and `flash_attn_func`. Their score and mask functions are traced
like a user's; each call passes the values that they capture."""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Sequence

from . import _score_ops as ops
from . import _tensors
from ._captures import Slot
from ._checks import number
from ._errors import ArgumentError, UnsupportedError
from ._ir import DROPOUT_STATE, SINKS, Problem, Sizes
from ._torch_rules import gradients_are_wanted
from ._trace import Trace


class Preset(NamedTuple):
    """A problem, and the names of what it captures, in a launch's order. The rate and state of dropout, and sinks, come first."""

    ir: str
    tensors: tuple[str, ...]
    floats: tuple[str, ...]
    ints: tuple[str, ...]

    def arguments(self, **known: Any) -> tuple[list[Any], list[float], list[int]]:
        """The captured tensors, floats and ints, in order, from values by name."""
        tensors, floats, ints = ([known[name] for name in names] for names in self[1:])
        return tensors, floats, ints


_SIZES = tuple(range(257))


def fixed(size: int, name: str) -> int:
    """Returns a head dim as a plain number. torch.compile may pass it as a symbol, but a kernel is
    compiled for one head dim."""
    if size > 256 or size < 8 or size % 8:
        raise UnsupportedError(f"expected the last dim of '{name}' to be a multiple of 8 from 8 to 256, got {size}")
    return _SIZES[size]


# The largest number of queries for which the schedule table has packed entries: the number in their
# condition `seqlen_q at_most`.
FEW_QUERIES = 16


def few_queries(queries: int, heads: int, kv_heads: int, needs_gradient: bool = False) -> Sizes | None:
    """Returns the sizes that a kernel for few queries is compiled for, or None if there are too many
    queries, or if they need a gradient: its kernels serve all sizes. None as well if the query heads are not a multiple of those of K and V, which a launch
    refuses. While torch.compile traces, only a single query has sizes: other numbers may be
    symbols, and reading a symbol would fix its value; a symbol is never 1."""
    if needs_gradient or (queries != 1 and _tensors.is_compiling()):
        return None
    if queries > FEW_QUERIES or queries < 1 or not 1 <= kv_heads <= heads <= 256 or heads % kv_heads:
        return None
    return Sizes(_SIZES[queries], _SIZES[heads], _SIZES[kv_heads])


# With a larger cap, a score divided by it could be too small for f32.
_MAX_SOFTCAP = 1e30
# The largest number of f32.
_LARGEST = 3.4028234663852886e38


def check_softcap(softcap: Any) -> None:
    if _tensors.is_compiling() and gradients_are_wanted(softcap):
        return  # its value is not known yet
    if not 0 <= number("softcap", softcap) <= _MAX_SOFTCAP:  # a NaN fails both comparisons
        raise ArgumentError(f"expected 'softcap' to be from 0 to {_MAX_SOFTCAP}, got {softcap}")
    if gradients_are_wanted(softcap) and not softcap > 0:
        raise ArgumentError(f"expected 'softcap' to be greater than 0 where it requires a gradient, got {softcap}")


def check_factor(name: str, factor: Any, is_positive: bool = False) -> None:
    """Checks the scale of a preset that takes it as a factor of the scores."""
    if gradients_are_wanted(factor) and (_tensors.is_compiling() or factor.device.type != "cpu"):
        return  # its value is not known yet, or only to the device, which would have to be waited for
    if gradients_are_wanted(factor):
        factor = factor.item()  # its own type may round the bounds to infinity
    if not -_LARGEST <= factor <= _LARGEST:  # a NaN fails both comparisons
        raise ArgumentError(f"expected '{name}' to be from {-_LARGEST:.9g} to {_LARGEST:.9g}, got {factor}")
    if is_positive and not factor > 0:
        raise ArgumentError(f"expected '{name}' to be greater than 0, got {factor}")


def given_as(value: Any) -> str:
    """How a number enters a preset: "tensor" if it has a gradient, otherwise "number"."""
    return "tensor" if gradients_are_wanted(value) else "number"


def operand(name: str, value: Any, query: Any) -> Any:
    """A number as a kernel reads it: with a gradient, it is a tensor of one element on the device of the query."""
    if given_as(value) == "number":
        return value
    if value.numel() != 1:
        raise ArgumentError(f"expected '{name}' to be a number, got a tensor of shape {tuple(value.shape)}")
    return value.to(query.device, _tensors.torch_module().float32).reshape(1)


def _slot(kind: str) -> Any:
    return Slot("f32", 1 if kind == "tensor" else 0)


def _number(slot: Any, kind: str) -> Any:
    return slot[0] if kind == "tensor" else slot


def check_sinks(sinks: Any, query: Any, heads: int) -> None:
    if not _tensors.is_torch(sinks) or not _tensors.is_torch(query):
        raise UnsupportedError(f"expected 'sinks' and the query to be tensors of torch, got a {type(sinks).__name__} and a "
                               f"{type(query).__name__}")
    if tuple(sinks.shape) != (heads,) or not sinks.is_floating_point():
        raise ArgumentError(f"expected 'sinks' to be {heads} floats, one for each head of the query, got {sinks.dtype} of shape "
                            f"{tuple(sinks.shape)}")
    if sinks.device != query.device:
        raise ArgumentError(f"expected 'sinks' to be on the device of the query, {query.device}, got {sinks.device}")


def cap(score: Any, softcap: Any) -> Any:
    return softcap * ops.tanh(score / softcap)


def _constant(function: Callable[..., Preset]) -> Callable[..., Preset]:
    """Computes each preset once; torch.compile takes it as a constant."""
    cached = functools.lru_cache(maxsize=None)(function)

    @functools.wraps(function)
    def call(*args: Any) -> Preset:
        return cached(*args)

    call.__dict__["_dynamo_marked_constant"] = True  # torch.compiler.assume_constant_result, without torch
    return call


@_constant
def sdpa_preset(dtype: str, head_dim: int, head_dim_v: int, mask: str, factor_kind: str, cap_kind: str, dropout: bool, sinks: bool,
                mask_type: str | None, by_query: bool, by_key: bool, sizes: Sizes | None = None) -> Preset:
    """`mask` is one of _masks.MASKS without bounds. `factor_kind`: the scale is a factor that may be 0 or negative, a "number"
    or a "tensor"; "" if it is the scale of a launch. `cap_kind`: likewise of a soft cap, "" if there is none. `mask_type`: the element type of the mask (batch, position, head, key),
    if there is one: "bool", or a type of floats that are added. It may differ by query and
    by key."""
    factor, softcap = _slot(factor_kind), _slot(cap_kind)
    attn_mask: Any = Slot(mask_type or "f32", 4)
    biased = mask_type not in (None, "bool")

    def element(b: Any, h: Any, i: Any, j: Any) -> Any:
        return attn_mask[b, i if by_query else 0, h, j if by_key else 0]

    def score(s: Any, *position: Any) -> Any:
        s = s * _number(factor, factor_kind) if factor_kind else s
        s = cap(s, _number(softcap, cap_kind)) if cap_kind else s
        return s + element(*position) if biased else s

    scored = factor_kind or cap_kind or biased
    return _preset(dtype, head_dim, head_dim_v, mask, score=score if scored else None,
                   allow=element if mask_type == "bool" else None, dropout=dropout, sinks=sinks, sizes=sizes)


@_constant
def flash_preset(dtype: str, head_dim: int, head_dim_v: int, mask: str, bounds: Sequence[str], factor_kind: str, cap_kind: str,
                 dropout: bool, sinks: bool, slopes_rank: int, sizes: Sizes | None = None) -> Preset:
    """`bounds`: names of the bounds that calls give; `factor_kind`, `cap_kind`: as for `sdpa_preset`; `slopes_rank`: 0 for
    no ALiBi."""
    factor, softcap = _slot(factor_kind), _slot(cap_kind)
    shift: Any = Slot("i32", 0)
    alibi_slopes: Any = Slot("f32", slopes_rank)

    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        s = s * _number(factor, factor_kind) if factor_kind else s
        s = cap(s, _number(softcap, cap_kind)) if cap_kind else s
        if not slopes_rank:
            return s
        slope = alibi_slopes[h] if slopes_rank == 1 else alibi_slopes[b, h]
        return s - slope * ops.absolute(i + shift - j)

    return _preset(dtype, head_dim, head_dim_v, mask, bounds, score=score if factor_kind or cap_kind or slopes_rank else None,
                   dropout=dropout, sinks=sinks, sizes=sizes)


def _preset(dtype: str, head_dim: int, head_dim_v: int, mask: str, bounds: Sequence[str] = (),
            score: Callable[..., Any] | None = None, allow: Callable[..., Any] | None = None,
            dropout: bool = False, sinks: bool = False, sizes: Sizes | None = None) -> Preset:
    """`sizes`: those of a launch with few queries, for which a problem without functions and bounds
    has a kernel of its own."""
    trace = Trace()
    score_region = trace.score(score) if score else None
    mask_region = trace.mask(allow) if allow else None
    plain = not score and not allow and not bounds and not dropout and not sinks
    problem = Problem(dtype, head_dim, head_dim_v, mask, tuple(bounds), trace.signature(), score_region, mask_region,
                      dropout, sinks, sizes if plain else None)
    names = {kind: tuple(c.name for c in trace.captures if c.passed_as == kind) for kind in ("tensor", "f32", "i32")}
    if sinks:
        names["tensor"] = (SINKS, *names["tensor"])
    if dropout:
        names["tensor"] = (DROPOUT_STATE, *names["tensor"])
        names["f32"] = ("dropout_p", *names["f32"])
    return Preset(problem.to_ir(), *names.values())
