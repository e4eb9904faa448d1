# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's scaled_dot_product_attention through attn, in models that call it."""

from __future__ import annotations

import contextlib
import sys
import types
from collections import Counter
from typing import Any, Callable, Iterator

from ._errors import UnsupportedError
from ._fallback import REFUSALS, reason_of, warn
from ._sdpa import sdpa
from ._transformers import is_registered, register_with_transformers


class Routed:
    """Counts of the calls inside `attn.routed()`: `served` is how many attn computed, `refused`
    how many it did not, by reason."""

    def __init__(self) -> None:
        self.served = 0
        self.refused: Counter[str] = Counter()


@contextlib.contextmanager
def routed(fallback: bool = True) -> Iterator[Routed]:
    """Inside, calls of torch.nn.functional.scaled_dot_product_attention in this thread
    are computed by attn, those of torch.nn.MultiheadAttention and the Transformer layers
    included; and transformers, where it is imported, knows an attention implementation
    "attn".

    torch.autocast applies as it does to torch's function. Graphs that torch.compile or
    torch.export made outside are not rerouted, nor are calls of torch.ops.aten.

    Args:
        fallback: whether torch computes what attn does not support. Each reason is
            logged once, as a warning of the logger "attn", and counted. Otherwise such
            a call raises an AttnError.

    Yields:
        The counts, as `Routed`.
    """
    from torch.nn.functional import multi_head_attention_forward, scaled_dot_product_attention
    from torch.overrides import TorchFunctionMode

    calls = Routed()

    def refuse(error: Exception) -> None:
        if not fallback:
            raise error
        reason = reason_of(error)
        if reason not in calls.refused:
            warn(reason)
        calls.refused[reason] += 1

    def attend(*args: Any, **kwargs: Any) -> Any:
        try:
            result = sdpa(*args, **kwargs)
            calls.served += 1
            return result
        except REFUSALS as error:
            refuse(error)
        return scaled_dot_product_attention(*args, **kwargs)

    # Route calls this copy: torch disables a mode inside of the functions that it hands to the
    # mode, so that the attention inside of torch's own function would not come here.
    multi_head = _rebound(multi_head_attention_forward, scaled_dot_product_attention=attend)

    class Route(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if function is scaled_dot_product_attention:
                return attend(*args, **kwargs)
            if function is not multi_head_attention_forward:
                return function(*args, **kwargs)
            if kwargs.get("need_weights", True):
                refuse(UnsupportedError("expected 'need_weights' of torch.nn.MultiheadAttention to be False: attn "
                                        "returns no weights"))
            return multi_head(*args, **kwargs)

    if "transformers" in sys.modules and not is_registered("attn"):
        register_with_transformers()
    with Route():
        yield calls


def _rebound(function: Callable[..., Any], **names: Any) -> Callable[..., Any]:
    """Returns a copy of a Python function in which the globals called `names` are replaced."""
    copy = types.FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__,
                              function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
