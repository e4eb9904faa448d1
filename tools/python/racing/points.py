# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The problems that are measured: 16384 tokens, as in the papers' grids."""

from racing import masks, scores, shares

TOKENS = 16384
HIDDEN = 2048
GRIDS = {
    "paper": (512, 1024, 2048, 4096, 8192, 16384),
    "quick": (1024, 4096, 16384),
}
MASKS = tuple(masks.BUILT_IN)
CASES = tuple(masks.MASKS) + tuple(scores.SCORES)
DTYPES = ("bf16", "fp16")
# bwd-det: by kernels that give the same bits in each run.
OPS = ("fwd", "bwd", "bwd-det")


def pair(text):
    """Two numbers from "192/128", or twice the one of "64"."""
    first, slash, second = text.partition("/")
    numbers = int(first), int(second if slash else first)
    if min(numbers) <= 0:
        raise ValueError(text)
    return numbers


class Point:
    """One problem of `op`, with a mask, or a score function and its mask; without `heads` there are HIDDEN / dv of them, and
    as many of K and V; without `batch` there are TOKENS tokens."""

    def __init__(self, mask, d, seqlen, dv=None, dtype="bf16", heads=None, batch=None, op="fwd"):
        self.op, self.d, self.dv, self.seqlen, self.dtype = op, d, dv or d, seqlen, dtype
        self.score = mask if mask in scores.SCORES else None
        self.mask = scores.SCORES[mask].mask if self.score else mask
        self.batch = batch or max(1, TOKENS // seqlen)
        self.heads, self.kv_heads = heads or (HIDDEN // self.dv,) * 2
        self.grouped = self.heads != self.kv_heads

    def with_mask(self, mask):
        """The same problem with another mask."""
        return Point(mask, self.d, self.seqlen, self.dv, self.dtype, (self.heads, self.kv_heads), self.batch)

    @property
    def case(self):
        """The name of this point among those with the same dtype, head dims and seqlen."""
        groups = [f"gqa{self.heads}-{self.kv_heads}"] if self.grouped else []
        functions = self.score or self.mask
        return "+".join(groups + ([functions] if functions != "none" or not groups else []))

    @property
    def is_backward(self):
        return self.op != "fwd"

    @property
    def forward(self):
        """The forward pass of the same problem."""
        return Point(self.score or self.mask, self.d, self.seqlen, self.dv, self.dtype, (self.heads, self.kv_heads), self.batch)

    @property
    def causal(self):
        return self.mask == "causal"

    @property
    def is_function(self):
        """Whether the mask is a function of positions."""
        return self.mask in masks.FUNCTIONS

    @property
    def peer_mask(self):
        """What libraries without mask functions call the mask, or None."""
        return masks.MASKS[self.mask].peer

    @property
    def shapes(self):
        """Of Q, K, V and, in a backward pass, dO: batch, seqlen, heads, head dim."""
        rows, kv = (self.batch, self.seqlen, self.heads), (self.batch, self.seqlen, self.kv_heads)
        return (rows + (self.d,), kv + (self.d,), kv + (self.dv,)) + ((rows + (self.dv,),) if self.is_backward else ())

    @property
    def flops(self):
        """Two products, 2 s^2 d and 2 s^2 dv operations a head, of a backward pass three and two; half of it if causal, as papers
        count; of a mask function, the share of the pairs that it admits."""
        if self.is_function:
            return self.flops_of(shares.admissible_pairs(self.mask, self.seqlen))
        full = self.flops_of(self.seqlen**2)
        return full // 2 if self.causal else full

    def flops_of(self, pairs):
        """The operations of so many pairs of a head."""
        columns = 3 * self.d + 2 * self.dv if self.is_backward else self.d + self.dv
        return 2 * self.batch * self.heads * pairs * columns

    @property
    def scale(self):
        return self.d**-0.5

    @property
    def family(self):
        """All but the length."""
        return self.op, self.dtype, self.case, self.d, self.dv

    def __str__(self):
        return f"{describe_family(self.family)} s{self.seqlen}"


def describe_family(family):
    op, dtype, case, d, dv = family
    return f"{op} {dtype} {case} d{d}" + (f"/{dv}" if dv != d else "")


def make_grid(grid, dims, masks, least, most, dtypes=("bf16",), heads=(None,), op="fwd"):
    """All points of a grid; `dims` are pairs, `heads` pairs or None."""
    return [Point(mask, d, seqlen, dv, dtype, group, op=op)
            for dtype in dtypes for d, dv in dims for group in heads for mask in masks
            for seqlen in GRIDS[grid] if least <= seqlen <= most]
