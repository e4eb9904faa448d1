# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mask functions that are measured, each defined here and nowhere else: the reference, FlexAttention and the
bundles of attn take the same function."""

import dataclasses
import typing


class Numbers(list):
    """A captured tensor of 32-bit integers where there is no PyTorch: functions can be traced and evaluated with it."""

    dtype = "i32"

    @property
    def shape(self):
        return (len(self),)

    def __dlpack__(self, **_):
        raise TypeError("expected a function that is traced or evaluated, got one whose tensors are to be read by a kernel")


@dataclasses.dataclass(frozen=True)
class Mask:
    """`make`: makes the function (b, h, q, kv) from the captured tensors. `captures`: {name: function of the batch size
    and the length that returns the elements}. `intervals`: only where no interval of keys that kernels can find is
    exactly what a query sees: the interval that they find. Blocks outside of it are skipped, and the rest is masked.
    `peer` and `window`: the same mask in libraries without mask functions. `by_batch`: whether batches may differ."""

    make: typing.Callable
    captures: dict = dataclasses.field(default_factory=dict)
    intervals: typing.Optional[typing.Callable] = None
    peer: typing.Optional[str] = None
    window: typing.Optional[tuple] = None  # of libraries that have windows: keys to the left and right
    by_batch: bool = False

    def captured(self, batch, seqlen, tensor=Numbers):
        """{name: tensor}; `tensor` makes one of a list."""
        return {name: tensor(elements(batch, seqlen)) for name, elements in self.captures.items()}


def causal():
    return lambda b, h, q, kv: q >= kv


FUNCTIONS = {
    "prefix1024": Mask(lambda: lambda b, h, q, kv: (kv < 1024) | (q >= kv)),
    "padding": Mask(lambda length: lambda b, h, q, kv: kv < length[b],
                    {"length": lambda batch, seqlen: [seqlen * 3 // 4] * batch}, by_batch=True),
    "chunks2048": Mask(lambda: lambda b, h, q, kv: (q >= kv) & (q // 2048 == kv // 2048)),
    "sinks64+window1024": Mask(lambda: lambda b, h, q, kv: (q >= kv) & ((kv < 64) | (q - kv < 1024))),
    "window1024": Mask(lambda: lambda b, h, q, kv: (q >= kv) & (q - kv < 1024), window=(1023, 0)),
    "causal_fn": Mask(causal, peer="causal"),
    "documents": Mask(lambda ids: lambda b, h, q, kv: (ids[q] == ids[kv]) & (q >= kv),
                      {"ids": lambda batch, seqlen: [i * 8 // seqlen for i in range(seqlen)]}, intervals=causal),
    "document_starts": Mask(lambda starts: lambda b, h, q, kv: (starts[q] <= kv) & (q >= kv),
                            {"starts": lambda batch, seqlen: [-(-(i * 8 // seqlen) * seqlen // 8) for i in range(seqlen)]}),
    "blocks32": Mask(lambda: lambda b, h, q, kv: q // 32 >= kv // 32),
}
BUILT_IN = {"none": Mask(lambda: lambda b, h, q, kv: (q >= 0) & (kv >= 0), peer="none"), "causal": Mask(causal, peer="causal")}
MASKS = {**BUILT_IN, **FUNCTIONS}


def tensors(torch, point, device):
    """What the function of a point reads, on a device."""
    return MASKS[point.mask].captured(point.batch, point.seqlen, lambda numbers: torch.tensor(numbers, dtype=torch.int32, device=device))
