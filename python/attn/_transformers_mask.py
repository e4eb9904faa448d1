# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mask function that attn registers with Hugging Face's transformers: it passes on the kind
of a mask instead of its elements, where the kind is enough. Imported where transformers is."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Tuple

import torch
from transformers import masking_utils
from transformers.utils.import_utils import is_torchdynamo_compiling

from ._band import Band
from ._band_mask import BandMask
from ._fallback import warn_once

# Left and right: how many keys before and after its own position a query sees; None is open.
_Bounds = Tuple[Optional[int], Optional[int]]


def attention_mask(**call: Any) -> torch.Tensor | None:
    """The mask of one forward pass, as transformers.masking_utils.sdpa_mask makes it from
    the same arguments: None, where `is_causal` of the layer says it all, or truth values
    (batch, 1, seqlen_q, seqlen_k). They are a BandMask for causal masks and sliding
    windows of batches without padding. Padded batches, packed sequences, chunks and the
    masks of users are tensors.

    A model that computes attention itself takes none of these: it gets the floats of
    transformers' "eager"."""
    if _computes_attention_itself(type(call.get("config"))):
        return masking_utils.eager_mask(**call)
    found = _band(**call) if _is_plain(call) else None
    if found is None:
        return masking_utils.sdpa_mask(**call)
    return None if _goes_without_saying(found, call) else found


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


def _is_plain(call: dict[str, Any]) -> bool:
    """Whether the mask is one that the caller would do without, if it could, and numbers
    are known: this is no trace."""
    wanted = not (call.get("allow_is_causal_skip", True) or call.get("allow_is_bidirectional_skip", False))
    return not (wanted or call.get("use_vmap", False) or "q_length" not in call or is_torchdynamo_compiling()
                or torch.jit.is_tracing())


def _band(batch_size: int, q_length: int, kv_length: int, q_offset: Any = 0, kv_offset: int = 0,
          mask_function: Callable[..., Any] = masking_utils.causal_mask_function, attention_mask: Any = None,
          device: Any = "cpu", **_: Any) -> BandMask | None:
    bounds = _bounds(mask_function)
    if bounds is None:
        return None
    if isinstance(q_offset, torch.Tensor):  # a cache of fixed size counts on the device
        if q_length == 1 or _is_capturing(q_offset):
            return None
        q_offset = int(q_offset)
    shift = q_offset - kv_offset
    if attention_mask is not None:
        if attention_mask.ndim != 2:
            return None
        known = attention_mask.shape[-1] - kv_offset  # later keys have not been written yet
        sees_beyond = known < kv_length and (bounds[1] is None or shift + q_length - 1 + bounds[1] >= known)
        if sees_beyond or _is_capturing(attention_mask) or not attention_mask[:, kv_offset:kv_offset + kv_length].all():
            return None
    return BandMask(batch_size, q_length, kv_length, Band(shift, *bounds), device)


def _is_capturing(tensor: torch.Tensor) -> bool:
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


def _goes_without_saying(mask: BandMask, call: dict[str, Any]) -> bool:
    """Whether the layer computes the same without a mask, and the caller allows omitting it."""
    assert mask.band
    _, _, rows, columns = mask.shape
    shift, left, right = mask.band
    may_be_causal = call.get("allow_is_causal_skip", True)
    if left is not None and left < shift + rows - 1:
        return False
    if right is None or right >= columns - 1 - shift:  # every query sees every key
        return call.get("allow_is_bidirectional_skip", False) or (may_be_causal and rows == 1)
    return may_be_causal and right == 0 and shift == 0 and rows == columns


def _code_of(name: str, *arguments: Any) -> Any:
    """The code of the functions that `name` of masking_utils returns; None if this version of
    transformers has no such function."""
    make = getattr(masking_utils, name, None)
    return make and make(*arguments).__code__


_BOTH = _code_of("and_masks", masking_utils.causal_mask_function)
_WINDOW = _code_of("sliding_window_overlay", 1)
_WINDOW_TO_BOTH_SIDES = _code_of("sliding_window_bidirectional_overlay", 1)


def _bounds(function: Callable[..., Any]) -> _Bounds | None:
    """The bounds of a mask function of transformers; None if its mask is no band."""
    if function is masking_utils.causal_mask_function:
        return None, 0
    if function is getattr(masking_utils, "bidirectional_mask_function", None):
        return None, None
    code = getattr(function, "__code__", None)
    if code is None or code not in (_BOTH, _WINDOW, _WINDOW_TO_BOTH_SIDES):
        return None
    known = dict(zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__ or ())))
    if code is _BOTH:
        return _narrowest([_bounds(part) for part in known["mask_functions"]])
    window = known["sliding_window"]
    return (window, window) if code is _WINDOW_TO_BOTH_SIDES else (window - 1, None)


def _narrowest(parts: list[_Bounds | None]) -> _Bounds | None:
    left, right = [], []
    for bounds in parts:
        if bounds is None:
            return None
        left.append(bounds[0])
        right.append(bounds[1])
    return _least(left), _least(right)


def _least(bounds: list[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)
