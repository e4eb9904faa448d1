# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that torch knows: attn::forward and attn::forward_out. They take
the problem as IR, so that a graph that has them is complete. Imported when the
first torch tensor comes."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch import library as torch_library

from ._errors import ArgumentError
from ._executable import Executable, target_of
from ._tensors import view

LSE_DTYPE = torch.float32

_ARGUMENTS = "Tensor q, Tensor k, Tensor v, Tensor[] captures, float[] floats, SymInt[] ints, str ir"

_library = torch_library.Library("attn", "DEF")
_library.define(f"forward({_ARGUMENTS}) -> (Tensor, Tensor)")
_library.define(f"forward_out({_ARGUMENTS}, *, Tensor(a!) out, Tensor(b!) lse) -> ()")


def _empty(q: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The outputs for q (batch, position, head, dim)."""
    batch, length, heads, _ = q.shape
    return (q.new_empty((batch, length, heads, v.shape[-1])),
            q.new_empty((batch, heads, length), dtype=LSE_DTYPE))


def _forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
             floats: Sequence[float], ints: Sequence[int], ir: str) -> tuple[torch.Tensor, torch.Tensor]:
    _check_ranks(q, k, v)
    out, lse = _empty(q, v)
    _forward_out(q, k, v, captures, floats, ints, ir, out=out, lse=lse)
    return out, lse


def _forward_out(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
                 floats: Sequence[float], ints: Sequence[int], ir: str, *, out: torch.Tensor,
                 lse: torch.Tensor) -> None:
    executable = Executable.get(ir, target_of(view(q, "q").device))
    executable.launch([q, k, v, *captures, out, lse], floats, ints)


def _check_ranks(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ArgumentError(f"expected '{name}' to have rank 4, got {tensor.dim()}")


def _forward_fake(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
                  floats: Sequence[float], ints: Sequence[int], ir: str) -> tuple[torch.Tensor, torch.Tensor]:
    _check_ranks(q, k, v)
    return _empty(q, v)


def _forward_out_fake(*_: object, **__: object) -> None:
    return None


for _device in ("CPU", "CUDA"):
    _library.impl("forward", _forward, _device)
    _library.impl("forward_out", _forward_out, _device)
torch_library.register_fake("attn::forward", _forward_fake, lib=_library)
torch_library.register_fake("attn::forward_out", _forward_out_fake, lib=_library)

forward = torch.ops.attn.forward.default
forward_out = torch.ops.attn.forward_out.default


@torch.compiler.disable(reason="attn.attention traces its functions itself: make the kernel with attn.compile before, and call that")
def untraced(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function where torch.compile does not look into it."""
    return function(*arguments)
