# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn as an attention implementation of Hugging Face's transformers."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Callable

from . import _tensors
from ._band import Band
from ._errors import UnsupportedError
from ._fallback import REFUSALS, reason_of, warn_once
from ._flash import flash_attn_func
from ._sdpa import capped_sdpa
from ._torch_rules import autocast, gradients_are_wanted, is_deterministic

# Keywords that models pass to each attention and that transformers' "sdpa" ignores, too:
# the positions of tokens, which the mask has already, what else a model returns, and the lengths
# that FlashAttention takes.
IGNORED = frozenset((
    "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "logits_to_keep", "max_length_k", "max_length_q",
    "num_items_in_batch", "output_hidden_states", "output_router_logits", "position_embeddings", "position_ids",
    "return_dict", "seq_idx", "use_cache"))


def register_with_transformers(name: str = "attn", fallback: bool = True) -> None:
    """Makes attn an attention implementation of transformers under `name`, for
    `from_pretrained(..., attn_implementation=name)` and
    `model.set_attn_implementation(name)`.

    Args:
        name: the name.
        fallback: whether transformers computes what attn does not support: by its "sdpa",
            or by the model's own eager attention where "sdpa" would ignore an argument.
            Each reason is logged once, as a warning of the logger "attn". Otherwise such
            a call raises an AttnError.
    """
    from transformers import AttentionInterface, AttentionMaskInterface

    from ._transformers_mask import attention_mask

    AttentionInterface.register(name, functools.partial(transformers_attention, fallback=fallback))
    AttentionMaskInterface.register(name, attention_mask)


def is_registered(name: str) -> bool:
    from transformers import AttentionInterface

    return name in AttentionInterface()


def transformers_attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any,
                           scaling: float | None = None, dropout: float = 0.0, is_causal: bool | None = None,
                           softcap: float | None = None, sliding_window: int | None = None, position_bias: Any = None,
                           s_aux: Any = None, *, deterministic: bool | None = None, fallback: bool = False,
                           **others: Any) -> tuple[Any, None]:
    """What transformers calls for each layer.

    Args:
        module: the layer. Its `is_causal` is used if the argument is None.
        query: (batch, heads, seqlen_q, head_dim).
        key: (batch, kv_heads, seqlen_k, head_dim).
        value: (batch, kv_heads, seqlen_k, head_dim_v).
        attention_mask: (batch or 1, heads or 1, seqlen_q, seqlen_k), truth values or floats
            that are added to the scores. If None, a causal layer's diagonal starts at the top
            left, but a single query sees all keys.
        scaling: multiplies the scores; 1 / sqrt(head_dim) if None.
        dropout: the probability with which a weight is dropped.
        is_causal: see `module`.
        softcap: scores become softcap * tanh(score / softcap).
        sliding_window: the most keys that a query sees, including the one at its own position.
            Ignored with `attention_mask`, which includes the window.
        position_bias: (batch or 1, heads, seqlen_q, seqlen_k), added to the scores.
        s_aux: (heads,), attention sinks: a score of each head that has no key.
        deterministic: gradients have the same bits in each run; beside masks in memory and mask functions only with
            torch.use_deterministic_algorithms(True).
        fallback: as for `register_with_transformers`.
        others: ignored, if docs/python.md lists it. `output_attentions` gives a warning.
            Any other that is not None is refused, even with `fallback`.

    Returns:
        (batch, seqlen_q, heads, head_dim_v), and None for the weights.

    Raises:
        UnsupportedError: a keyword is not known; without `fallback` also what `attn.sdpa` does not support.
        ArgumentError: without `fallback`, as `attn.sdpa`.
    """
    _check(others)
    is_causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    # A branch, so that torch.compile knows which.
    causal = True if is_causal and attention_mask is None and query.shape[2] > 1 else False
    mask = attention_mask if attention_mask is not None else _implied(query, key, causal, sliding_window)
    try:
        return _attend(query, key, value, mask, position_bias, dropout, scaling, softcap or 0.0, s_aux,
                       bool(deterministic)), None
    except REFUSALS as error:
        if not fallback:
            raise
        warn_once(reason_of(error))
    if softcap or s_aux is not None:
        scaling = query.shape[3] ** -0.5 if scaling is None else scaling
        return _eagerly(module, query, key, value, _bias(query, key, mask, position_bias), dropout=dropout,
                        scaling=scaling, softcap=softcap, s_aux=s_aux)
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if position_bias is not None:
        mask = _bias(query, key, mask, position_bias)
    elif isinstance(mask, Band) and mask == (0, None, 0):
        mask = None  # causal, as torch's function means it
    else:
        mask, causal = _dense(query, key, mask), False
    return sdpa_attention_forward(module, query, key, value, mask, dropout, scaling, is_causal=causal)


def _check(others: dict[str, Any]) -> None:
    """Refuses keywords that could change the result."""
    for name, value in others.items():
        if name == "output_attentions":
            if value:
                warn_once("'output_attentions' gets no weights: the implementation \"eager\" returns them")
        elif value is not None and name not in IGNORED:
            raise UnsupportedError(f"expected '{name}' to be None: what it means to an attention is not known")


def _implied(query: Any, key: Any, causal: bool, sliding_window: int | None) -> Band:
    """The mask that a layer implies if it is given none."""
    if causal:
        return Band(0, sliding_window and sliding_window - 1, 0)
    if not sliding_window:
        return Band(0, None, None)
    # A single query at the last key, or a layer that is not causal.
    return Band(key.shape[2] - query.shape[2], sliding_window - 1, sliding_window - 1)


def _attend(query: Any, key: Any, value: Any, mask: Any, position_bias: Any, dropout: float, scaling: float | None,
            softcap: float, sinks: Any, deterministic: bool) -> Any:
    query, key, value, position_bias = autocast(query, key, value, position_bias)
    rows, columns = query.shape[2], key.shape[2]
    rule = None if position_bias is not None else _rule(query, key, mask)
    window = rule.window(rows, columns) if isinstance(rule, Band) else None
    if window is not None:
        seen, left, right = window
        if seen < columns:
            key, value = key[:, :, :seen], value[:, :, :seen]
        q, k, v = (tensor.transpose(1, 2) for tensor in (query, key, value))
        return flash_attn_func(q, k, v, dropout, scaling, right == 0, (left, right), softcap,
                               deterministic=deterministic, sinks=sinks)
    if deterministic and gradients_are_wanted(query, key, value) and not is_deterministic():
        raise UnsupportedError("expected 'deterministic' to be False beside such a mask: call torch.use_deterministic_algorithms(True)")
    if rule is not None and not isinstance(rule, Band) and not dropout and sinks is None:
        out = rule.attend(query, key, value, scaling, softcap)
        if out is not None:
            return out
    if position_bias is None:
        mask = _dense(query, key, mask)
    else:
        mask = _bias(query, key, mask, position_bias, -math.inf)
    mask = autocast(query, mask)[1]
    out = capped_sdpa(query, key, value, mask, dropout, False, scaling, True, softcap, sinks=sinks)
    return out.transpose(1, 2).contiguous()


def _rule(query: Any, key: Any, mask: Any) -> Any:
    """The Band or MaskFunction that says the same as the mask; None if only its elements do."""
    if isinstance(mask, Band):
        return mask
    rule = getattr(mask, "rule", None)
    if rule is None or mask.shape[2:] != (query.shape[2], key.shape[2]):
        return None
    # A band is the same for all batches.
    return rule if isinstance(rule, Band) or (mask.shape[0], mask.device) == (query.shape[0], query.device) else None


def _dense(query: Any, key: Any, mask: Any) -> Any:
    """The mask as a tensor with memory, or None if every query sees every key."""
    if isinstance(mask, Band):
        return None if mask == (0, None, None) else mask.dense(query.shape[2], key.shape[2], query.device)
    return mask.dense() if hasattr(mask, "rule") else mask


def _bias(query: Any, key: Any, mask: Any, position_bias: Any, least: float | None = None) -> Any:
    """The mask and `position_bias`, each of which may be None, as floats that are added to
    the scores: `least` where a query sees no key, as transformers does the lowest number of
    the element type."""
    mask = _dense(query, key, mask)
    if mask is None or mask.is_floating_point():
        given = [bias for bias in (mask, position_bias) if bias is not None]
        return sum(given[1:], given[0]) if given else None
    torch = _tensors.torch_module()
    least = torch.finfo(query.dtype).min if least is None else least
    bias = query.new_zeros(()) if position_bias is None else position_bias
    return torch.where(mask, bias, least)


def _eagerly(module: Any, query: Any, key: Any, value: Any, bias: Any, **options: Any) -> tuple[Any, None]:
    """Calls the eager function in the module of the layer's class, which every model of
    transformers has."""
    for kind in type(module).__mro__:
        eager: Callable[..., Any] | None = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if eager is not None:
            return eager(module, query, key, value, bias, **options)[0], None
    raise UnsupportedError(f"expected an eager_attention_forward beside {type(module).__name__}, which 'softcap' and "
                           "'s_aux' are left to")
