# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mask functions of transformers, as forms. They are known by their code. Imported where
transformers is."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Tuple

import torch
from transformers import masking_utils

from ._mask_forms import Chunk, Either, Elements, Form, Function, Keys, Same, Window, both
from ._mask_function import Described
from ._symbols import Scalar
from ._transformers_padding import Padding

# Left and right: how many keys before and after its own position a query sees; None is open.
Bounds = Tuple[Optional[int], Optional[int]]


class MaskCall(NamedTuple):
    """The arguments that transformers passes, as far as they say what the mask is. Offsets are
    numbers."""

    batch_size: int
    q_length: int
    kv_length: int
    q_offset: int
    kv_offset: int
    function: Any
    device: torch.device
    padding: Optional[Padding]

    @property
    def shift(self) -> int:
        return self.q_offset - self.kv_offset


def _code_of(name: str, *arguments: Any) -> Any:
    """The code of the functions that `name` of masking_utils returns; None if this version of
    transformers has no such function."""
    make = getattr(masking_utils, name, None)
    return make and make(*arguments).__code__


_BOTH = _code_of("and_masks", masking_utils.causal_mask_function)
_EITHER = _code_of("or_masks", masking_utils.causal_mask_function)
_WINDOW = _code_of("sliding_window_overlay", 1)
_WINDOW_TO_BOTH_SIDES = _code_of("sliding_window_bidirectional_overlay", 1)
_CHUNK = _code_of("chunked_overlay", 1, None)
_PACKED = _code_of("packed_sequence_mask_function", None)
_BLOCKS = _code_of("blockwise_overlay", None)


def _closure(function: Callable[..., Any], code: Any) -> dict[str, Any] | None:
    """The variables of a function that has this code; None if it has another."""
    found: Any = getattr(function, "__code__", None)
    if found is None or found is not code:
        return None
    return dict(zip(found.co_freevars, (cell.cell_contents for cell in getattr(function, "__closure__", None) or ())))


def bounds_of(function: Callable[..., Any]) -> Bounds | None:
    """The bounds of a mask function; None if its mask is no band."""
    if function is masking_utils.causal_mask_function:
        return None, 0
    if function is getattr(masking_utils, "bidirectional_mask_function", None):
        return None, None
    known = _closure(function, _BOTH)
    if known:
        return _narrowest([bounds_of(part) for part in known["mask_functions"]])
    for code, is_two_sided in ((_WINDOW, False), (_WINDOW_TO_BOTH_SIDES, True)):
        known = _closure(function, code)
        if known:
            window = known["sliding_window"]
            return (window, window) if is_two_sided else (window - 1, None)
    return None


def _narrowest(parts: list[Bounds | None]) -> Bounds | None:
    left, right = [], []
    for bounds in parts:
        if bounds is None:
            return None
        left.append(bounds[0])
        right.append(bounds[1])
    return _least(left), _least(right)


def _least(bounds: list[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def described(call: MaskCall, is_padded: bool) -> Described | None:
    """The mask of a call; None if it has a tensor that no kernel reads. `is_padded`: padding matters."""
    reader = _Reader(call)
    parts = [reader.form(call.function)]
    if is_padded and call.padding:
        parts += reader.padding(call.padding)
    shift = reader.number(call.shift)
    if reader.is_refused:
        return None
    return Described(both(parts), tuple(reader.values), shift, tuple(reader.functions))


class _Reader:
    """Collects what the forms of a mask refer to. `is_refused`: a tensor is not what a kernel
    reads."""

    def __init__(self, call: MaskCall):
        self._call = call
        self.values: list[Any] = []
        self.functions: list[Callable[..., Any]] = []
        self.is_refused = False

    def number(self, value: int) -> int | None:
        """The place of a number, None for 0: most masks have no offsets."""
        return self._place(Scalar(value)) if value else None

    def form(self, function: Callable[..., Any]) -> Form:
        bounds = bounds_of(function)
        if bounds is not None:
            return Window(*bounds)
        for code, combine in ((_BOTH, both), (_EITHER, lambda parts: Either(tuple(parts)))):
            known = _closure(function, code)
            if known:
                return combine([self.form(part) for part in known["mask_functions"]])
        known = _closure(function, _CHUNK)
        if known:
            return self._chunk(known["chunk_size"], known["left_padding"])
        for code, name, is_natural in ((_PACKED, "packed_sequence_mask", False), (_BLOCKS, "block_sequence_ids", True)):
            known = _closure(function, code)
            if known:
                return self._same(known[name], is_natural)
        self.functions.append(function)
        return Function(len(self.functions) - 1, self.number(self._call.q_offset), self.number(self._call.kv_offset))

    def padding(self, padding: Padding) -> list[Form]:
        """By two numbers a batch. Where there are gaps, the elements between them are read, too."""
        self.is_refused |= padding.first.device != self._call.device
        parts: list[Form] = [Keys(self._place(padding.first), self._place(padding.end))]
        if padding.has_gaps:
            missing = self._call.kv_length - padding.elements.shape[1]
            parts.append(Elements(self._place(torch.nn.functional.pad(padding.elements, (0, missing)))))
        return parts

    def _chunk(self, size: int, left_padding: torch.Tensor) -> Form:
        if not self._can_read(left_padding, (self._call.batch_size,)) or size < 1:
            self.is_refused = True
            return Window(None, None)
        return Chunk(size, self._place((self._call.q_offset - left_padding).remainder(size).int()))

    def _same(self, numbers: torch.Tensor, is_natural: bool) -> Form:
        call = self._call
        starts, lengths = (call.q_offset, call.kv_offset), (call.q_length, call.kv_length)
        if not self._can_read(numbers, (call.batch_size, max(map(sum, zip(starts, lengths))))):
            return Window(None, None)
        queries, keys = (self._place(numbers if not start else numbers[:, start:]) for start in starts)
        return Same(queries, keys, is_natural)

    def _can_read(self, tensor: Any, least: tuple[int, ...]) -> bool:
        """Whether the tensor is one of integers on the mask's device with at least so many
        elements."""
        reads = (type(tensor) is torch.Tensor and tensor.device == self._call.device and tensor.dim() == len(least)
                 and not tensor.is_floating_point() and all(size >= each for size, each in zip(tensor.shape, least)))
        self.is_refused |= not reads
        return reads

    def _place(self, value: Any) -> int:
        for place, known in enumerate(self.values):
            if known is value:
                return place
        self.values.append(value)
        return len(self.values) - 1
