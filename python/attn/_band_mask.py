# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A `Band` as a tensor without memory. Imported where torch is."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._band import Band

_COPIES = (torch.ops.aten.alias.default, torch.ops.aten.detach.default)


class _State:
    """The state that a mask and its aliases share."""

    def __init__(self, band: Band):
        self.band: Band | None = band
        self.dense: torch.Tensor | None = None


class BandMask(torch.Tensor):
    """A band as a boolean tensor, (batch, 1, seqlen_q, seqlen_k). attn reads `band`. For every
    other operation it is an ordinary tensor, which gets memory when it is first read."""

    _state: _State

    @staticmethod
    def __new__(cls, batch: int, seqlen_q: int, seqlen_k: int, band: Band, device: Any) -> BandMask:
        self: BandMask = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, (batch, 1, seqlen_q, seqlen_k), dtype=torch.bool, device=device)
        self._state = _State(band)
        return self

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self) -> str:  # type: ignore[override]
        return f"BandMask({tuple(self.shape)}, {self.band})"

    @property
    def band(self) -> Band | None:
        """The band; None if an operation may have changed the mask."""
        return self._state.band

    @property
    def has_memory(self) -> bool:
        return self._state.dense is not None

    def dense(self) -> torch.Tensor:
        """Returns the mask with memory, which is allocated once: a byte for each query and
        key."""
        state = self._state
        if state.dense is None:
            assert state.band
            seqlen_q, seqlen_k = self.shape[2:]
            state.dense = state.band.dense(seqlen_q, seqlen_k, self.device).expand(self.shape)
        return state.dense

    def _to_be_written(self) -> None:
        """Gives each element memory of its own; the mask is no longer a band."""
        self._state.dense, self._state.band = self.dense().contiguous(), None

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _COPIES:
            mask = args[0]
            batch, _, seqlen_q, seqlen_k = mask.shape
            copy = cls(batch, seqlen_q, seqlen_k, mask.band, mask.device)
            copy._state = mask._state
            return copy
        if function._schema.is_mutable or any(result.alias_info for result in function._schema.returns):
            for mask in pytree.tree_leaves((args, kwargs)):
                if isinstance(mask, cls):
                    mask._to_be_written()
        args, kwargs = pytree.tree_map_only(cls, cls.dense, (args, kwargs or {}))
        return function(*args, **kwargs)
