# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that take their work items from a counter, on a GPU: more items than
multiprocessors, repeated launches on one workspace, random problems.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BUNDLES is a folder into
which test/Schedules/compile_all.py has written its bundles.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import hardware

BUILD = os.environ.get("ATTN_BUILD", os.path.join(ROOT, "build"))
BUNDLES = os.environ.get("ATTN_BUNDLES")
RUNNER = os.path.join(BUILD, "bin", "attn-run")
SCHEDULES = sorted(glob.glob(os.path.join(ROOT, "test", "Schedules", "dynamic_*.mlir")))
MASKS = ("causal", "full")
RANDOM_PROBLEMS = 25
REPEATS = 200


def head_dim_of(path):
    with open(path, encoding="utf-8") as file:
        return re.search(r"head_dim (\d+)", file.read())[1]


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Persistent(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)

    def bundle(self, schedule, mask):
        d = head_dim_of(schedule)
        name = f"{os.path.basename(schedule)[:-5]}_{mask}_d{d}.attn"
        if BUNDLES:
            return os.path.join(BUNDLES, name)
        path = os.path.join(self.temp.name, name)
        done = run([os.path.join(BUILD, "bin", "attn-compile"), os.path.join(ROOT, "test", "Inputs", f"{mask}_d{d}.mlir"),
                    f"--schedule={schedule}", "--emit=bundle", "-o", path])
        self.assertEqual(done.returncode, 0, done.stdout)
        return path

    def expect_success(self, schedule, mask, *options):
        command = [RUNNER, self.bundle(schedule, mask), "--device=cuda", *options]
        done = run(command)
        self.assertEqual(done.returncode, 0, " ".join(command) + "\n" + done.stdout)
        return done.stdout


def add_tests(schedule, mask, first_seed):
    def random_problems(self):
        text = self.expect_success(schedule, mask, f"--random={RANDOM_PROBLEMS}", f"--first-seed={first_seed}")
        self.assertIn(f"{RANDOM_PROBLEMS} passed, 0 failed, 0 skipped", text)

    def repeats(self):
        d = head_dim_of(schedule)
        self.expect_success(schedule, mask, f"--q=4x1031x16x{d}", f"--kv=4x1031x4x{d}", "--check", "--guard",
                            f"--repeat={REPEATS}")

    name = f"{os.path.basename(schedule)[:-5]}_{mask}"
    setattr(Persistent, f"test_{name}_random_problems", random_problems)
    setattr(Persistent, f"test_{name}_repeats_are_bit_identical", repeats)


for i, case in enumerate((s, m) for s in SCHEDULES for m in MASKS):
    add_tests(*case, i * RANDOM_PROBLEMS)


if __name__ == "__main__":
    unittest.main()
