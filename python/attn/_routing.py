# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Existing models through attn: torch's scaled_dot_product_attention, and the
attention functions of Hugging Face's transformers."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections import Counter
from typing import Any, Iterator

from ._errors import UnsupportedError
from ._sdpa import capped_sdpa, sdpa

_log = logging.getLogger("attn")


class Routed:
    """What became of the calls inside `attn.routed()`: `served` is how many attn
    computed, `refused` how many it did not, by reason."""

    def __init__(self) -> None:
        self.served = 0
        self.refused: Counter[str] = Counter()


@contextlib.contextmanager
def routed(fallback: bool = True) -> Iterator[Routed]:
    """Inside, calls of torch.nn.functional.scaled_dot_product_attention in this thread
    are computed by attn, and transformers, where it is imported, knows an attention
    implementation "attn".

    Args:
        fallback: whether torch computes what attn does not support. Each reason is
            logged once, as a warning of the logger "attn", and counted. Otherwise such
            a call raises UnsupportedError.

    Yields:
        The counts, as `Routed`.
    """
    from torch.nn.functional import scaled_dot_product_attention
    from torch.overrides import TorchFunctionMode

    calls = Routed()

    class Route(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is not scaled_dot_product_attention:
                return function(*args, **(kwargs or {}))
            try:
                result = sdpa(*args, **(kwargs or {}))
                calls.served += 1
                return result
            except UnsupportedError as error:
                if not fallback:
                    raise
                if str(error) not in calls.refused:
                    _log.warning("torch computes an attention that attn does not: %s", error)
                calls.refused[str(error)] += 1
                return function(*args, **(kwargs or {}))

    if "transformers" in sys.modules:
        register_with_transformers()
    with Route():
        yield calls


def register_with_transformers(name: str = "attn") -> None:
    """Makes attn an attention implementation of transformers under `name`, for
    `from_pretrained(..., attn_implementation=name)` and
    `model.set_attn_implementation(name)`."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(name, transformers_attention)
    AttentionMaskInterface.register(name, sdpa_mask)


def transformers_attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any,
                           scaling: float | None = None, dropout: float = 0.0, is_causal: bool | None = None,
                           softcap: float | None = None, s_aux: Any = None, **_: Any) -> tuple[Any, None]:
    """What transformers calls for each layer: query (batch, heads, seqlen_q, head_dim),
    key and value (batch, kv_heads, seqlen_k, head_dim); returns (batch, seqlen_q, heads,
    head_dim) and no weights. Masks are those of its "sdpa"."""
    if s_aux is not None:
        raise UnsupportedError("expected 's_aux' to be None: attention sinks are not supported")
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = True if causal and attention_mask is None and query.shape[2] > 1 else False
    if attention_mask is not None:
        attention_mask = attention_mask[:, :, :, :key.shape[2]]
    out = capped_sdpa(query, key, value, attention_mask, dropout, causal, scaling, True, softcap or 0.0)
    return out.transpose(1, 2).contiguous(), None
