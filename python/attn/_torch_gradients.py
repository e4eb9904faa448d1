# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as a function that torch differentiates, and attn::backward, the operator that computes
its gradients. Imported with the first torch tensor."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Sequence

import torch
from torch import library as torch_library

from . import _torch_rules
from ._errors import UnsupportedError
from ._executable import Executable, target_of
from ._gradients import SINKS_ROLE, Wanted, gradients_of
from ._tensors import is_capturing, lasting_bytes, view

_ARGUMENTS = ("Tensor? out_gradient, Tensor? lse_gradient, Tensor q, Tensor k, Tensor v, Tensor[] captures, Tensor out, "
              "Tensor lse, float[] floats, SymInt[] ints, bool[] needs, str ir, bool deterministic=False")
# Bytes: of addresses and of strides that kernels read by tensor maps.
_ALIGNMENT = 16
# The access of a plan's tensor that launches add to.
_ADDED_TO = "readwrite"

_library = torch_library.Library("attn", "FRAGMENT")
_library.define(f"backward({_ARGUMENTS}) -> Tensor[]")


def _backward(out_gradient: torch.Tensor | None, lse_gradient: torch.Tensor | None, q: torch.Tensor, k: torch.Tensor,
              v: torch.Tensor, captures: Sequence[torch.Tensor], out: torch.Tensor, lse: torch.Tensor,
              floats: Sequence[float], ints: Sequence[int], needs: Sequence[bool], ir: str,
              deterministic: bool = False) -> list[torch.Tensor]:
    """The gradients that `needs` asks for, in the order of q, k, v and captures, from those of the results; None
    is 0. Tensors are (batch, position, head, dim)."""
    wanted = Wanted.of(needs)
    found = [torch.empty_like(x) if is_wanted else None for x, is_wanted in zip((q, k, v, *captures), wanted.each)]
    roles = [arg["role"] for arg in Executable.get(ir, target_of(view(q, "q").device)).captures] if captures else []
    sinks = roles.index(SINKS_ROLE) if SINKS_ROLE in roles else None
    own = None if sinks is None else 3 + sinks  # its number among the gradients
    written = [gradient for n, gradient in enumerate(found) if gradient is not None and n != own]
    if not written:
        pass
    elif q.numel() and k.numel() and v.numel():
        executable = gradients_of(ir, wanted, deterministic, target_of(view(q, "q").device))
        read = [capture for n, capture in enumerate(captures) if n != sinks]
        tensors = [q, k, v, *read, out, lse, readable(out_gradient, out), readable_rows(lse_gradient, lse), *written]
        for argument, tensor in zip(executable.tensor_args, tensors):
            if argument["access"] == _ADDED_TO:
                tensor.zero_()
        executable.launch(tensors, floats, ints)
    else:  # no pair of a query and a key
        for gradient in written:
            gradient.zero_()
    if own is not None and needs[own]:
        found[own] = _sinks_gradient(captures[own - 3], out_gradient, lse_gradient, out, lse)
    return [gradient for gradient, need in zip(found, needs) if need and gradient is not None]


def _sinks_gradient(sinks: torch.Tensor, out_gradient: torch.Tensor | None, lse_gradient: torch.Tensor | None,
                    out: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """Of the rows of a head, the sum of -exp(sink - LSE) (sum(dO * O) - dLSE)."""
    total = torch.zeros_like(sinks)
    for n in range(out.shape[0]):  # one batch at a time needs less memory
        shares = (sinks[:, None] - lse[n]).exp()
        shares = shares.where(sinks[:, None] > -torch.inf, torch.zeros_like(shares))
        delta = torch.zeros_like(shares)
        if out_gradient is not None:
            delta = (out_gradient[n].float() * out[n].float()).sum(-1).t()
        if lse_gradient is not None:
            delta = delta - lse_gradient[n]
        total -= (shares * delta).sum(1)
    return total


def readable(gradient: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """The gradient of the output (batch, position, head, dim), or a copy that a kernel can read."""
    if gradient is None:
        return torch.zeros_like(like)
    unit = _ALIGNMENT // gradient.element_size()
    sizes, strides = gradient.shape, gradient.stride()
    fits = (gradient.data_ptr() % _ALIGNMENT == 0 and (strides[3] == 1 or sizes[3] == 1)
            and (strides[1] > 0 or sizes[1] == 1)
            and all(stride % unit == 0 or size == 1 for size, stride in zip(sizes[:3], strides)))
    return gradient if fits else gradient.clone(memory_format=torch.contiguous_format)


def readable_rows(gradient: torch.Tensor | None, lse: torch.Tensor) -> torch.Tensor:
    """The gradient of the LSE (batch, head, position), or a copy that a kernel can read."""
    if gradient is None:
        return _zeros(lse).expand(lse.shape)
    fits = all(stride > 0 or size == 1 for size, stride in zip(gradient.shape, gradient.stride()))
    return gradient if fits and (gradient.stride(2) == 1 or gradient.shape[2] == 1) else gradient.contiguous()


# Zeros on each device. Launches on any stream, and captured graphs, may read them at any time, so they are kept.
_kept_zeros: dict[torch.device, list[torch.Tensor]] = {}
_LEAST_ZEROS = 1 << 16


def _zeros(lse: torch.Tensor) -> torch.Tensor:
    """Zeros in the shape of the LSE of one batch."""
    count = lse.shape[1] * lse.shape[2]
    if not lse.is_cuda:
        return lse.new_zeros(lse.shape[1:])
    kept = _kept_zeros.setdefault(lse.device, [])
    if not kept or kept[-1].numel() < count:
        if is_capturing(lse):
            return lse.new_zeros(lse.shape[1:])
        size = max(_LEAST_ZEROS, 1 << (count - 1).bit_length())
        kept.append(lasting_bytes(lse, size * lse.element_size()).zero_().view(lse.dtype))
        torch.cuda.current_stream(lse.device).synchronize()
    return kept[-1][:count].view(lse.shape[1:])


def _backward_fake(out_gradient: Any, lse_gradient: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, captures: Any,
                   out: Any, lse: Any, floats: Any, ints: Any, needs: Sequence[bool], ir: str,
                   deterministic: bool = False) -> list[torch.Tensor]:
    return [torch.empty_like(x) for x, need in zip((q, k, v, *captures), needs) if need]


for _device in ("CPU", "CUDA"):
    _library.impl("backward", _backward, _device)
torch_library.register_fake("attn::backward", _backward_fake, lib=_library)
backward = torch.ops.attn.backward.default


def apply(function: Any, *arguments: Any) -> Any:
    """`function.apply` of a torch.autograd.Function, inside of an operator. There a transform of functions sees the
    operators that the function calls, and not the function."""
    if not is_transformed():
        return super(torch.autograd.Function, function).apply(*arguments)
    with torch._functorch.autograd_function.enable_single_level_autograd_function():
        return _single_level(function).apply(*arguments)


@functools.lru_cache(maxsize=None)
def _single_level(function: Any) -> Any:
    """The function for one level of transforms, as torch's own rules for operators have it. torch would transform a
    torch.autograd.Function itself, and demands a `setup_context` for that."""
    own = {name: staticmethod(getattr(function, name)) for name in ("forward", "backward")}
    return type(function.__name__, (torch.autograd.function._SingleLevelFunction,), own)


def is_transformed() -> bool:
    """Whether a transform of functions, such as torch.func.grad, sees the operators that this thread calls."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def below_autograd(operator: Any, keys: Any, *arguments: Any) -> Any:
    """Calls the operator from its rule for autograd. A torch.autograd.Function disables derivatives, also those of
    outer transforms, which the operator gets to next."""
    with contextlib.ExitStack() as stack:
        if is_transformed():
            stack.enter_context(torch.enable_grad())
            stack.enter_context(torch.autograd.forward_ad._set_fwd_grad_enabled(True))
        stack.enter_context(torch._C._AutoDispatchBelowAutograd())
        return operator.redispatch(keys & torch._C._after_autograd_keyset, *arguments)


class _Gradients(torch.autograd.Function):
    """The gradients, which have no derivative."""

    @staticmethod
    def forward(_: Any, compute: Callable[[], Sequence[torch.Tensor]], *__: Any) -> tuple[torch.Tensor, ...]:
        return tuple(compute())

    @staticmethod
    def backward(_: Any, *__: Any) -> Any:
        raise UnsupportedError("the gradients of attn have no gradient of their own (double backward): use torch's "
                               "scaled_dot_product_attention with SDPBackend.MATH for this part of the model")


def _backward_autograd(keys: Any, *arguments: Any) -> list[torch.Tensor]:
    tensors = [tensor for tensor in (*arguments[:5], *arguments[5], *arguments[6:8]) if tensor is not None]
    for tensor in tensors:
        _torch_rules.refuse_tangent("a gradient of attn's results", tensor)

    compute = functools.partial(below_autograd, backward, keys, *arguments)
    return list(apply(_Gradients, compute, *tensors)) if _torch_rules.gradients_are_wanted(*tensors) else compute()


_library.impl("backward", _backward_autograd, "Autograd", with_keyset=True)


def _backward_vmap(info: Any, dims: Any, *arguments: Any) -> Any:
    """As for attn::forward: one launch where tensors are views of a larger batch, otherwise several."""
    count = info.batch_size
    tensors = [*arguments[:5], *arguments[6:8], *arguments[5]]
    tensor_dims = [*dims[:5], *dims[6:8], *dims[5]]
    rest = arguments[8:]
    if not arguments[5] and not Executable.get(rest[3]).has_functions:
        try:
            folded = [tensor if tensor is None else fold(tensor, dim, count) for tensor, dim in zip(tensors, tensor_dims)]
        except RuntimeError:  # not a view
            pass
        else:
            results = [result.unflatten(0, (count, -1)) for result in backward(*folded[:5], [], *folded[5:], *rest)]
            return results, [0] * len(results)
    each = []
    for n in range(count):
        one = [tensor if dim is None else tensor.select(dim, n) for tensor, dim in zip(tensors, tensor_dims)]
        each.append(backward(*one[:5], one[7:], *one[5:7], *rest))
    results = [torch.stack(parts) for parts in zip(*each)]
    return results, [0] * len(results)


def fold(tensor: torch.Tensor, dim: int | None, count: int) -> torch.Tensor:
    """A view of (batch, ...) and of `count` of them as one larger batch."""
    many = tensor.expand(count, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
    return many.view(count * many.shape[1], *many.shape[2:])


if hasattr(torch_library, "register_vmap"):  # from torch 2.5 on; older ones refuse vmap
    torch_library.register_vmap("attn::backward", _backward_vmap, lib=_library)


class Call:
    """The options of a call of attention, apart from its tensors. With `heads_first` these are (batch, head,
    position, dim), otherwise (batch, position, head, dim)."""

    def __init__(self, ir: str, floats: Sequence[float], ints: Sequence[int], deterministic: bool, heads_first: bool = False):
        self.ir, self.floats, self.ints, self.heads_first = ir, list(floats), list(ints), heads_first
        # What the caller asks for; torch's own switch counts when gradients are computed.
        self.asked_deterministic = deterministic
        # Computes the gradients of a call that repeats an earlier one, or returns None.
        self.again: Callable[..., Any] | None = None

    @property
    def deterministic(self) -> bool:
        """Whether the gradients must have the same bits in each run."""
        return self.asked_deterministic or torch.are_deterministic_algorithms_enabled()

    def gradients(self, needs: Sequence[bool], of_results: Sequence[torch.Tensor | None], tensors: Sequence[torch.Tensor]
                  ) -> Sequence[torch.Tensor | None]:
        """The gradients of q, k, v and captures, None for those that are not needed. `tensors` are q, k, v, out, lse and
        the captures."""
        if self.again is not None:
            found = self.again(self, needs, of_results, tensors)
            if found is not None:
                return found
        swapped = [x if x is None or not self.heads_first or n in (1, 6) else x.transpose(1, 2)
                   for n, x in enumerate((*of_results, *tensors[:5]))]
        found = iter(backward(*swapped[:5], tensors[5:], *swapped[5:], self.floats, self.ints, needs, self.ir,
                              self.deterministic))
        return [(next(found).transpose(1, 2) if self.heads_first and n < 3 else next(found)) if need else None
                for n, need in enumerate(needs)]


class Unfit(Exception):
    """A launch turns out not to fit the tensors."""


class Attention(torch.autograd.Function):
    """(out, lse) of `launch`, which is given q, k and v, and returns None if it does not fit these."""

    @staticmethod
    def forward(ctx: Any, call: Call, launch: Callable[..., Any], q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                *captures: torch.Tensor) -> Any:
        results = launch(q, k, v)
        if results is None:
            raise Unfit
        out, lse = results
        ctx.save_for_backward(q, k, v, out, lse, *captures)
        ctx.set_materialize_grads(False)
        ctx.call = call
        return results

    @staticmethod
    def backward(ctx: Any, *of_results: torch.Tensor | None) -> Any:
        needs = ctx.needs_input_grad
        if of_results[0] is None and of_results[1] is None:
            return (None,) * len(needs)
        return None, None, *ctx.call.gradients(needs[2:], of_results, ctx.saved_tensors)
