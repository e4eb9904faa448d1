# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random problems of attention with gradients, their results in float64 by torch's autograd, and
FlashAttention's rule for errors: at most twice those of the same computation in 16 bits. Needs torch."""

import math
import random

import torch

import attn

# The tolerance that the rule adds because a result is rounded to 16 bits: the rounding of a value to which 0.3 was
# added.
_SHIFT = 0.3


class Kind:
    """A kind of mask or score function. `call(q, k, v)` returns (out, lse), lse None where the function returns none, for
    tensors (batch, heads, position, dim); `score(s, b, h, i, j)` and `allow(b, h, i, j)` are on tensors of positions."""

    def __init__(self, call, score=None, allow=None, factor=2, scale=None):
        self.call, self.score, self.allow, self.factor, self.scale = call, score, allow, factor, scale


def _flash(**options):
    def call(q, k, v):
        out, lse = attn.flash_attn_func(*(x.transpose(1, 2) for x in (q, k, v)), return_lse=True, **options)
        return out.transpose(1, 2), lse

    return call


def _sdpa(**options):
    return lambda q, k, v: (attn.sdpa(q, k, v, enable_gqa=True, **options), None)


def _attention(score=None, allow=None):
    return lambda q, k, v: attn.attention(q, k, v, score, allow, enable_gqa=True, return_lse=True)


def _window(left, right, shift):
    return lambda b, h, i, j: ((left < 0) | (j >= i + shift - left)) & ((right < 0) | (j <= i + shift + right))


def kinds(pick, device, batch, heads, rows, columns):
    """{name: function that makes a Kind} for a problem of these sizes; `pick` is a random.Random."""
    shift = columns - rows
    left, right = pick.randint(0, columns), pick.randint(0, columns)
    cap = pick.choice((2.0, 15.0))
    capped = lambda s, b, h, i, j: cap * torch.tanh(s / cap)
    normal = lambda *shape: torch.randn(*shape, device=device)

    def alibi():
        slopes = torch.rand(heads, device=device)
        far = lambda s, b, h, i, j: s - slopes[h] * (i + shift - j).abs()
        return Kind(_flash(alibi_slopes=slopes, causal=True), far, _window(-1, 0, shift))

    def boolean():
        mask = torch.rand(batch, 1, rows, columns, device=device) > 0.3
        return Kind(_sdpa(attn_mask=mask), allow=lambda b, h, i, j: mask[b, 0, i, j])

    def additive():
        bias = normal(heads, rows, columns)
        return Kind(_sdpa(attn_mask=bias), lambda s, b, h, i, j: s + bias[h, i, j])

    def relative():
        table, middle = normal(heads, rows + columns), torch.tensor([rows], dtype=torch.int32, device=device)
        score = lambda s, b, h, i, j: s + table[h, j - i + middle[0]]
        return Kind(_attention(score), score)

    def documents():
        ids = torch.randint(0, 3, (batch, max(rows, columns)), device=device).sort().values
        allow = lambda b, h, i, j: (ids[b, i] == ids[b, j]) & (i >= j)
        return Kind(_attention(None, allow), allow=allow)

    def clamped():
        score = lambda s, b, h, i, j: torch.clamp(s * s, max=1.5) + torch.where(i > j, s, torch.relu(s))
        return Kind(_attention(score), score, factor=3)

    numbers = torch.tensor([columns // 3, shift], dtype=torch.int32, device=device)
    prefix = lambda b, h, i, j: (j < numbers[0]) | (j <= i + numbers[1])
    return {
        "none": lambda: Kind(_sdpa()),
        "causal_top_left": lambda: Kind(_sdpa(is_causal=True), allow=lambda b, h, i, j: j <= i),
        "causal": lambda: Kind(_flash(causal=True), allow=_window(-1, 0, shift)),
        "window": lambda: Kind(_flash(window_size=(left, right)), allow=_window(left, right, shift)),
        "causal_window": lambda: Kind(_flash(window_size=(left, 0), causal=True), allow=_window(left, 0, shift)),
        "softcap": lambda: Kind(_flash(softcap=cap), capped, factor=3),
        "causal_softcap": lambda: Kind(_flash(softcap=cap, causal=True), capped, _window(-1, 0, shift), 3),
        "negative_scale": lambda: Kind(_sdpa(scale=-0.1), scale=-0.1),
        "prefix": lambda: Kind(_attention(None, prefix), allow=prefix),
        "alibi": alibi, "boolean": boolean, "additive": additive, "relative": relative, "documents": documents,
        "clamped": clamped,
    }


KINDS = tuple(kinds(random.Random(0), "cpu", 1, 1, 1, 1))


class Problem:
    """A random problem: the sizes are at most `longest` positions, `most_heads` heads of K and V."""

    def __init__(self, seed, kind, dims, dtype, device, longest, most_heads=2, needs=(True, True, True)):
        pick = self.pick = random.Random(seed)
        torch.manual_seed(seed)
        self.kind, self.dims, self.dtype, self.device, self.needs = kind, dims, dtype, device, needs
        self.batch, self.kv_heads = pick.randint(1, 2), pick.randint(1, most_heads)
        self.heads = self.kv_heads * pick.choice((1, 1, 2, 3))
        self.rows, self.columns = (pick.randint(17, longest) for _ in range(2))
        if kind == "documents":
            self.columns = self.rows
        self.how = {name: pick.choice(("packed", "packed", "heads_last", "wide")) for name in "qkv"}
        self.of_out = pick.choice(("packed", "packed", "heads_last", "expanded", "one"))
        self.with_lse = pick.random() < 0.5

    def __str__(self):
        return (f"{self.kind} {self.dtype} d {self.dims} b {self.batch} h {self.heads}/{self.kv_heads} s {self.rows}x{self.columns} "
                f"strides {self.how} do {self.of_out} dlse {self.with_lse} needs {self.needs}")

    def tensor(self, how, heads, length, dim):
        """Of shape (batch, heads, length, dim)."""
        normal = lambda *shape: torch.randn(*shape, device=self.device).to(self.dtype)
        if how == "heads_last":
            return normal(self.batch, length, heads, dim).transpose(1, 2)
        if how == "wide":
            return normal(self.batch, heads, length, dim + 16)[..., 8:dim + 8]
        return normal(self.batch, heads, length, dim)

    def run(self):
        """Returns the largest error of each gradient beside what is allowed, as {name: (error, allowed)}."""
        kind = kinds(self.pick, self.device, self.batch, self.heads, self.rows, self.columns)[self.kind]()
        d, dv = self.dims
        q, k, v = (self.tensor(self.how[n], h, length, dim).requires_grad_(need) for n, h, length, dim, need in zip(
            "qkv", (self.heads, self.kv_heads, self.kv_heads), (self.rows, self.columns, self.columns), (d, d, dv), self.needs))
        out, lse = kind.call(q, k, v)
        of_out, of_lse = self.gradients_of(out, lse)
        results = [(out, of_out)] + ([(lse, of_lse)] if of_lse is not None else [])
        wanted = [x for x in (q, k, v) if x.requires_grad]
        got = torch.autograd.grad([x for x, _ in results], wanted, [g for _, g in results])
        exact = reference(kind, (q, k, v), of_out, of_lse, torch.float64)
        rounded = reference(kind, (q, k, v), of_out, of_lse, self.dtype)
        errors = {}
        for name, found, want, plain in zip([n for n, need in zip("qkv", self.needs) if need], got, exact, rounded):
            size = lambda x: x.abs().max().item() if x.numel() else 0.0
            shifted = (want.to(self.dtype) + _SHIFT - _SHIFT).double()
            allowed = kind.factor * size(plain.double() - want) + 2 * size(shifted - want) + (3e-4 if kind.factor > 2 else 0)
            finite = bool(torch.isfinite(found).all()) and found.shape == want.shape
            errors["d" + name] = size(found.double() - want) if finite else math.inf, allowed
        return errors

    def gradients_of(self, out, lse):
        """Random gradients of the results; that of the LSE may be None."""
        shape = tuple(out.shape)
        if self.of_out == "expanded":
            of_out = torch.randn(1, 1, *shape[2:], device=self.device).to(self.dtype).expand(shape)
        elif self.of_out == "one":
            of_out = torch.ones((), device=self.device, dtype=self.dtype).expand(shape)
        else:
            of_out = self.tensor(self.of_out, self.heads, self.rows, self.dims[1])
        return of_out, torch.randn_like(lse) if lse is not None and self.with_lse else None


def attend(kind, q, k, v):
    """(out, lse) in the element type of q, with scores and their softmax in at least float32."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    scores = (q @ k.transpose(2, 3)).to(wide) * (kind.scale or q.shape[3]**-0.5)
    places = [torch.arange(size, device=q.device).view([-1 if n == m else 1 for m in range(4)]) for n, size in enumerate(scores.shape)]
    scores = kind.score(scores, *places).to(wide) if kind.score else scores
    seen = kind.allow(*places).expand(scores.shape) if kind.allow else torch.ones_like(scores, dtype=torch.bool)
    most = scores.masked_fill(~seen, -math.inf).amax(-1, keepdim=True).detach()
    most = most.clamp(min=torch.finfo(wide).min)
    weights = torch.where(seen, torch.exp(torch.where(seen, scores - most, 0)), 0)
    total = weights.sum(-1, keepdim=True)
    some = total > 0
    total = torch.where(some, total, 1)
    lse = torch.where(some, most + torch.log(total), -math.inf)[..., 0]
    return (weights / total).to(q.dtype) @ v, lse


def reference(kind, operands, of_out, of_lse, dtype):
    """The gradients of those operands that require one, computed in `dtype`."""
    copies = [x.detach().to(dtype).requires_grad_(x.requires_grad) for x in operands]
    out, lse = attend(kind, *copies)
    results, gradients = [out], [of_out.to(dtype)]
    if of_lse is not None and lse.requires_grad:
        has_keys = torch.isfinite(lse)
        results.append(lse[has_keys])
        gradients.append(of_lse.to(lse.dtype)[has_keys])
    return torch.autograd.grad(results, [x for x in copies if x.requires_grad], gradients)
