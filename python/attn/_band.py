# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks that are a band around a diagonal: causal masks, sliding windows, and no mask."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _tensors


class Band(NamedTuple):
    """A query sees the keys with `shift - left <= key - query <= shift + right`. None leaves a
    side open."""

    shift: int
    left: int | None
    right: int | None

    def dense(self, rows: int, columns: int, device: Any) -> Any:
        """Returns the truth values, a torch tensor (rows, columns)."""
        torch = _tensors.torch_module()
        mask = torch.ones(rows, columns, dtype=torch.bool, device=device)
        mask = mask if self.right is None else mask.tril(self.shift + self.right)
        return mask if self.left is None else mask.triu(self.shift - self.left)

    def window(self, rows: int, columns: int) -> tuple[int, int | None, int | None] | None:
        """Returns how many of `columns` keys to pass to `attn.flash_attn_func`, and its
        `window_size`; None if these cannot express the band. It counts keys from the diagonal
        that ends at the last query and the last key."""
        if self.right is not None and 0 < rows + self.shift + self.right < columns:
            columns = rows + self.shift + self.right  # no query sees the keys after these
        moved = columns - rows - self.shift
        left = None if self.left is None or self.left >= rows + self.shift - 1 else self.left + moved
        right = None if self.right is None else self.right - moved
        if (left is not None and left < 0) or (right is not None and right < 0):
            return None
        return columns, left, right
