# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples and their gradients on a GPU: random problems within the contracts of their plans, and repeated runs."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import hardware
from bundles import EXAMPLES, RUNNER, bundle_of, run

OPTIONS = {"alibi": ["--tensor=slopes=slopes"], "softcap": ["--scalar=softcap=1.5"], "window": ["--scalar=window_left=100"]}
RANDOM_PROBLEMS = 25
REPEATS = 200


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Examples(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)

    def expect_success(self, name, *options, gradients=False):
        command = [RUNNER, bundle_of(self, name, self.temp.name, gradients), "--device=cuda", *OPTIONS.get(name, []), *options]
        done = run(command)
        self.assertEqual(done.returncode, 0, " ".join(command) + "\n" + done.stdout)
        return done.stdout


def add_tests(name, first_seed):
    def random_problems(self):
        text = self.expect_success(name, f"--random={RANDOM_PROBLEMS}", f"--first-seed={first_seed}")
        self.assertIn(f"{RANDOM_PROBLEMS} passed, 0 failed, 0 skipped", text)

    def random_gradients(self):
        text = self.expect_success(name, f"--random={RANDOM_PROBLEMS}", f"--first-seed={first_seed}", gradients=True)
        self.assertIn(f"{RANDOM_PROBLEMS} passed, 0 failed, 0 skipped", text)

    def repeats(self):
        d = {"full_d64": 64, "softcap": 72}.get(name, 128)
        self.expect_success(name, f"--q=2x1031x8x{d}", f"--kv=2x1031x2x{d}", "--check", "--guard", f"--repeat={REPEATS}")

    setattr(Examples, f"test_{name}_random_problems", random_problems)
    setattr(Examples, f"test_{name}_random_gradients", random_gradients)
    setattr(Examples, f"test_{name}_repeats_are_bit_identical", repeats)


for i, example in enumerate(EXAMPLES):
    add_tests(example, i * RANDOM_PROBLEMS)


if __name__ == "__main__":
    unittest.main()
