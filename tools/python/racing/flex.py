# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention, PyTorch's compiler for mask functions: its own Triton kernels, or those of FlashAttention-4."""

import contextlib
import importlib.util

from racing import masks, scores
from racing.unavailable import Unavailable

# {contender: kernel_options["BACKEND"]}
BACKENDS = {"flex": "TRITON", "fa4-flex": "FLASH"}


def why_absent(flex, backend):
    """Why a backend cannot be asked for, or ""."""
    options = getattr(flex, "FlexKernelOptions", None)
    if "BACKEND" not in getattr(options, "__annotations__", {}):
        return "this version of PyTorch cannot choose the backend of FlexAttention"
    if backend == "FLASH":
        try:
            found = importlib.util.find_spec("flash_attn.cute")
        except ImportError:
            found = None
        return "" if found else "flash-attn-4 is not there"
    return ""


class FlexForward:
    """flex_attention of Q, K and V as (batch, seqlen, heads, head dim), with the blocks that create_block_mask finds and the
    tensors that the score function reads. `wrap` compiles it."""

    point = None  # for which functions were compiled last

    def __init__(self, torch, name, point, device, captured, wrap=None):
        try:
            from torch.nn.attention import flex_attention as flex
        except ImportError as error:
            raise Unavailable(f"PyTorch has no FlexAttention: {error}") from error
        absent = why_absent(flex, BACKENDS[name])
        if absent:
            raise Unavailable(absent)
        self.blocks = self.block_mask(torch, flex, point, device)
        self.options = {"block_mask": self.blocks, "scale": point.scale, "enable_gqa": point.grouped,
                        "score_mod": scores.function(point, torch, captured), "kernel_options": {"BACKEND": BACKENDS[name]}}
        self.function = (wrap or self.compiler(torch, point))(flex.flex_attention)

    def __call__(self, q, k, v):
        swapped = (x.transpose(1, 2) for x in (q, k, v))
        return self.function(*swapped, **self.options).transpose(1, 2)

    @classmethod
    def compiler(cls, torch, point):
        """torch.compile, which remembers a few shapes of a function only: those of another point are forgotten."""
        if cls.point is not point:
            torch._dynamo.reset()
            cls.point = point
        return lambda function: torch.compile(function, dynamic=False)

    @staticmethod
    def block_mask(torch, flex, point, device):
        if point.mask == "none":
            return None
        mask = masks.MASKS[point.mask]
        function = mask.make(**masks.tensors(torch, point, device))
        return flex.create_block_mask(function, point.batch if mask.by_batch else None, None, point.seqlen, point.seqlen, device=device)

    def visited(self):
        """The share of pairs in the blocks that are not skipped."""
        return 1 - self.blocks.sparsity() / 100 if self.blocks else 1.0


def does_not_compile(error):
    """What a backend refuses is no wrong result."""
    inner = error.inner_exception
    lines = [line for line in str(inner).splitlines() if line.strip()]
    return Unavailable(f"does not compile: {lines[0] if lines else type(inner).__name__}")


class FlexContender:
    """A forward pass."""

    def __init__(self, torch, name, point, inputs, wrap=None):
        self.forward = FlexForward(torch, name, point, inputs[0].device, scores.tensors(torch, point, inputs[0].device), wrap)
        self.scope = contextlib.nullcontext
        self.call = lambda: self.forward(*inputs)
        try:
            self.call()
        except torch._dynamo.exc.BackendCompilerFailed as error:
            raise does_not_compile(error) from error

    def visited(self):
        return self.forward.visited()

    def poison(self):
        pass

    def results(self, out):
        return out, None
