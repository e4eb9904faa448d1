# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attn.flash_attn_func`: FlashAttention's function."""

from __future__ import annotations

import math
from typing import Any

from . import _dropout, _tensors
from ._call import attend, repeat
from ._checks import check_tensors, half_precision, mask_bound, number
from ._errors import ArgumentError
from ._ir import DROPOUT_STATE, SINKS
from ._presets import check_factor, check_sinks, check_softcap, few_queries, fixed, flash_preset, given_as, operand
from ._torch_rules import accept_operands, autocast, gradients_are_wanted


def flash_attn_func(q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: float | None = None,
                    causal: bool = False, window_size: tuple[int | None, int | None] = (-1, -1),
                    softcap: float = 0.0, alibi_slopes: Any = None, deterministic: bool = False,
                    return_attn_probs: bool = False, *, return_lse: bool = False, sinks: Any = None) -> Any:
    """The same function as flash_attn.flash_attn_func.

    Query i of seqlen_q has the position of key i + seqlen_k - seqlen_q: the diagonal ends at the
    last query and the last key.

    Args:
        q: (batch, seqlen_q, heads, head_dim); bf16 or f16, the last dim contiguous,
            rows aligned to 16 bytes.
        k: (batch, seqlen_k, kv_heads, head_dim); kv_heads divides heads.
        v: (batch, seqlen_k, kv_heads, head_dim_v); in bf16 at most 1.3e36 / seqlen_k,
            or the output may be infinite.
        dropout_p: the probability with which a weight of a value is dropped, from 0 to 1; the others are divided by
            1 - dropout_p. The random numbers come from torch's generator of the device. The probability is rounded to
            a multiple of 2^-16.
        softmax_scale: multiplies the scores, greater than 0; 1 / sqrt(head_dim) if None. A tensor that requires a
            gradient gets one, as does `softcap`.
        causal: no key beyond the diagonal.
        window_size: keys before and after the diagonal that a query sees; a negative
            number or None leaves that side open. With `causal`, a query sees no key after it.
        softcap: if not 0, scores are softcap * tanh(score / softcap).
        alibi_slopes: (heads,) or (batch, heads) in f32; a score loses slope * distance
            from the diagonal.
        deterministic: the gradients have the same bits in each run, as with
            torch.use_deterministic_algorithms(True). The forward pass always has.
        return_attn_probs: also return the log-sum-exp and None.
        return_lse: also return the log-sum-exp: (batch, heads, seqlen_q), f32, natural
            logarithms.
        sinks: (heads,), floats: a score of each head that has a weight in the softmax, but no key and no value. The
            log-sum-exp includes it.

    Returns:
        out (batch, seqlen_q, heads, head_dim_v); (out, lse) with return_lse; (out, lse,
        None) with return_attn_probs. A query that sees no key has out 0 and lse -inf.

    Raises:
        ArgumentError: an argument breaks a rule.
        UnsupportedError: other element types, head dims that are not multiples of 8 up
            to 256, and gradients that do not exist (docs/python.md has all).
    """
    call = None
    try:
        left, right = window_size
    except (TypeError, ValueError):
        raise ArgumentError(f"expected 'window_size' to be (left, right), got {window_size!r}") from None
    if alibi_slopes is None and sinks is None:
        call, again = repeat(("flash", dropout_p, softmax_scale, causal, left, right, softcap, deterministic), q, k, v)
        if again and not return_lse and not return_attn_probs:
            out = again.output(q, k, v)
            if out is not None:
                return out
        elif again:
            done = again(q, k, v)
            if done:
                out, lse = done
                return _result(out, lse, return_lse, return_attn_probs)
    check_tensors(q=q, k=k, v=v, **({} if alibi_slopes is None else {"alibi_slopes": alibi_slopes}))
    q, k, v = autocast(q, k, v)
    accept_operands(q=q, k=k, v=v, alibi_slopes=alibi_slopes, softmax_scale=softmax_scale, softcap=softcap, sinks=sinks)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if len(tensor.shape) != 4:
            raise ArgumentError(f"expected '{name}' to have rank 4, got {len(tensor.shape)}")
    dtype = half_precision("q", q)
    check_softcap(softcap)
    if sinks is not None:
        check_sinks(sinks, q, q.shape[2])
    dropout_p = _dropout.rate(dropout_p, q)
    mask, bounds = _mask(causal, left, right)
    given = tuple(name for name, side in zip(("window_left", "window_right"), bounds) if side is not None)
    factor_kind = "tensor" if gradients_are_wanted(softmax_scale) else ""
    if factor_kind:
        check_factor("softmax_scale", number("softmax_scale", softmax_scale), is_positive=True)
    cap_kind = given_as(softcap)
    if cap_kind == "number" and not softcap > 0:  # a branch, so that torch.compile knows which
        cap_kind = ""
    preset = flash_preset(dtype, fixed(q.shape[3], "q"), fixed(v.shape[3], "v"), mask, given, factor_kind, cap_kind,
                          True if dropout_p else False, sinks is not None, _slopes_rank(alibi_slopes, q), few_queries(q.shape[1], q.shape[2], k.shape[2], gradients_are_wanted(q, k, v)))
    captures, floats, ints = preset.arguments(factor=operand("softmax_scale", softmax_scale, q),
                                              softcap=operand("softcap", softcap, q), alibi_slopes=alibi_slopes, shift=k.shape[1] - q.shape[1],
                                              dropout_p=dropout_p, **{DROPOUT_STATE: _dropout.draw(q) if dropout_p else None,
                                                                      SINKS: None if sinks is None else sinks.float()})
    scale = 1 / math.sqrt(q.shape[3]) if softmax_scale is None else number("softmax_scale", softmax_scale)
    scale = 1.0 if factor_kind else scale
    out, lse = attend(preset.ir, q, k, v, captures, [scale, *floats], [b for b in bounds if b is not None] + ints,
                      call=call, deterministic=True if deterministic else False)
    return _result(out, lse, return_lse, return_attn_probs)


def _result(out: Any, lse: Any, return_lse: bool, return_attn_probs: bool) -> Any:
    if return_attn_probs:
        return out, lse, None
    return (out, lse) if return_lse else out


def _mask(causal: bool, left: int | None, right: int | None) -> tuple[str, list[int | None]]:
    """The mask and its bounds, left and right."""
    bounds = [None if side is None else mask_bound("window_size", side) for side in (left, right)]
    bounds = [None if side is None or side < 0 else side for side in bounds]
    if causal:
        return "causal_bottom_right", [bounds[0], None]
    return "none" if bounds == [None, None] else "window_bottom_right", bounds


def _slopes_rank(alibi_slopes: Any, q: Any) -> int:
    if alibi_slopes is None:
        return 0
    batch, heads = q.shape[0], q.shape[2]
    shape = tuple(alibi_slopes.shape)
    if shape not in ((heads,), (batch, heads)):
        raise ArgumentError(f"expected 'alibi_slopes' to be ({heads},) or ({batch}, {heads}), got {shape}")
    if _tensors.dtype_name(alibi_slopes) != "f32":
        raise ArgumentError(f"expected 'alibi_slopes' to be float32, got {alibi_slopes.dtype}")
    return 1 if len(shape) == 1 else 2
