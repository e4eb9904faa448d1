# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The padding of batches in transformers. Imported where torch is."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Padding(NamedTuple):
    """Which keys are tokens. `first` and `end` have, for each batch, the first token and the key after
    the last one, int32; `elements` the truth values (batch, key). `rows` has first, end and the
    number of tokens of each batch."""

    first: torch.Tensor
    end: torch.Tensor
    elements: torch.Tensor
    rows: list[list[int]]

    def hides(self, first: int, end: int) -> bool:
        """Whether one of the keys from `first` to before `end` is no token."""
        return first < end and (self.has_gaps or any(row[0] > first or row[1] < end for row in self.rows))

    @property
    def has_gaps(self) -> bool:
        """Whether there are keys that are no tokens between the first and the last token."""
        return any(count < end - first for first, end, count in self.rows)


def padding_of(attention_mask: torch.Tensor, batch: int, keys: int, first_key: int) -> Padding | None:
    """The padding of the keys from `first_key` on, as `attention_mask` (batch, position) has it;
    later ones have not been written yet. None if it is no such mask. Waits for the device."""
    elements = attention_mask[:, first_key:first_key + keys]
    if elements.shape[0] != batch or not elements.numel():
        return None
    if elements.dtype is not torch.bool:  # transformers passes truth values
        elements = elements.bool()
        if not elements.all():
            return None
    position = torch.arange(elements.shape[1], dtype=torch.int32, device=elements.device)
    first = torch.where(elements, position, keys).amin(1)
    end = torch.where(elements, position + 1, 0).amax(1)
    rows = torch.stack((first, end, elements.sum(1)), 1).tolist()
    return Padding(first, end, elements, rows)
