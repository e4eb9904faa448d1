# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a tensor that a kernel writes may share memory with another of its tensors."""

from __future__ import annotations

import math
from typing import NamedTuple

from ._capi import DTYPE_CODES
from ._errors import ArgumentError
from ._tensors import View


class _Runs(NamedTuple):
    """The memory of a tensor: runs of `run` bytes, the first at address `first`, multiples of
    `step` bytes apart; the last run ends at `end`."""

    first: int
    end: int
    run: int
    step: int  # 0: there is only one run


def _runs(view: View) -> _Runs:
    item = DTYPE_CODES[view.dtype][1] // 8
    run, step, reach = item, 0, item
    for stride, size in sorted(zip(view.strides, view.shape)):
        if size > 1 and stride > 0:
            reach += (size - 1) * stride * item
            if step == 0 and stride * item == run:
                run *= size
            else:
                step = math.gcd(step, stride * item)
    empty = math.prod(view.shape) == 0
    return _Runs(view.pointer, view.pointer + (0 if empty else reach), run, step)


def may_overlap(one: View, other: View) -> bool:
    """Whether the tensors may share a byte. False is exact; True may be wrong for two that
    interleave in the same memory with different steps."""
    a, b = _runs(one), _runs(other)
    if a.end <= b.first or b.end <= a.first or a.first == a.end or b.first == b.end:
        return False
    step = math.gcd(a.step, b.step)
    if step == 0:
        return True
    ahead = (b.first - a.first) % step
    return ahead < a.run or ahead + b.run > step


def refuse_overlaps(read: dict[str, View], written: dict[str, View]) -> None:
    """Refuses written tensors that share memory with another tensor."""
    known = dict(read)
    for name, view in written.items():
        for other, beside in known.items():
            if may_overlap(view, beside):
                raise ArgumentError(f"expected '{name}' to have memory of its own since it is written, got a tensor that "
                                    f"shares some with '{other}'")
        known[name] = view
