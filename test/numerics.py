# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bounds of O and the log-sum-exp that a launch plan states (docs/launch-plan.md), for kernels
without a score region."""

import math


class Bounds:
    """The bounds of a plan's variant. `size` is the largest scale * |q| * |k| of a row's scores."""

    def __init__(self, variant):
        self.numerics = variant["numerics"]

    def of_output(self, values, keys, size):
        """For an element of O. `values` is the sum of P |V|."""
        n = self.numerics
        relative = n["o_relative"] + keys * n["o_per_key"] + 2 * math.expm1(n["score_relative"] * size)
        return values * relative + n["flush"] * (keys + 1)

    def of_lse(self, lse, keys, size):
        n = self.numerics
        return n["lse_absolute"] + math.sqrt(keys) * n["lse_per_root_key"] + n["lse_relative"] * abs(lse) + n["score_relative"] * size
