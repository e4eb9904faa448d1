# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What contenders that cannot take part raise."""


class Unavailable(RuntimeError):
    """A contender that cannot take part, through no fault of its results."""
