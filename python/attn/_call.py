# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One call of attention: the way from the public functions to a launch, through
torch's operators for torch tensors and straight for those of other libraries."""

from __future__ import annotations

import functools
from sys import modules
from typing import Any, Sequence

from . import _tensors
from ._errors import ArgumentError, UnsupportedError
from ._executable import Executable, target_of
from ._symbols import Captured, Scalar


@functools.lru_cache(maxsize=None)
def _replays() -> Any:
    from . import _replay

    return _replay


def repeat(options: tuple, q: Any, k: Any, v: Any, out: Any = None, lse: Any = None) -> tuple[Any, Any]:
    """The signature of the call of a public function with these options and tensors, and
    an earlier call with it, to be repeated. Either is None where there is none."""
    torch = modules.get("torch")
    if torch is None or torch.compiler.is_compiling():
        return None, None
    return _replays().repeat(options, q, k, v, out, lse)


def attend(ir: str, q: Any, k: Any, v: Any, captures: Sequence[Any] = (), floats: Sequence[float] = (),
           ints: Sequence[int] = (), out: Any = None, lse: Any = None, heads_first: bool = False,
           call: Any = None) -> tuple[Any, Any]:
    """Runs the problem `ir` and returns (out, lse). The tensors are (batch,
    position, head, dim), with `heads_first` (batch, head, position, dim). `call` is the
    signature of the public function's call, if that had the same q, k, v, out and lse."""
    if not _tensors.is_torch(q):
        return _attend_views(ir, q, k, v, captures, floats, ints, out, lse, heads_first)
    from . import _torch_ops

    refuse_gradients({"q": q, "k": k, "v": v, **{f"capture {n}": c for n, c in enumerate(captures)}})
    if heads_first:
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        out = None if out is None else out.transpose(1, 2)
    if out is None and lse is None:
        out, lse = _torch_ops.forward(q, k, v, list(captures), list(floats), list(ints), ir)
    else:
        out = q.new_empty(q.shape[:-1] + v.shape[-1:]) if out is None else out
        lse = q.new_empty((q.shape[0], q.shape[2], q.shape[1]), dtype=_torch_ops.LSE_DTYPE) if lse is None else lse
        _torch_ops.forward_out(q, k, v, list(captures), list(floats), list(ints), ir, out=out, lse=lse)
    if call and not captures:
        executable = Executable.get(ir, target_of(_tensors.view(q, "q").device))
        _replays().remember(call, executable, (q, k, v, out, lse), floats, ints, heads_first)
    return (out.transpose(1, 2) if heads_first else out), lse


def _attend_views(ir: str, q: Any, k: Any, v: Any, captures: Sequence[Any], floats: Sequence[float],
                  ints: Sequence[int], out: Any, lse: Any, heads_first: bool) -> tuple[Any, Any]:
    queries, values = _tensors.view(q, "q"), _tensors.view(v, "v")
    if len(queries.shape) != 4 or len(values.shape) != 4:
        raise ArgumentError(f"expected 'q' and 'v' to have rank 4, got {len(queries.shape)} and {len(values.shape)}")
    batch, heads, length = (queries.shape[n] for n in ((0, 1, 2) if heads_first else (0, 2, 1)))
    if out is None:
        out = _tensors.empty(queries.owner, [*queries.shape[:3], values.shape[3]], queries.dtype)
    if lse is None:
        lse = _tensors.empty(queries.owner, [batch, heads, length], "f32")
    order = [queries, _tensors.view(k, "k"), values, _tensors.view(out, "out")]
    if heads_first:
        order = [_tensors.swap(one, 1, 2) for one in order]
    target = target_of(queries.device)
    Executable.get(ir, target).launch([*order[:3], *captures, order[3], lse], floats, ints)
    return out, lse


def refuse_gradients(tensors: dict[str, Any]) -> None:
    """attn has no backward pass yet: refuses what would need one."""
    torch = _tensors.torch_module()
    if not torch.is_grad_enabled():
        return
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            raise UnsupportedError(f"'{name}' requires a gradient, and attn computes the forward pass only: call it "
                                   "under torch.no_grad(), or on detached tensors")


def bind(captures: Sequence[Captured], like: Any) -> tuple[list[Any], list[float], list[int]]:
    """What a launch takes for the captures: tensors of f32 or i32, floats and ints.
    Tensors of other element types are converted, which copies."""
    passed: dict[str, list[Any]] = {"tensor": [], "f32": [], "i32": []}
    for captured in captures:
        value = captured.value
        if captured.passed_as == "tensor":
            passed["tensor"].append(_as_tensor(captured, value, like))
        else:
            passed[captured.passed_as].append(value.value if isinstance(value, Scalar) else value.item())
    return passed["tensor"], passed["f32"], passed["i32"]


def _as_tensor(captured: Captured, value: Any, like: Any) -> Any:
    if _tensors.is_torch(like) and not _tensors.is_torch(value):
        value = _tensors.torch_module().from_dlpack(value)
    value = _tensors.astype(value, captured.kind)
    return value if captured.shape else value.reshape(1)
