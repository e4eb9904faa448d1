# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with the mask that a form describes, by a kernel that evaluates it. All layers that get the mask share
its kernels, and all masks of one form share its trace."""

from __future__ import annotations

import copy
import functools
import logging
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple

from . import _tensors
from ._call import outside_of_compile
from ._captures import Captured, Slot
from ._checks import half_precision
from ._errors import AttnError
from ._executable import Executable, target_of
from ._ir import Problem
from ._kernel import Kernel
from ._mask_forms import Form, mask_mod
from ._presets import cap, check_softcap, fixed
from ._symbols import Scalar
from ._torch_rules import accept_operands
from ._trace import Regions, regions_of

_log = logging.getLogger("attn")
# Element type and rank of each value.
_Kinds = Tuple[Tuple[str, int], ...]


class Described(NamedTuple):
    """A mask: its form, the tensors and numbers (`attn.Scalar`) that the form refers to, the place of
    the number by which the diagonal is shifted, and the users' functions in it."""

    form: Form
    values: Tuple[Any, ...]
    shift: Optional[int] = None
    functions: Tuple[Callable[..., Any], ...] = ()


class MaskFunction:
    """The mask of one forward pass. `make_dense` makes it as a tensor (batch, 1, seqlen_q,
    seqlen_k)."""

    def __init__(self, described: Described, make_dense: Callable[[], Any]):
        self.described, self.make_dense = described, make_dense
        self._kernels: dict[Any, Kernel | None] = {}

    def __repr__(self) -> str:
        return repr(self.described.form)

    def attend(self, query: Any, key: Any, value: Any, scale: float | None, softcap: float) -> Any:
        """The output (batch, seqlen_q, heads, head_dim_v) for tensors (batch, heads, position, dim);
        None if the mask has to be a tensor. Raises as `attn.flash_attn_func`."""
        if scale is not None and not scale > 0:
            return None  # masks in memory have kernels for any scale
        return outside_of_compile(self._attend, query, key, value, scale, softcap)

    def _attend(self, query: Any, key: Any, value: Any, scale: float | None, softcap: float) -> Any:
        accept_operands(query=query, key=key, value=value)
        check_softcap(softcap)
        kernel = self._kernel(query, value, softcap)
        if kernel is None:
            return None
        q, k, v = (tensor.transpose(1, 2) for tensor in (query, key, value))
        return kernel(q, k, v, scale=scale)[0]

    def _kernel(self, query: Any, value: Any, softcap: float) -> Kernel | None:
        dims = fixed(query.shape[3], "query"), fixed(value.shape[3], "value")
        key = (half_precision("query", query), *dims, softcap)
        if key not in self._kernels:
            try:
                self._kernels[key] = self._compiled(*key, target=target_of(_tensors.view(query, "query").device))
            except Exception as error:
                if not isinstance(error, AttnError) and not self.described.functions:
                    raise  # a user's function may raise anything when it gets symbols
                _log.info("a mask of transformers is read from memory: %s", str(error).partition("\n")[0])
                self._kernels[key] = None
        return self._kernels[key]

    def _compiled(self, dtype: str, head_dim: int, head_dim_v: int, softcap: float, target: str | None) -> Kernel:
        described = self.described
        cap_at = None
        if softcap:
            cap_at = len(described.values)
            described = described._replace(values=(*described.values, Scalar(float(softcap))))
        (trace, score, allow), captures = _traced(described, cap_at)
        problem = Problem(dtype, head_dim, head_dim_v, captures=trace.signature(), score=score, allow=allow)
        Executable.get(problem.to_ir(), target)
        return Kernel(problem, captures, "bshd")


def _traced(described: Described, cap_at: int | None) -> tuple[Regions, list[Captured]]:
    """The regions of a mask, and what they capture. `cap_at`: the place of the soft cap, if there is
    one."""
    form, values, shift, functions = described
    if functions:  # these may refer to anything
        regions = regions_of(_score_mod(values, cap_at), mask_mod(form, values, shift, functions))
        return regions, regions.trace.captures
    regions, places = _traced_form(form, _kinds(values), shift, cap_at)
    captures = []
    for captured, place in zip(regions.trace.captures, places):
        captured = copy.copy(captured)
        captured.value = values[place]
        captures.append(captured)
    return regions, captures


@functools.lru_cache(maxsize=256)
def _traced_form(form: Form, kinds: _Kinds, shift: int | None, cap_at: int | None) -> tuple[Regions, list[int]]:
    """The regions of a form, and the place of each value that they capture."""
    slots = [Slot(*kind) for kind in kinds]
    regions = regions_of(_score_mod(slots, cap_at), mask_mod(form, slots, shift))
    return regions, [slots.index(captured.value) for captured in regions.trace.captures]


def _kinds(values: Sequence[Any]) -> _Kinds:
    return tuple((value.kind, 0) if isinstance(value, Scalar) else (_tensors.dtype_name(value), value.dim()) for value in values)


def _score_mod(values: Sequence[Any], cap_at: int | None) -> Callable[..., Any] | None:
    if cap_at is None:
        return None
    softcap = values[cap_at]
    return lambda score, *_: cap(score, softcap)
