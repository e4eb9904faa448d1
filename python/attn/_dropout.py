# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout: its rate, and the random state that a call draws from torch's generator."""

from __future__ import annotations

from typing import Any

from . import _tensors
from ._checks import number
from ._errors import ArgumentError, UnsupportedError
from ._torch_rules import gradients_are_wanted


def rate(dropout_p: float, query: Any) -> float:
    """The checked rate, 0 for no dropout."""
    if gradients_are_wanted(dropout_p):
        raise UnsupportedError("expected 'dropout_p' to require no gradient: there is none with respect to the rate")
    given = float(number("dropout_p", dropout_p))
    if not 0 <= given <= 1:  # a NaN fails both comparisons
        raise ArgumentError(f"expected 'dropout_p' to be from 0 to 1, got {dropout_p}")
    if given and not _tensors.is_torch(query):
        raise UnsupportedError(f"expected 'dropout_p' to be 0 for tensors that are not torch's, whose generator dropout uses, "
                               f"got {dropout_p}")
    return given


def draw(query: Any) -> Any:
    """The seed and the offset of one call's random numbers: a tensor, so that a captured graph draws others in each
    replay, from the generator of the device, so that what restores its state repeats the call."""
    torch = _tensors.torch_module()
    return torch.randint(-(1 << 63), (1 << 63) - 1, (2,), dtype=torch.int64, device=query.device)
