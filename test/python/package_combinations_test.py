# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some of the combinations of test/combinations.py: those that were refused for registers,
and some for each rung."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from combinations import Combination, Result

import attn

# And the lowest rung that has the registers for it.
CASES = (
    (Combination("softcap", "none", 128, "bf16"), 0),
    (Combination(None, "neighbourhood", 256, "f16"), 0),
    (Combination("logarithmic", "none", 64, "bf16"), 0),
    (Combination("relative", "causal", 128, "bf16"), 1),
    (Combination("three by key", "none", 128, "f16"), 1),
    (Combination("dense bias", "none", 144, "f16"), 1),
    (Combination(None, "dense mask", 136, "bf16"), 1),
    (Combination("penalty of segments", "documents", 64, "bf16"), 2),
)


class Combinations(unittest.TestCase):
    def test_combinations(self):
        for combination, rung in CASES:
            with self.subTest(str(combination)):
                result = Result(combination, run=True)
                self.assertEqual(result.wrong, [])
                self.assertEqual(result.spilled, 0)
                self.assertGreaterEqual(result.rung, rung)


def many_remainders(count):
    """A mask that weighs 200 for each."""
    def mask(b, h, i, j):
        for n in range(count):
            i = i % (j + n + 1)
        return i == 0

    return mask


class Limit(unittest.TestCase):
    def test_a_function_that_takes_too_long_to_compile_is_refused_beforehand(self):
        options = {"head_dim": 64, "mask_mod": many_remainders(14)}
        message = "expected the score and mask regions to weigh at most 2560 .*, got 2[0-9]{3}$"
        self.assertRegex(attn.why_unsupported(**options), message)
        with self.assertRaisesRegex(attn.UnsupportedError, message):
            attn.compile(**options)

    def test_the_largest_compile(self):
        self.assertEqual(attn.why_unsupported(head_dim=64, mask_mod=many_remainders(9)), "")


if __name__ == "__main__":
    unittest.main()
