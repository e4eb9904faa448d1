# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of score and mask functions that are ops of a float. docs/generate.py writes
this file from include/attn/dialect/ScoreOps.td."""

from __future__ import annotations

from ._of_float import math_function

__all__ = [
    "cos",
    "erf",
    "exp",
    "exp2",
    "log",
    "log1p",
    "log2",
    "rsqrt",
    "sin",
    "sqrt",
    "tanh",
]

cos = math_function("cos", "the cosine of an angle in radians", f32_only=True)
erf = math_function("erf", "the error function", f32_only=True)
exp = math_function("exp", "e^a", f32_only=True)
exp2 = math_function("exp2", "2^a", f32_only=True)
log = math_function("log", "the natural logarithm", f32_only=True)
log1p = math_function("log1p", "log(1 + a)", f32_only=True)
log2 = math_function("log2", "the logarithm to base 2", f32_only=True)
rsqrt = math_function("rsqrt", "1 / sqrt(a)", f32_only=True)
sin = math_function("sin", "the sine of an angle in radians", f32_only=True)
sqrt = math_function("sqrt", "the square root", f32_only=False)
tanh = math_function("tanh", "the hyperbolic tangent", f32_only=True)
