# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of numbers and element types that do not depend on shapes."""

from __future__ import annotations

import operator
from typing import Any

from . import _tensors
from ._errors import ArgumentError, UnsupportedError

HALVES = ("bf16", "f16")


def integer(name: str, value: Any) -> Any:
    """The value as an int; torch's symbolic ints are returned unchanged."""
    torch = _tensors.torch_module()
    if type(value) is int or (torch is not None and isinstance(value, torch.SymInt)):
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ArgumentError(f"expected '{name}' to be an integer, got {value!r}")


def mask_bound(name: str, value: Any) -> Any:
    """The value of a mask's bound as an int of 32 bits; torch's symbolic ints are returned unchanged."""
    value = integer(name, value)
    if type(value) is int and value >= 2**31:
        raise ArgumentError(f"expected '{name}' to be below 2**31, got {value}")
    return value


def check_tensors(**values: Any) -> None:
    for name, value in values.items():
        if not _tensors.is_tensor(value):
            raise ArgumentError(f"expected '{name}' to be a tensor, got {type(value).__name__}")


def number(name: str, value: Any) -> Any:
    """The value, if it is a number or a tensor of one element."""
    if type(value) in (int, float):
        return value
    if _tensors.is_torch(value):
        if value.numel() != 1:
            raise ArgumentError(f"expected '{name}' to be a number, got a tensor of shape {tuple(value.shape)}")
        return value
    try:
        float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"expected '{name}' to be a number, got {value!r}") from None
    return value


def half_precision(name: str, tensor: Any) -> str:
    """The element type of an operand: "bf16" or "f16"."""
    dtype = _tensors.dtype_name(tensor)
    if dtype not in HALVES:
        raise UnsupportedError(f"expected '{name}' to be bfloat16 or float16, got {tensor.dtype}: cast it, or let torch "
                               "compute it, as attn.routed() does")
    return dtype
