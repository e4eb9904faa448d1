# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Additive masks of any finite size: test/large_scores.py, on the simulator."""

import contextlib
import io
import os
import sys
import unittest

import package_support

try:
    import torch
except ImportError:
    torch = None

sys.path.insert(0, os.path.join(package_support.ROOT, "test"))


@unittest.skipIf(torch is None, "torch is not installed")
class LargeScores(unittest.TestCase):
    def test_masks_of_any_size(self):
        import large_scores

        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            wrong = large_scores.check(24, "cpu")
        self.assertEqual(wrong, 0, said.getvalue())


if __name__ == "__main__":
    unittest.main()
