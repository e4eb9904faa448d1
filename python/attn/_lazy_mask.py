# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mask as a tensor without memory. Imported where torch is."""

from __future__ import annotations

from typing import Any, Union

import torch
from torch.utils import _pytree as pytree

from ._band import Band
from ._mask_function import MaskFunction

# The descriptions of masks from which attn computes attention without their elements.
Rule = Union[Band, MaskFunction]

_COPIES = (torch.ops.aten.alias.default, torch.ops.aten.detach.default)


class _State:
    """The state that a mask and its aliases share."""

    def __init__(self, rule: Rule):
        self.rule: Rule | None = rule
        self.dense: torch.Tensor | None = None


class LazyMask(torch.Tensor):
    """A mask as a boolean tensor, (batch, 1, seqlen_q, seqlen_k). attn reads `rule`. For every
    other operation it is an ordinary tensor, which gets memory when it is first read."""

    _state: _State

    @staticmethod
    def __new__(cls, batch: int, seqlen_q: int, seqlen_k: int, rule: Rule, device: Any) -> LazyMask:
        self: LazyMask = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, (batch, 1, seqlen_q, seqlen_k), dtype=torch.bool, device=device)
        self._state = _State(rule)
        return self

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self) -> str:  # type: ignore[override]
        return f"LazyMask({tuple(self.shape)}, {self.rule})"

    @property
    def rule(self) -> Rule | None:
        """The rule; None if an operation may have changed the mask."""
        return self._state.rule

    @property
    def has_memory(self) -> bool:
        return self._state.dense is not None

    def dense(self) -> torch.Tensor:
        """Returns the mask with memory, which is allocated once: a byte for each query and
        key, and of a rule that differs by batch, for each batch."""
        state = self._state
        if state.dense is None:
            rule = state.rule
            assert rule
            seqlen_q, seqlen_k = self.shape[2:]
            made = rule.dense(seqlen_q, seqlen_k, self.device) if isinstance(rule, Band) else rule.make_dense()
            state.dense = made.expand(self.shape)
        return state.dense

    def _to_be_written(self) -> None:
        """Gives each element memory of its own; the mask no longer follows a rule."""
        dense = self._read()
        self._state.dense, self._state.rule = dense.contiguous(), None

    def _read(self) -> torch.Tensor:
        """`dense` for an operator. transformers evaluates users' functions by torch.vmap, which works
        inside of an operator only if its dispatch may be entered again."""
        with torch.overrides.enable_reentrant_dispatch():
            return self.dense()

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _COPIES:
            mask = args[0]
            batch, _, seqlen_q, seqlen_k = mask.shape
            copy = cls(batch, seqlen_q, seqlen_k, mask.rule, mask.device)
            copy._state = mask._state
            return copy
        if function._schema.is_mutable or any(result.alias_info for result in function._schema.returns):
            for mask in pytree.tree_leaves((args, kwargs)):
                if isinstance(mask, cls):
                    mask._to_be_written()
        args, kwargs = pytree.tree_map_only(cls, cls._read, (args, kwargs or {}))
        return function(*args, **kwargs)
