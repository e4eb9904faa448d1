# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attn.sdpa`: torch's scaled_dot_product_attention."""

from __future__ import annotations

import math
from typing import Any

from . import _dropout, _tensors
from ._call import attend, repeat
from ._checks import check_tensors, half_precision, number
from ._errors import ArgumentError, UnsupportedError
from ._ir import DROPOUT_STATE, SINKS
from ._presets import check_factor, check_sinks, check_softcap, few_queries, fixed, given_as, operand, sdpa_preset
from ._torch_rules import accept_operands, autocast, gradients_are_wanted
from ._words import Words

_FLOATS = ("bf16", "f16", "f32", "f64")


def sdpa(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
         scale: float | None = None, enable_gqa: bool = False, *, sinks: Any = None) -> Any:
    """The same function as torch.nn.functional.scaled_dot_product_attention.

    Args:
        query: (batch, heads, seqlen_q, head_dim); bf16 or f16. As in torch, the dims
            before the last two may also be fewer or more, and broadcast.
        key: (batch, kv_heads, seqlen_k, head_dim).
        value: (batch, kv_heads, seqlen_k, head_dim_v); in bf16 at most 1.3e36 /
            seqlen_k, or the output may be infinite.
        attn_mask: broadcasts to (batch, heads, seqlen_q, seqlen_k); truth values,
            True where a query sees a key, or floats that are added to the scores.
            It is read in its own type. A float64 mask is converted, which copies it; a mask whose
            rows are not contiguous, or are all the same memory, is copied too.
        dropout_p: the probability with which a weight of a value is dropped, from 0 to 1; the others are divided by
            1 - dropout_p. The random numbers come from torch's generator of the device, but are not those of torch's
            function. The probability is rounded to a multiple of 2^-16.
        is_causal: query i sees keys 0 to i: the diagonal starts at the top left.
        scale: multiplies the scores; 1 / sqrt(head_dim) if None. A tensor that requires a gradient gets one.
        enable_gqa: heads may be a multiple of kv_heads. Nothing is repeated.
        sinks: (heads,), floats: a score of each head that has a weight in the softmax, but no key and no value. A query that
            sees no key gives 0.

    Returns:
        (batch, heads, seqlen_q, head_dim_v), as `query`. A query that sees no key
        gives 0.

    Raises:
        ArgumentError (a ValueError and a RuntimeError): arguments that torch refuses too, or a
            stride or alignment that the kernel cannot read.
        UnsupportedError (a NotImplementedError): element types other than bf16 and f16,
            head dims that are not multiples of 8 up to 256, and gradients that do not exist (docs/python.md has all).
    """
    call = None
    if attn_mask is None and sinks is None:
        call, again = repeat(("sdpa", dropout_p, is_causal, scale, enable_gqa), query, key, value)
        done = again and again.output(query, key, value)
        if done is not None:
            return done
    return capped_sdpa(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, call=call, sinks=sinks)


def capped_sdpa(query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool,
                scale: float | None, enable_gqa: bool, softcap: float = 0.0, call: Any = None,
                sinks: Any = None) -> Any:
    """`sdpa` with scores capped to softcap * tanh(score / softcap) before the mask, if `softcap`
    is not 0. `call` is as for `attend`."""
    check_tensors(query=query, key=key, value=value)
    query, key, value, attn_mask = autocast(query, key, value, attn_mask)
    given = {"query": query, "key": key, "value": value}
    causal = "causal_top_left" if is_causal else "none"
    if _is_causal_bias(attn_mask):
        causal, attn_mask = _causal_bias(attn_mask, is_causal, query, key), None
    accept_operands(**given, attn_mask=attn_mask, scale=scale, softcap=softcap, sinks=sinks)
    check_softcap(softcap)
    if not _tensors.is_torch(query):
        given = {name: _tensors.view(tensor, name) for name, tensor in given.items()}
    _check(given, attn_mask, is_causal)
    dropout_p = _dropout.rate(dropout_p, query)
    batch, heads = _leading_dims(given, enable_gqa)
    q, k, v = (_four_dims(tensor, batch, name) for name, tensor in given.items())
    q = q if q.shape[1] == heads else q.expand(q.shape[0], heads, *q.shape[2:])
    if sinks is not None:
        check_sinks(sinks, query, heads)
    dims = fixed(q.shape[3], "query"), fixed(v.shape[3], "value")
    scale = 1 / math.sqrt(dims[0]) if scale is None else number("scale", scale)
    factor_kind = given_as(scale)
    if factor_kind == "number" and scale > 0:  # a branch, so that torch.compile knows which
        factor_kind = ""
    else:
        check_factor("scale", scale)
    cap_kind = given_as(softcap)
    if cap_kind == "number" and not softcap:
        cap_kind = ""
    mask: Any = None
    use: tuple[str | None, bool, bool] = (None, False, False)
    if attn_mask is not None:
        mask, use = _mask(attn_mask, query, batch, heads, q.shape[2], k.shape[2])
    preset = sdpa_preset(_tensors.dtype_name(q), *dims, causal, factor_kind, cap_kind,
                         True if dropout_p else False, sinks is not None, *use,
                         few_queries(q.shape[2], q.shape[1], k.shape[1], gradients_are_wanted(*given.values())))
    captures, floats, ints = preset.arguments(factor=operand("scale", scale, q), softcap=operand("softcap", softcap, q), attn_mask=mask, dropout_p=dropout_p,
                                              **{DROPOUT_STATE: _dropout.draw(q) if dropout_p else None,
                                                 SINKS: None if sinks is None else sinks.float()})
    call = call if q is query and k is key and v is value else None
    ranks = [len(tensor.shape) for tensor in given.values()]
    words = Words("query", "key", "value", heads_first=True, ranks=(ranks[0], ranks[1], ranks[2], ranks[0]))
    out, _ = attend(preset.ir, q, k, v, captures, [1.0 if factor_kind else scale, *floats], ints, words=words, call=call)
    rank = max(ranks)
    return out if rank == 4 else out.reshape((*batch, *[heads] * (rank > 2), q.shape[2], v.shape[3]))


def _is_causal_bias(attn_mask: Any) -> bool:
    """Whether the mask is what torch.nn.attention.bias.causal_lower_right and
    causal_upper_left make: no tensor of its elements, but a description."""
    kind = type(attn_mask)
    return kind.__name__ == "CausalBias" and kind.__module__ == "torch.nn.attention.bias"


def _causal_bias(attn_mask: Any, is_causal: bool, query: Any, key: Any) -> str:
    """The kernel's mask that a CausalBias describes."""
    if is_causal:
        raise ArgumentError("expected 'attn_mask' to be None beside is_causal=True")
    described, lengths = (attn_mask.seq_len_q, attn_mask.seq_len_kv), (query.shape[-2], key.shape[-2])
    if described != lengths:
        raise ArgumentError(f"expected 'attn_mask' to be a CausalBias of {lengths}, the positions of 'query' and 'key', "
                            f"got one of {described}")
    return "causal_bottom_right" if attn_mask.variant.name == "LOWER_RIGHT" else "causal_top_left"


def _check(given: dict[str, Any], attn_mask: Any, is_causal: bool) -> None:
    """Checks the rules that do not depend on shapes."""
    query = given["query"]
    if attn_mask is not None and is_causal:
        raise ArgumentError("expected 'attn_mask' to be None beside is_causal=True")
    for name, tensor in given.items():
        if _tensors.is_torch(query) and not _tensors.is_torch(tensor):
            raise ArgumentError(f"expected '{name}' to be a {type(query).__name__} like 'query', got {type(tensor).__name__}")
        if len(tensor.shape) < 2:
            raise ArgumentError(f"expected '{name}' to have at least 2 dims, got {len(tensor.shape)}")
        if tensor.dtype != query.dtype:
            raise ArgumentError(f"expected '{name}' to have the element type of 'query', {query.dtype}, got {tensor.dtype}")
        if tensor.device != query.device:
            raise ArgumentError(f"expected '{name}' to be on the device of 'query', {query.device}, got {tensor.device}")
    half_precision("query", query)


def _leading_dims(given: dict[str, Any], enable_gqa: bool) -> tuple[tuple[int, ...], int]:
    """The batch dims that the tensors broadcast to, and the number of heads."""
    batch = _broadcast({name: tuple(tensor.shape[:-3]) for name, tensor in given.items()})
    heads = {name: tensor.shape[-3] if len(tensor.shape) > 2 else 1 for name, tensor in given.items()}
    if heads["key"] != heads["value"]:
        raise ArgumentError(f"expected 'value' to have the heads of 'key', {heads['key']}, got {heads['value']}")
    if not enable_gqa:
        if heads["query"] != heads["key"] and 1 not in (heads["query"], heads["key"]):
            raise ArgumentError(f"expected 'key' to have the {heads['query']} heads of 'query', got {heads['key']}: pass "
                                "enable_gqa=True if several heads of 'query' go with each of 'key'")
        return batch, max(heads.values()) if min(heads.values()) else 0
    if heads["key"] == 0 or heads["query"] % heads["key"]:
        raise ArgumentError(f"expected the heads of 'query' to be a multiple of those of 'key', {heads['key']}, "
                            f"got {heads['query']}")
    return batch, heads["query"]


def _broadcast(shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes.values()))
    result = [1] * rank
    for name, shape in shapes.items():
        for n, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[n] not in (1, size):
                raise ArgumentError(f"expected the dims of '{name}' before the last two to broadcast with those of the "
                                    f"others, {result[n]}, got {size}")
            result[n] = result[n] if size == 1 else size
    return tuple(result)


def _four_dims(tensor: Any, batch: tuple[int, ...], name: str) -> Any:
    """`tensor` as (batch, heads, rows, columns), with the dims `batch` as one."""
    heads = tensor.shape[-3] if len(tensor.shape) > 2 else 1
    shape = (heads, *tensor.shape[-2:])
    if len(batch) == 1:
        return tensor if tensor.shape == (*batch, *shape) else tensor.expand(*batch, *shape)
    tensor = tensor.expand(*batch, *shape)
    if not batch:
        return tensor.expand(1, *shape)
    if not _tensors.is_torch(tensor):
        raise UnsupportedError(f"expected '{name}' to have at most 4 dims, got {len(tensor.shape)}")
    try:
        return tensor.view(math.prod(batch), *shape)
    except RuntimeError:
        raise UnsupportedError(f"expected the batch dims of '{name}', {batch}, to be one in memory, got strides "
                               f"{tensor.stride()}") from None


def _mask(attn_mask: Any, query: Any, batch: tuple[int, ...], heads: int, rows: int, columns: int
          ) -> tuple[Any, tuple[str, bool, bool]]:
    """The mask as (batch, rows or 1, heads, columns or 1), its element type, and whether it
    differs by query and by key."""
    if not _tensors.is_tensor(attn_mask):
        raise ArgumentError(f"expected 'attn_mask' to be a tensor, got {attn_mask!r}")
    dtype = _tensors.dtype_name(attn_mask)
    if dtype != "bool" and dtype not in _FLOATS:
        raise ArgumentError(f"expected 'attn_mask' to be of truth values or floats, got {attn_mask.dtype}")
    if _tensors.is_torch(query) != _tensors.is_torch(attn_mask):
        raise ArgumentError(f"expected 'attn_mask' to be a {type(query).__name__}, got {type(attn_mask).__name__}")
    if attn_mask.device != query.device and _tensors.is_torch(query):
        raise ArgumentError(f"expected 'attn_mask' to be on the device of 'query', {query.device}, got {attn_mask.device}")
    full = (*batch, heads, rows, columns)
    shape = (1,) * (2 - len(attn_mask.shape)) + tuple(attn_mask.shape)
    if len(shape) > len(full) or any(a not in (1, b) for a, b in zip(shape[::-1], full[::-1])):
        raise ArgumentError(f"expected 'attn_mask' to broadcast to {full}, got {tuple(attn_mask.shape)}")
    attn_mask = _with_packed_rows(attn_mask)
    dtype = "f32" if dtype == "f64" else dtype
    mask = _tensors.astype(attn_mask, dtype)
    mask = mask if _tensors.is_torch(mask) else _tensors.view(mask, "attn_mask")
    mask = _four_dims(mask.expand(*(1,) * (max(len(batch), 1) + 3 - len(shape)), *shape), batch, "attn_mask")
    mask = mask.expand(mask.shape[0], heads, *mask.shape[2:])
    # Not `shape[-2] != 1`: torch.compile would not specialize on that.
    by_query, by_key = (False if size == 1 else True for size in shape[-2:])
    return _tensors.swap(mask, 1, 2), (dtype, by_query, by_key)


def _with_packed_rows(mask: Any) -> Any:
    """The torch mask, or a copy whose rows are contiguous and do not share memory."""
    if not _tensors.is_torch(mask) or mask.dim() == 0:
        return mask
    shared = mask.dim() > 1 and mask.shape[-2] > 1 and mask.stride(-2) == 0
    return mask.contiguous() if shared or (mask.shape[-1] > 1 and mask.stride(-1) != 1) else mask
