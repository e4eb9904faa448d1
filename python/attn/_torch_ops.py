# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that torch knows: attn::forward and attn::forward_out. They take the problem as
IR, so that a graph with them is self-contained. Imported with the first torch tensor."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Sequence

import torch
from torch import library as torch_library

from . import _torch_rules
from ._errors import ArgumentError, UnsupportedError
from ._executable import Executable, target_of
from ._tensors import view
from ._torch_gradients import Attention, Call, apply, below_autograd, fold, is_transformed

LSE_DTYPE = torch.float32

_ARGUMENTS = "Tensor q, Tensor k, Tensor v, Tensor[] captures, float[] floats, SymInt[] ints, str ir"
# Of the gradients: they have the same bits in each run.
_DETERMINISTIC = "bool deterministic=False"

_library = torch_library.Library("attn", "DEF")
_library.define(f"forward({_ARGUMENTS}, {_DETERMINISTIC}) -> (Tensor, Tensor)")
_library.define(f"forward_out({_ARGUMENTS}, *, Tensor(a!) out, Tensor(b!) lse) -> ()")


def _empty(q: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The outputs for q (batch, position, head, dim)."""
    batch, length, heads, _ = q.shape
    return (q.new_empty((batch, length, heads, v.shape[-1])),
            q.new_empty((batch, heads, length), dtype=LSE_DTYPE))


def _forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
             floats: Sequence[float], ints: Sequence[int], ir: str, deterministic: bool = False
             ) -> tuple[torch.Tensor, torch.Tensor]:
    _check_ranks(q, k, v)
    out, lse = _empty(q, v)
    Executable.get(ir, target_of(view(q, "q").device)).launch([q, k, v, *captures, out, lse], floats, ints)
    return out, lse


def _forward_out(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
                 floats: Sequence[float], ints: Sequence[int], ir: str, *, out: torch.Tensor,
                 lse: torch.Tensor) -> None:
    for name, written in (("out", out), ("lse", lse)):
        _torch_rules.check_writable(name, written)
    views = [view(tensor, "a tensor") for tensor in (q, k, v, *captures, out, lse)]
    executable = Executable.get(ir, target_of(views[0].device))
    executable.check_overlaps(views)
    executable.launch(views, floats, ints)


def _check_ranks(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ArgumentError(f"expected '{name}' to have rank 4, got {tensor.dim()}")


def _forward_fake(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
                  floats: Sequence[float], ints: Sequence[int], ir: str, deterministic: bool = False
                  ) -> tuple[torch.Tensor, torch.Tensor]:
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


# Derivatives. The operators look at the tensors inside the wrappers of a transform of functions, and at those
# of an exported program.


def _refuse_derivatives(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Sequence[torch.Tensor],
                        **outputs: torch.Tensor) -> None:
    """Refuses what has none: there are gradients unless outputs are given."""
    if not _torch_rules.derivatives_are_wanted():
        return
    for name, tensor in (("q", q), ("k", k), ("v", v), *((f"captures[{n}]", capture) for n, capture in enumerate(captures))):
        (_torch_rules.refuse_gradient_beside_outputs if outputs else _torch_rules.refuse_tangent)(name, tensor)
    for name, tensor in outputs.items():
        _torch_rules.refuse_gradient(name, tensor)


def _forward_autograd(keys: Any, *arguments: Any) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v, captures, floats, ints, ir = arguments[:7]
    _refuse_derivatives(q, k, v, captures)
    if not _torch_rules.gradients_are_wanted(q, k, v, *captures):
        return below_autograd(forward, keys, *arguments)
    launch = lambda *_: below_autograd(forward, keys, *arguments)
    return apply(Attention, Call(ir, floats, ints, arguments[7:] == (True,)), launch, q, k, v, *captures)


def _forward_out_autograd(keys: Any, *arguments: Any, out: torch.Tensor, lse: torch.Tensor) -> None:
    _refuse_derivatives(*arguments[:4], out=out, lse=lse)
    with torch._C._AutoDispatchBelowAutograd():
        forward_out.redispatch(keys & torch._C._after_autograd_keyset, *arguments, out=out, lse=lse)


def _forward_out_in_place(keys: Any, *arguments: Any, out: torch.Tensor, lse: torch.Tensor) -> None:
    """Increments the version counters, by which autograd notices that a saved tensor has been
    overwritten."""
    for written in (out, lse):
        torch.autograd.graph.increment_version(written)
    with torch._C._AutoDispatchBelowADInplaceOrView():
        forward_out.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, *arguments, out=out, lse=lse)


_library.impl("forward", _forward_autograd, "Autograd", with_keyset=True)
_library.impl("forward_out", _forward_out_autograd, "Autograd", with_keyset=True)
_library.impl("forward_out", _forward_out_in_place, "ADInplaceOrView", with_keyset=True)


def is_differentiated(*operands: torch.Tensor) -> bool:
    """Whether torch differentiates a call by `Attention`, and not by the operator's own rule."""
    return (not torch.compiler.is_compiling() and _torch_rules.gradients_are_wanted(*operands)
            and not is_transformed() and torch._C._get_tracing_state() is None)


def untracked_swap(out: torch.Tensor) -> torch.Tensor:
    """A new output with positions and heads exchanged, which is no view to torch: the caller may write to it."""
    with torch._C._AutoDispatchBelowADInplaceOrView():
        return out.transpose(1, 2)


def accepted(operator: Any, *arguments: Any, **outputs: Any) -> Any:
    """Calls the operator on tensors that `accept` has checked. Skips the check of the
    autograd kernel, which takes 3 µs, except in a transform of functions: there only that
    kernel sees the tensors inside the wrappers."""
    if torch.compiler.is_compiling() or is_transformed():
        return operator(*arguments, **outputs)
    with torch._C._AutoDispatchBelowAutograd():
        return operator(*arguments, **outputs)


def _forward_vmap(info: Any, dims: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                  captures: Sequence[torch.Tensor], floats: Sequence[float], ints: Sequence[int], ir: str,
                  deterministic: bool = False) -> Any:
    """Makes one launch with a larger batch, if no region depends on the batch index and no tensor
    has to be copied; otherwise one launch for each element of the batch."""
    count = info.batch_size
    tensors, tensor_dims = [q, k, v, *captures], [*dims[:3], *dims[3]]
    if not captures and not Executable.get(ir).has_functions:
        try:
            folded = [fold(tensor, dim, count) for tensor, dim in zip(tensors, tensor_dims)]
        except RuntimeError:  # not a view
            pass
        else:
            results = forward(*folded, [], floats, ints, ir, deterministic)
            return tuple(result.unflatten(0, (count, -1)) for result in results), (0, 0)
    results = []
    for n in range(count):
        one = [tensor if dim is None else tensor.select(dim, n) for tensor, dim in zip(tensors, tensor_dims)]
        results.append(forward(*one[:3], one[3:], floats, ints, ir, deterministic))
    return tuple(map(torch.stack, zip(*results))), (0, 0)


def _forward_out_vmap(*_: object, **__: object) -> None:
    raise UnsupportedError("expected 'out' and 'lse' to be None under torch.vmap, whose results are new tensors")


_library.impl("forward_out", _forward_out_vmap, "FuncTorchBatched")
if hasattr(torch_library, "register_vmap"):  # from torch 2.5 on; older ones refuse vmap
    torch_library.register_vmap("attn::forward", _forward_vmap, lib=_library)


# torch.compile says this about the graph break, where torch is new enough to take a reason.
_REASON = ("attn traces score and mask functions itself: for attn.attention, make the kernel with attn.compile before, and call "
           "that; for such a kernel, call it once outside of torch.compile after a tensor was replaced, and compute tensors "
           "outside of the function")
_takes_reason = "reason" in inspect.signature(torch.compiler.disable).parameters


@torch.compiler.disable(**({"reason": _REASON} if _takes_reason else {}))
def untraced(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function without torch.compile tracing into it."""
    return function(*arguments)
