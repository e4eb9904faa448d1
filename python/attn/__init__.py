# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention compiled to GPU kernels. See docs/python.md."""

from ._capi import set_simulator_option, version
from ._errors import AttnError, CompileError, DeviceError, TraceError, UnsupportedError
from ._kernel import Kernel, compile
from ._symbols import Scalar

__all__ = [
    "AttnError",
    "CompileError",
    "DeviceError",
    "Kernel",
    "Scalar",
    "TraceError",
    "UnsupportedError",
    "compile",
    "set_simulator_option",
    "version",
]
