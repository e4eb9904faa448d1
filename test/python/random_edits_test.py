# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which errors of the compiler the random edits of schedules take for registers that ptxas spilled."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Schedules"))
from random_edits import is_of_spills

ERROR = "a.mlir:1:1: error: expected no spill and no serialized instruction in 'k', got 1\n"
SPILL = "a.mlir:1:1: note: ptxas: 8 bytes stack frame, 16 bytes spill stores, 12 bytes spill loads of 'k'\n"
SERIALIZED = "a.mlir:1:1: note: ptxas: (C7513) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"


class Spills(unittest.TestCase):
    def test_spills_alone_are_spills(self):
        self.assertTrue(is_of_spills(ERROR + SPILL))
        self.assertTrue(is_of_spills(ERROR + SPILL + SPILL))

    def test_other_losses_and_errors_are_not(self):
        for message in (ERROR + SERIALIZED, ERROR + SPILL + SERIALIZED, ERROR, SPILL, "",
                        "error: expected no spill pass\n", "error: a later pass\n" + ERROR + SPILL,
                        ERROR + SPILL.replace("16", "0").replace("12", "0")):
            with self.subTest(message=message):
                self.assertFalse(is_of_spills(message))


if __name__ == "__main__":
    unittest.main()
