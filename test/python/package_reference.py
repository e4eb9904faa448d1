# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in float64, for tests of the Python package. Needs numpy."""

import numpy as np


def attention(q, k, v, allow=None, score=None, scale=None):
    """(out, lse) of q (..., heads, seqlen_q, dim) and k, v with a divisor of the heads.
    `allow` broadcasts to the scores (..., heads, seqlen_q, seqlen_k); `score` maps them."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    group = q.shape[-3] // k.shape[-3]
    k, v = (np.repeat(x, group, axis=-3) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = score(scores) if score else scores
    if allow is not None:
        scores = np.where(allow, scores, -np.inf)
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    most = np.where(np.isfinite(most), most, 0)
    weights = np.exp(scores - most)
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.log(total[..., 0]) + most[..., 0]
    return (weights / np.where(total > 0, total, 1)) @ v, lse


def bound(q, k, v, dtype_eps, **rules):
    """The error that rounding S, P and O to the element type makes, twice: what a
    kernel may differ by."""
    out, _ = attention(q, k, v, **rules)
    most = np.abs(np.asarray(v, np.float64)).max(initial=0)
    return 2 * dtype_eps * (np.abs(out).max(initial=0) + most)


def positions(length_q, length_k):
    """Query positions as a column and key positions as a row."""
    return np.arange(length_q)[:, None], np.arange(length_k)[None, :]
