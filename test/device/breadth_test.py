# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests all that the forward pass supports on a GPU, by the cases of test/breadth.py.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BREADTH is a folder with
the cases compiled beforehand: test/breadth.py --build build --device none --out DIR.
"""

import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import breadth
import hardware

BUILD = os.environ.get("ATTN_BUILD", os.path.join(ROOT, "build"))
BUNDLES = os.environ.get("ATTN_BREADTH")
RANDOM_PROBLEMS = 25


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Breadth(unittest.TestCase):
    def check_group(self, group):
        command = [sys.executable, os.path.join(ROOT, "test", "breadth.py"), "--build", BUILD, "--device", "cuda",
                   "--group", group, "--random", str(RANDOM_PROBLEMS)]
        command += ["--bundles", BUNDLES] if BUNDLES else []
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"{len(breadth.GROUPS[group])} passed, 0 failed", done.stdout)


def add_test(group):
    setattr(Breadth, f"test_{group}", lambda self: self.check_group(group))


for name in breadth.GROUPS:
    add_test(name)


if __name__ == "__main__":
    unittest.main()
