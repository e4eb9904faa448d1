# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for score and mask functions that use neither torch nor numpy. Each takes
numbers of a kernel, elements of captured tensors and Python's numbers; functions of
floats compute in f32."""

from ._score_ops import *  # noqa: F403
from ._score_ops import __all__ as __all__
