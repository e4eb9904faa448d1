# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Score functions that are measured, each defined here and nowhere else: the reference, FlexAttention and the
bundles of attn take the same function."""

import dataclasses
import math
import typing


class Numbers(list):
    """A captured tensor, as nested lists, where there is no PyTorch: functions can be traced with it."""

    @property
    def dtype(self):
        return "i32" if isinstance(self[0], int) else "f32"

    @property
    def shape(self):
        return (len(self), len(self[0])) if isinstance(self[0], list) else (len(self),)

    def __dlpack__(self, **_):
        raise TypeError("expected a function that is traced, got one whose tensors are to be read by a kernel")


@dataclasses.dataclass(frozen=True)
class Score:
    """`make`: makes the function (score, b, h, q, kv) of a module with `tanh` and the captured tensors. `mask`:
    the mask beside it. `captures`: {name: function of the heads and the length that returns the elements}.
    `differentiated`: the captures whose gradients a backward pass computes. `softcap`: the same function in
    libraries that can cap scores, but have no other score functions."""

    make: typing.Callable
    mask: str = "none"
    captures: dict = dataclasses.field(default_factory=dict)
    differentiated: tuple = ()
    softcap: float = 0.0

    def captured(self, heads, seqlen, tensor=Numbers):
        """{name: tensor}; `tensor` makes one of nested lists."""
        return {name: tensor(elements(heads, seqlen)) for name, elements in self.captures.items()}


def slopes(heads, _):
    return [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)]


def table(heads, seqlen):
    return [[math.sin(0.37 * n + h) for n in range(2 * seqlen)] for h in range(heads)]


def alibi(ops, slopes):
    return lambda score, b, h, q, kv: score + slopes[h] * (kv - q)


def softcap(ops):
    return lambda score, b, h, q, kv: 30.0 * ops.tanh(score / 30.0)


def relative(ops, table, middle):
    return lambda score, b, h, q, kv: score + table[h, q - kv + middle[0]]


SCORES = {
    "alibi+causal": Score(alibi, "causal", {"slopes": slopes}),
    "softcap30+causal": Score(softcap, "causal", softcap=30.0),
    "relbias": Score(relative, captures={"table": table, "middle": lambda _, seqlen: [seqlen]}, differentiated=("table",)),
}


def tensors(torch, point, device):
    """What the function of a point reads, on a device."""
    if not point.score:
        return {}
    make = lambda numbers: torch.tensor(numbers, dtype=torch.int32 if isinstance(numbers[0], int) else torch.float32, device=device)
    return SCORES[point.score].captured(point.heads, point.seqlen, make)


def function(point, ops, captured):
    """The function of a point, of a module and tensors, or None."""
    return SCORES[point.score].make(ops, **captured) if point.score else None
