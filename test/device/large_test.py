# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of more than 2^31 elements: Q and O by their rows, K and V by their
batches. Each takes some 30 GB of the host's memory.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BUNDLES is a folder with
full_d128.attn, of test/Inputs.
"""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST]
import hardware
from bundles import BUILD, BUNDLES, RUNNER, run

HEAD_DIM = 128
ROWS = 2**31 // HEAD_DIM + 85
BATCHES = 17


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Large(unittest.TestCase):
    def check(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(BUNDLES or folder, "full_d128.attn")
            if not BUNDLES:
                done = run([os.path.join(BUILD, "bin", "attn-compile"), os.path.join(TEST, "Inputs", "full_d128.mlir"), "-o", path])
                self.assertEqual(done.returncode, 0, done.stdout)
            done = run([RUNNER, path, "--device=cuda", "--check", "--timeout=120", *options])
        self.assertEqual(done.returncode, 0, done.stdout)
        print(done.stdout)

    def test_q_and_o(self):
        self.check(f"--q=1x{ROWS}x1x{HEAD_DIM}", f"--kv=1x67x1x{HEAD_DIM}")

    def test_k_and_v(self):
        self.check(f"--q={BATCHES}x1x1x{HEAD_DIM}", f"--kv={BATCHES}x{-(-ROWS // BATCHES)}x1x{HEAD_DIM}")


if __name__ == "__main__":
    unittest.main()
