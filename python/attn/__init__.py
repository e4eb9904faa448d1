# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention compiled to GPU kernels. See docs/python.md."""

from . import ops
from ._capi import set_compiler_option, set_simulator_option, version
from ._errors import ArgumentError, AttnError, CompileError, DeviceError, TraceError, UnsupportedError
from ._flash import flash_attn_func
from ._flex import attention
from ._kernel import Kernel, compile, explain, why_unsupported
from ._routing import Routed, routed
from ._sdpa import sdpa
from ._symbols import Scalar
from ._transformers import register_with_transformers, transformers_attention
from ._version import __version__

__all__ = [
    "ArgumentError",
    "AttnError",
    "CompileError",
    "DeviceError",
    "Kernel",
    "Routed",
    "Scalar",
    "TraceError",
    "UnsupportedError",
    "__version__",
    "attention",
    "compile",
    "explain",
    "flash_attn_func",
    "ops",
    "register_with_transformers",
    "routed",
    "sdpa",
    "set_compiler_option",
    "set_simulator_option",
    "transformers_attention",
    "version",
    "why_unsupported",
]
