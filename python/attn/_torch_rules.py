# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's rules for functions that read and write the memory of tensors: the class of a tensor
may give its memory another meaning, gradients may be required, and not every tensor may be
written."""

from __future__ import annotations

import sys
from typing import Any

from ._errors import ArgumentError, UnsupportedError


def _torch() -> Any:
    return sys.modules.get("torch")


def accept(**values: Any) -> None:
    """Refuses tensors for which attention would compute wrong results; errors name them. Values
    that are no torch tensors are accepted."""
    torch = _torch()
    if torch is None:
        return
    derivatives = derivatives_are_wanted()
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            refuse_meaning(name, value)
            if derivatives:
                refuse_gradient(name, value)


def accept_operands(**values: Any) -> None:
    """`accept` for tensors of which there are gradients; there is no forward mode."""
    torch = _torch()
    if torch is None:
        return
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            refuse_meaning(name, value)
            refuse_tangent(name, value)


def gradients_are_wanted(*tensors: Any) -> bool:
    """Whether one of the tensors requires a gradient of what is computed now."""
    torch = _torch()
    if torch is None or not torch.is_grad_enabled():
        return False
    return any(isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in tensors)


def derivatives_are_wanted() -> bool:
    """Whether derivatives are enabled in this thread."""
    torch = _torch()
    return torch.is_grad_enabled() or torch.autograd.forward_ad._current_level >= 0


def is_deterministic() -> bool:
    """Whether torch is asked for algorithms that give the same bits in each run."""
    return _torch().are_deterministic_algorithms_enabled()


def bounds_pass_gradients() -> bool:
    """Whether torch gives the gradient of a clamp to a number that equals a bound, as it does before 2.14. Without torch the
    rule is the newest one."""
    torch = _torch()
    return torch is not None and tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 14)


def refuse_meaning(name: str, tensor: Any) -> None:
    """Refuses a tensor whose values are not simply its memory. Classes that dispatch attn's
    operator themselves, such as FakeTensor, are accepted."""
    torch = _torch()
    if tensor.is_nested:
        raise UnsupportedError(f"expected '{name}' to be a dense tensor, got a nested one: pad it, or call attn for each "
                               "of its parts")
    if tensor.layout is not torch.strided:
        raise UnsupportedError(f"expected '{name}' to be a strided tensor, got layout {tensor.layout}: call to_dense()")
    if tensor.is_quantized:
        raise UnsupportedError(f"expected '{name}' to be unquantized, got {tensor.dtype}: call dequantize()")
    kind = type(tensor)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        return
    if kind.__module__.startswith("torch.masked"):
        raise UnsupportedError(f"expected '{name}' to be a torch.Tensor, got a {kind.__name__}: pass its data, and its "
                               "mask as a mask of attention")
    if not dispatches(kind) and not _has_plain_functions(kind):
        raise UnsupportedError(f"expected '{name}' to be a torch.Tensor, got a {kind.__name__}, whose own functions attn "
                               "does not know: call as_subclass(torch.Tensor) if it means no more than its memory")


def dispatches(kind: type) -> bool:
    """Whether a class of tensors sees every operator that is called with one."""
    torch = _torch()
    return kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl  # type: ignore[attr-defined]


def _has_plain_functions(kind: type) -> bool:
    """Whether torch's functions treat tensors of this class as plain memory."""
    torch = _torch()
    function = kind.__torch_function__  # type: ignore[attr-defined]
    return (function is torch._C._disabled_torch_function_impl
            or getattr(function, "__func__", None) is torch.Tensor.__torch_function__.__func__)


def refuse_gradient(name: str, tensor: Any) -> None:
    """Refuses tensors that require a gradient which attn does not compute."""
    if gradients_are_wanted(tensor):
        raise UnsupportedError(f"'{name}' requires a gradient, and attn computes those of tensors that a kernel reads alone: "
                               "detach it, or call attn under torch.no_grad()")
    refuse_tangent(name, tensor)


def refuse_gradient_beside_outputs(name: str, tensor: Any) -> None:
    """Refuses operands that require a gradient where the results go to memory that is given."""
    if gradients_are_wanted(tensor):
        raise UnsupportedError(f"'{name}' requires a gradient, which results that are written to 'out' and 'lse' do not have: "
                               "leave these to attn, or call it under torch.no_grad()")
    refuse_tangent(name, tensor)


def refuse_tangent(name: str, tensor: Any) -> None:
    """Refuses tensors of forward-mode differentiation."""
    if _has_tangent(tensor):
        raise UnsupportedError(f"'{name}' has a tangent, and attn has no forward-mode derivative: call it outside of "
                               "torch.func.jvp, or on the primal that torch.autograd.forward_ad.unpack_dual returns")


def _has_tangent(tensor: Any) -> bool:
    forward_ad = _torch().autograd.forward_ad
    if forward_ad._current_level < 0:
        return False
    try:
        return forward_ad.unpack_dual(tensor).tangent is not None
    except RuntimeError:  # a batch of vmap: the operator looks at what it is a batch of
        return False


def check_writable(name: str, tensor: Any) -> None:
    """torch's rules for what an operator writes, except those about gradients and
    overlaps."""
    torch = _torch()
    if tensor.is_inference() and not torch.is_inference_mode_enabled():
        raise ArgumentError(f"expected '{name}' to be a normal tensor since it is written outside of "
                            "torch.inference_mode(), got an inference tensor: pass a clone of it")
    if tensor.is_neg() or tensor.is_conj():
        raise ArgumentError(f"expected '{name}' to be resolved since it is written, got a tensor with its "
                            f"{'negative' if tensor.is_neg() else 'conjugate'} bit set: pass what resolve_neg() returns")


def autocast(*tensors: Any) -> tuple[Any, ...]:
    """Returns torch tensors as torch.autocast passes them to scaled_dot_product_attention:
    in its element type, if it is enabled for the device of the first. What is no tensor of torch, truth values,
    float64 and classes of tensors stay as they are."""
    torch = _torch()
    if torch is None or not isinstance(tensors[0], torch.Tensor):
        return tensors
    device = tensors[0].device.type
    if device not in ("cpu", "cuda") or not torch.is_autocast_enabled(device):
        return tensors
    dtype = torch.get_autocast_dtype(device)
    plain = (torch.Tensor, torch.nn.Parameter)
    return tuple(tensor.to(dtype) if type(tensor) in plain and tensor.is_floating_point() and tensor.dtype != torch.float64
                 else tensor for tensor in tensors)
