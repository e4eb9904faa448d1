# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One call of attention: from the public functions to a launch, through torch's operators for
torch tensors and directly for those of other libraries."""

from __future__ import annotations

import functools
from sys import modules
from typing import Any, Callable, NoReturn, Sequence

from . import _tensors, _torch_rules
from ._captures import Captured
from ._errors import ArgumentError, AttnError, UnsupportedError
from ._executable import Executable, target_of
from ._gradients import Wanted, are_compiled, refusal
from ._symbols import Scalar
from ._words import Words


@functools.lru_cache(maxsize=None)
def _replays() -> Any:
    from . import _replay

    return _replay


def repeat(options: tuple[Any, ...], q: Any, k: Any, v: Any, out: Any = None, lse: Any = None) -> tuple[Any, Any]:
    """The signature of a public function's call with these options and tensors, and an earlier call with the same
    signature, which it can repeat. Each is None if there is none."""
    torch = modules.get("torch")
    if torch is None or torch.compiler.is_compiling():
        return None, None
    return _replays().repeat(options, q, k, v, out, lse)


def outside_of_compile(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function without torch.compile tracing into it."""
    if _tensors.torch_module() is None:
        return function(*arguments)
    from . import _torch_ops

    return _torch_ops.untraced(function, *arguments)


def attend(ir: str, q: Any, k: Any, v: Any, captures: Sequence[Any] = (), floats: Sequence[float] = (),
           ints: Sequence[int] = (), out: Any = None, lse: Any = None, words: Words = Words(),
           call: Any = None, deterministic: bool = False) -> tuple[Any, Any]:
    """Runs the problem `ir` and returns (out, lse). `words` has the order of the tensors' dims,
    and their names for messages. The caller has checked the tensors with `accept`. `call` is the
    signature of the public function's call, if that had the same q, k, v, out and lse. `deterministic`: gradients have
    the same bits in each run."""
    of_torch = _tensors.is_torch(q)
    attend_tensors = _attend_torch if of_torch else _attend_views
    for name, tensor in ((words.k, k), (words.v, v), (words.o, out), (words.lse, lse)):
        if tensor is not None and _tensors.is_torch(tensor) != of_torch:
            raise ArgumentError(f"expected '{name}' to be of the library of '{words.q}', a {type(q).__name__}, got a "
                                f"{type(tensor).__name__}")
    if _torch_rules.gradients_are_wanted(q, k, v, *captures):
        _check_gradients(ir, {words.q: q, words.k: k, words.v: v}, captures, out is not None or lse is not None, deterministic)
    if _tensors.is_compiling():
        return attend_tensors(ir, q, k, v, captures, floats, ints, out, lse, words, call, deterministic)
    for name, tensor in ((words.o, out), (words.lse, lse)):
        if tensor is not None and of_torch:
            _torch_rules.check_writable(name, tensor)
    try:
        return attend_tensors(ir, q, k, v, captures, floats, ints, out, lse, words, call, deterministic)
    except AttnError as error:
        raise words.of(error) from None
    except (TypeError, ValueError, RuntimeError) as error:
        others = {f"captures[{n}]": capture for n, capture in enumerate(captures)}
        _explain(error, {words.q: q, words.k: k, words.v: v, words.o: out, words.lse: lse, **others})


def _check_gradients(ir: str, named: dict[str, Any], captures: Sequence[Any], has_outputs: bool, deterministic: bool) -> None:
    """Refuses what has no gradient, before the forward pass. `named`: q, k and v by the caller's names."""
    if has_outputs:
        for name, tensor in (*named.items(), *((f"captures[{n}]", capture) for n, capture in enumerate(captures))):
            _torch_rules.refuse_gradient_beside_outputs(name, tensor)
    first = next(iter(named.values()))
    if first.device.type not in ("cpu", "cuda"):
        return  # without memory
    needs = tuple([tensor.requires_grad for tensor in (*named.values(), *captures)])
    deterministic = True if deterministic or _torch_rules.is_deterministic() else False  # so that torch.compile knows which
    reason = refusal(ir, tuple(named), needs, deterministic, _tensors.device_of(first))
    if reason:
        raise UnsupportedError(reason)


def _explain(error: Exception, tensors: dict[str, Any]) -> NoReturn:
    """Raises the error, with the name of the tensor if its class does not know attn's
    operator."""
    for name, tensor in tensors.items():
        if _tensors.is_torch(tensor) and _torch_rules.dispatches(type(tensor)):
            raise UnsupportedError(f"expected '{name}' to be a torch.Tensor, got a {type(tensor).__name__}, which does not "
                                   f"know the operator torch.ops.attn.forward: {error}") from error
    raise error


def _attend_torch(ir: str, q: Any, k: Any, v: Any, captures: Sequence[Any], floats: Sequence[float],
                  ints: Sequence[int], out: Any, lse: Any, words: Words, call: Any, deterministic: bool) -> tuple[Any, Any]:
    from . import _torch_ops

    described = _torch_ops.Call(ir, floats, ints, deterministic, words.heads_first)
    if out is None and lse is None and _torch_ops.is_differentiated(q, k, v, *captures):
        described.floats = list(map(float, floats))  # a tensor may change until the backward pass
        return _torch_ops.Attention.apply(described, functools.partial(_launch_differentiated, described, captures, call),
                                          q, k, v, *captures)
    swap = (lambda x: None if x is None else x.transpose(1, 2)) if words.heads_first else (lambda x: x)
    out, lse = _launch_torch(described, captures, call, swap(q), swap(k), swap(v), swap(out), lse)
    return swap(out), lse


def _launch_differentiated(described: Any, captures: Sequence[Any], call: Any, q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    """The results for tensors as the user has them, below torch's differentiation."""
    from . import _torch_ops

    if not described.heads_first:
        return _launch_torch(described, captures, call, q, k, v)
    out, lse = _launch_torch(described, captures, call, *(x.transpose(1, 2) for x in (q, k, v)))
    return _torch_ops.untracked_swap(out), lse


def _launch_torch(described: Any, captures: Sequence[Any], call: Any, q: Any, k: Any, v: Any, out: Any = None,
                  lse: Any = None) -> tuple[Any, Any]:
    """The results for tensors as kernels take them. `call`: as for `attend`."""
    from . import _torch_ops

    ir, floats, ints = described.ir, described.floats, described.ints
    if out is None and lse is None:
        out, lse = _torch_ops.accepted(_torch_ops.forward, q, k, v, list(captures), floats, ints, ir,
                                       described.asked_deterministic)
    else:
        out = q.new_empty(q.shape[:-1] + v.shape[-1:]) if out is None else out
        lse = q.new_empty((q.shape[0], q.shape[2], q.shape[1]), dtype=_torch_ops.LSE_DTYPE) if lse is None else lse
        _torch_ops.accepted(_torch_ops.forward_out, q, k, v, list(captures), floats, ints, ir, out=out, lse=lse)
    if call and not captures and q.device.type != "meta":
        target, needs = target_of(_tensors.view(q, "q").device), call[-1]
        # Until then each call asks whether gradients can be compiled.
        if not needs or are_compiled(ir, Wanted.of(needs), described.deterministic, target):
            _replays().remember(call, described, Executable.get(ir, target), (q, k, v, out, lse))
    return out, lse


def _attend_views(ir: str, q: Any, k: Any, v: Any, captures: Sequence[Any], floats: Sequence[float],
                  ints: Sequence[int], out: Any, lse: Any, words: Words, *_: Any) -> tuple[Any, Any]:
    queries, values = _tensors.view(q, "q"), _tensors.view(v, "v")
    if len(queries.shape) != 4 or len(values.shape) != 4:
        raise ArgumentError(f"expected 'q' and 'v' to have rank 4, got {len(queries.shape)} and {len(values.shape)}")
    batch, heads, length = (queries.shape[n] for n in ((0, 1, 2) if words.heads_first else (0, 2, 1)))
    for name, tensor in ((words.o, out), (words.lse, lse)):
        if tensor is not None and _tensors.view(tensor, name).read_only:
            raise ArgumentError(f"expected '{name}' to be writable, got a {type(tensor).__name__} that is not")
    if out is None:
        out = _tensors.empty(queries.owner, [*queries.shape[:3], values.shape[3]], queries.dtype)
    if lse is None:
        lse = _tensors.empty(queries.owner, [batch, heads, length], "f32")
    order = [queries, _tensors.view(k, "k"), values, _tensors.view(out, "out")]
    if words.heads_first:
        order = [_tensors.swap(one, 1, 2) for one in order]
    given = [_tensors.view(capture, f"captures[{n}]") for n, capture in enumerate(captures)]
    tensors = [*order[:3], *given, order[3], _tensors.view(lse, "lse")]
    executable = Executable.get(ir, target_of(queries.device))
    executable.check_overlaps(tensors)
    executable.launch(tensors, floats, ints)
    return out, lse


def bind(captures: Sequence[Captured], like: Any) -> tuple[list[Any], list[float], list[int]]:
    """The tensors, floats and integers that a launch takes for the captures."""
    tensors: list[Any] = []
    floats: list[float] = []
    ints: list[int] = []
    values = [captured.value for captured in captures]
    for captured, value in zip(captures, values):
        accept = _torch_rules.accept_operands if captured.passed_as == "tensor" else _torch_rules.accept
        accept(**{captured.name: value.value if isinstance(value, Scalar) else value})
    for captured, value in zip(captures, values):
        if captured.passed_as == "tensor":
            tensors.append(_as_tensor(captured, value, like))
        else:
            number = value.value if isinstance(value, Scalar) else value.item()
            (floats if captured.passed_as == "f32" else ints).append(captured.checked(number))
    return tensors, floats, ints


def _as_tensor(captured: Captured, value: Any, like: Any) -> Any:
    if _tensors.is_torch(value) != _tensors.is_torch(like):
        # torch's operators look at the negative bit themselves.
        value = value.resolve_neg() if _tensors.is_torch(value) else _tensors.torch_module().from_dlpack(value)
    if _tensors.is_torch(value) and _tensors.is_torch(like) and value.device != like.device:
        if not captured.shape and value.requires_grad:
            return value.to(like.device).reshape(1)  # its gradient goes back to it
        raise ArgumentError(f"expected captured tensor '{captured.name}' to be on the device of the query, "
                            f"{like.device}, got {value.device}")
    return value if captured.shape else value.reshape(1)
