# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's exceptions."""

from __future__ import annotations


class AttnError(Exception):
    """The base of the package's own errors."""

    # In an error of a launch, the roles of the names of arguments.
    roles: dict[str, str] | None = None


class ArgumentError(AttnError, ValueError, RuntimeError):
    """An argument breaks a rule; the message names it, the rule and both values.
    It is a RuntimeError too, since that is what torch raises."""


class CompileError(AttnError, RuntimeError):
    """The compiler refused a problem; the message has its diagnostics."""


class DeviceError(AttnError, RuntimeError):
    """There is no such device, or it failed; the message has the driver's name
    of the error, or the simulator's report."""


class UnsupportedError(AttnError, NotImplementedError):
    """A well-formed request that the package does not support; the message names the argument and
    what is supported."""


class TraceError(AttnError, TypeError):
    """A score or mask function uses an operation that cannot become part of a kernel; the message
    names the operation, the file and the line."""
