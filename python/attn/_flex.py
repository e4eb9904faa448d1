# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attn.attention`: attention with score and mask functions."""

from __future__ import annotations

from typing import Any, Callable

from . import _tensors
from ._block_mask import is_block_mask, regions_with_blocks
from ._checks import check_tensors, half_precision
from ._errors import ArgumentError
from ._kernel import Kernel
from ._ir import Problem
from ._presets import fixed
from ._torch_rules import autocast
from ._trace import regions_of


def attention(query: Any, key: Any, value: Any, score_mod: Callable[..., Any] | None = None,
              mask_mod: Callable[..., Any] | None = None, *, scale: float | None = None, enable_gqa: bool = False,
              return_lse: bool = False) -> Any:
    """Attention with functions of the score and of the position, as FlexAttention
    takes them.

    The functions run once, on symbols, and their operations become part of the kernel. Tensors
    that they close over become its arguments. `attn.compile` does this ahead of time. Inside
    torch.compile a call of this function is a graph break; a call of a kernel of `attn.compile`
    is not.

    Args:
        query: (batch, heads, seqlen_q, head_dim); bf16 or f16.
        key: (batch, kv_heads, seqlen_k, head_dim).
        value: (batch, kv_heads, seqlen_k, head_dim_v); in bf16 at most 1.3e36 /
            seqlen_k, or the output may be infinite.
        score_mod: (score, b, h, q_idx, kv_idx) -> the new score. `score` is f32 and has
            been scaled; the others are i32.
        mask_mod: (b, h, q_idx, kv_idx) -> whether the query sees the key, or a
            BlockMask of torch for these lengths, and for these batches and heads or
            for all. Its blocks are compared with its function when it is first seen;
            a mask whose blocks are not those of torch's create_block_mask works too, but is
            slower.
        scale: multiplies the scores, greater than 0; 1 / sqrt(head_dim) if None.
        enable_gqa: heads may be a multiple of kv_heads; otherwise they have to be equal.
        return_lse: also return the log-sum-exp.

    Returns:
        out (batch, heads, seqlen_q, head_dim_v), or (out, lse) with lse (batch, heads,
        seqlen_q) in f32, natural logarithms. A query that sees no key has out 0 and lse
        -inf.

    Raises:
        TraceError: a function uses an operation that cannot become part of a kernel; the message
            names the operation and the line.
        ArgumentError, UnsupportedError: as for `attn.sdpa`.
    """
    if _tensors.is_torch(query):
        from . import _torch_ops

        return _torch_ops.untraced(run, query, key, value, score_mod, mask_mod, scale, enable_gqa, return_lse)
    return run(query, key, value, score_mod, mask_mod, scale, enable_gqa, return_lse)


def run(query: Any, key: Any, value: Any, score_mod: Callable[..., Any] | None, mask_mod: Callable[..., Any] | None,
        scale: float | None, enable_gqa: bool, return_lse: bool) -> Any:
    """`attention`, which torch.compile calls without tracing into it."""
    check_tensors(query=query, key=key, value=value)
    query, key, value = autocast(query, key, value)
    _check(query, key, value, enable_gqa)
    if is_block_mask(mask_mod):
        trace, score, allow = regions_with_blocks(score_mod, mask_mod, query, key)
    else:
        trace, score, allow = regions_of(score_mod, mask_mod)
    dtype, dims = half_precision("query", query), (fixed(query.shape[3], "query"), fixed(value.shape[3], "value"))
    problem = Problem(dtype, *dims, captures=trace.signature(), score=score,
                      allow=allow)
    out, lse = Kernel(problem, trace.captures, "bhsd")(query, key, value, scale=scale)
    return (out, lse) if return_lse else out


def _check(query: Any, key: Any, value: Any, enable_gqa: bool) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if len(tensor.shape) != 4:
            raise ArgumentError(f"expected '{name}' to have 4 dims, got {len(tensor.shape)}")
    heads, kv_heads = query.shape[1], key.shape[1]
    if not enable_gqa and heads != kv_heads:
        raise ArgumentError(f"expected 'key' to have the {heads} heads of 'query', got {kv_heads}: pass enable_gqa=True if "
                            "several heads of 'query' go with each of 'key'")
    if kv_heads == 0 or heads % kv_heads:
        raise ArgumentError(f"expected the heads of 'query' to be a multiple of those of 'key', {kv_heads}, got {heads}")
