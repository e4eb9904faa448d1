# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for score and mask functions that use neither torch nor numpy. Each takes
numbers of a kernel, elements of captured tensors and Python's numbers; functions of
floats compute in f32."""

from ._score_ops import (
    absolute,
    clamp,
    exp,
    exp2,
    log,
    log2,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    reciprocal,
    relu,
    rsqrt,
    sigmoid,
    sqrt,
    square,
    tanh,
    where,
)

__all__ = [
    "absolute", "clamp", "exp", "exp2", "log", "log2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "reciprocal", "relu", "rsqrt", "sigmoid", "sqrt", "square", "tanh", "where",
]
