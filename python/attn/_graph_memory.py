# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory for the launches that CUDA graphs record.

The launches of a kernel that one stream records for one graph share a block. The graph clears it before the first
of them; the others find it as the one before has left it. A block belongs to no pool of
torch, which could give it to others between two launches, and to no second graph until the first is
destroyed."""

from __future__ import annotations

import threading
from typing import Any

from . import _capi, _tensors


class _Block:
    def __init__(self, tensor: Any, device: int):
        self.tensor, self.device, self.size = tensor, device, tensor.numel()
        self.recorder: tuple[int, int | None] | None = None
        self.is_gone: Any = None

    def is_free(self) -> bool:
        """Whether no graph uses it."""
        return self.is_gone is None or bool(self.is_gone.value)


class GraphMemory:
    """The blocks of one kernel."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._lock = threading.Lock()

    def find(self, like: Any, size: int, stream: int | None) -> Any:
        """`size` bytes or more, on the device of the torch tensor `like`, whose current stream is `stream` and is captured. They are
        ready for a launch. None if the driver does not say which graph it is, or when it is destroyed."""
        device = like.device.index
        number = _capi.capture_number(device, stream)
        if not number:
            return None
        with self._lock:
            fitting = [block for block in self._blocks if block.device == device and block.size >= size]
            for block in fitting:
                if block.recorder == (number, stream) and not block.is_free():
                    return block.tensor
            return self._begin(fitting, like, size, (number, stream))

    def _begin(self, fitting: list[_Block], like: Any, size: int, recorder: tuple[int, int | None]) -> Any:
        block = next((block for block in fitting if block.is_free()), None)
        if block is None:
            block = _Block(_tensors.lasting_bytes(like, size), like.device.index)
            self._blocks.append(block)
        block.recorder = recorder
        block.is_gone = _capi.clear_in_graph(block.device, recorder[1], block.tensor.data_ptr(), block.size)
        return block.tensor if block.is_gone is not None else None
