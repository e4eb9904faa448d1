# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mask function that attn registers with Hugging Face's transformers: it passes on what a
mask means instead of its elements. Imported where transformers is."""

from __future__ import annotations

import sys
from typing import Any

import torch
from transformers import masking_utils
from transformers.utils.import_utils import is_torchdynamo_compiling

from ._band import Band
from ._fallback import warn_once
from ._lazy_mask import LazyMask
from ._mask_function import MaskFunction
from ._transformers_forms import Bounds, MaskCall, bounds_of, described
from ._transformers_padding import padding_of


def attention_mask(**call: Any) -> torch.Tensor | None:
    """The mask of one forward pass, as transformers.masking_utils.sdpa_mask makes it from
    the same arguments: None, where `is_causal` of the layer says it all, or truth values
    (batch, 1, seqlen_q, seqlen_k). They are a LazyMask, without memory, except for masks that
    are traced or captured, and for those that the caller wants as a tensor.

    A model that computes attention itself takes none of these: it gets the floats of
    transformers' "eager"."""
    if _computes_attention_itself(type(call.get("config"))):
        return masking_utils.eager_mask(**call)
    known = _known(**call) if _has_numbers(call) else None
    return masking_utils.sdpa_mask(**call) if known is None else _mask(known, call)


def _computes_attention_itself(config: type) -> bool:
    """Whether the model of a configuration takes no attention function, as it says by not
    knowing where they are registered. A model whose module cannot be found takes them."""
    name = config.__module__.replace("configuration_", "modeling_")
    model = sys.modules.get(name) if name != config.__module__ else None
    if model is None or hasattr(model, "ALL_ATTENTION_FUNCTIONS"):
        return False
    warn_once(f"the model of {config.__name__} in transformers takes no attention function")
    return True


# Runs while torch.compile traces, and is not part of the graph.
_computes_attention_itself.__dict__["_dynamo_marked_constant"] = True


def _has_numbers(call: dict[str, Any]) -> bool:
    """Whether lengths are known: this is no trace."""
    return "q_length" in call and not is_torchdynamo_compiling() and not torch.jit.is_tracing()


def _known(batch_size: int, q_length: int, kv_length: int, q_offset: Any = 0, kv_offset: int = 0,
           mask_function: Any = masking_utils.causal_mask_function, attention_mask: Any = None, device: Any = "cpu",
           **_: Any) -> MaskCall | None:
    """None for what has to be a tensor."""
    if isinstance(q_offset, torch.Tensor):  # a cache of fixed size counts on the device
        # A graph of a single query takes a tensor: torch.compile knows no lazy masks.
        if q_length == 1 or _is_capturing(q_offset):
            return None
        q_offset = int(q_offset)
    padding = None
    if attention_mask is not None:
        if attention_mask.dim() != 2 or _is_capturing(attention_mask):
            return None
        padding = padding_of(attention_mask, batch_size, kv_length, kv_offset)
        if padding is None:
            return None
    return MaskCall(batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, torch.device(device), padding)


def _is_capturing(tensor: torch.Tensor) -> bool:
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


def _mask(known: MaskCall, call: dict[str, Any]) -> torch.Tensor | None:
    # A caller that does not allow for None may go on to compute with the elements.
    is_wanted = not (call.get("allow_is_causal_skip", True) or call.get("allow_is_bidirectional_skip", False))
    bounds = bounds_of(known.function)
    band = None if bounds is None else _band(known, bounds)
    if band is not None and not is_wanted:
        return None if _goes_without_saying(known, band, call) else _lazy(known, band)
    if band is None and not (is_wanted and known.q_length == 1) and not _is_one_chunk(known, call):
        rule = _function(known, bounds, call)
        if rule is not None:
            return _lazy(known, rule)
    return masking_utils.sdpa_mask(**call)


def _lazy(known: MaskCall, rule: Band | MaskFunction) -> LazyMask:
    return LazyMask(known.batch_size, known.q_length, known.kv_length, rule, known.device)


def _band(known: MaskCall, bounds: Bounds) -> Band | None:
    """The mask as a band; None if padding hides keys that queries would see."""
    return None if _hides(known, bounds) else Band(known.shift, *bounds)


def _hides(known: MaskCall, bounds: Bounds | None) -> bool:
    """Whether padding hides keys that a query would see within the bounds."""
    left, right = bounds or (None, None)
    first = 0 if left is None else max(0, known.shift - left)
    end = known.kv_length if right is None else min(known.kv_length, known.shift + known.q_length + right)
    return known.padding is not None and known.padding.hides(first, end)


def _goes_without_saying(known: MaskCall, band: Band, call: dict[str, Any]) -> bool:
    """Whether the layer computes the same without a mask, and the caller allows omitting it."""
    rows, columns = known.q_length, known.kv_length
    shift, left, right = band
    may_be_causal = call.get("allow_is_causal_skip", True)
    if left is not None and left < shift + rows - 1:
        return False
    if right is None or right >= columns - 1 - shift:  # every query sees every key
        return call.get("allow_is_bidirectional_skip", False) or (may_be_causal and rows == 1)
    return may_be_causal and right == 0 and shift == 0 and rows == columns


def _is_one_chunk(known: MaskCall, call: dict[str, Any]) -> bool:
    """Whether transformers passes no mask, although the model sees windows or chunks, because a
    single one has all keys."""
    size = call.get("local_size")
    fits = size is not None and known.kv_length < size and known.q_length in (1, known.kv_length)
    return bool(fits and call.get("allow_is_causal_skip", True) and not _hides(known, None))


def _function(known: MaskCall, bounds: Bounds | None, call: dict[str, Any]) -> MaskFunction | None:
    """The mask as a function that is part of kernels; None if there is none, or if it would have to be
    captured."""
    if min(known.q_length, known.kv_length, known.batch_size) < 1 or not 0 <= known.q_offset < 1 << 31:
        return None
    if not 0 <= known.kv_offset < 1 << 31:
        return None
    if known.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return None
    found = described(known, _hides(known, bounds))
    if found is None:
        return None
    numbers = {**call, "q_offset": known.q_offset, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    return MaskFunction(found, lambda: masking_utils.sdpa_mask(**numbers))
