# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples on a GPU: random problems against float64, and repeated runs.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BUNDLES is a folder with
the examples compiled beforehand: causal.attn and so on.
"""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import hardware

BUILD = os.environ.get("ATTN_BUILD", os.path.join(ROOT, "build"))
BUNDLES = os.environ.get("ATTN_BUNDLES")
EXAMPLES = sorted(os.path.basename(f)[:-5] for f in glob.glob(os.path.join(ROOT, "examples", "*.mlir")))
RUNNER = os.path.join(BUILD, "bin", "attn-run")
# What the regions of an example compute, for the reference.
REGIONS = {"alibi": ["--score-region=alibi"], "documents": ["--mask-region=documents"],
           "softcap": ["--score-region=softcap"], "window": ["--window-left=100"]}
RANDOM_PROBLEMS = 25
REPEATS = 200


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


@unittest.skipUnless("sm_90" in hardware.gpus(RUNNER), "needs a GPU of architecture sm_90")
class Examples(unittest.TestCase):
    def bundle(self, name):
        if BUNDLES:
            return os.path.join(BUNDLES, name + ".attn")
        path = os.path.join(self.temp.name, name + ".attn")
        done = run([os.path.join(BUILD, "bin", "attn-compile"), os.path.join(ROOT, "examples", name + ".mlir"),
                    "--target=sm_90a", "--emit=bundle", "-o", path])
        self.assertEqual(done.returncode, 0, done.stdout)
        return path

    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)

    def expect_success(self, name, *options):
        command = [RUNNER, self.bundle(name), "--device=cuda", *REGIONS.get(name, []), *options]
        done = run(command)
        self.assertEqual(done.returncode, 0, " ".join(command) + "\n" + done.stdout)
        return done.stdout


def add_tests(name, first_seed):
    def random_problems(self):
        text = self.expect_success(name, f"--random={RANDOM_PROBLEMS}", f"--first-seed={first_seed}")
        self.assertIn(f"{RANDOM_PROBLEMS} passed, 0 failed, 0 skipped", text)

    def repeats(self):
        d = {"full_d64": 64, "softcap": 72}.get(name, 128)
        self.expect_success(name, f"--q=2x1031x8x{d}", f"--kv=2x1031x2x{d}", "--check", "--guard", f"--repeat={REPEATS}")

    setattr(Examples, f"test_{name}_random_problems", random_problems)
    setattr(Examples, f"test_{name}_repeats_are_bit_identical", repeats)


for i, example in enumerate(EXAMPLES):
    add_tests(example, i * RANDOM_PROBLEMS)


if __name__ == "__main__":
    unittest.main()
