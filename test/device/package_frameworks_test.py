# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package on a GPU, beside other frameworks: torch's samples of attention,
models of transformers, and one process that compiles with each."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "python")]
import hardware
import package_torch_test
import package_transformers_test

HAS_GPU = "sm_90" in hardware.gpus()


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class Samples(package_torch_test.SampleRules):
    DEVICE = "cuda"

    def test_samples(self):
        found = self.tally()
        for (dtype, rule), count in sorted(found.items()):
            print(f"samples of torch on cuda: {dtype:10} {count:4} {rule}")
        self.assertGreaterEqual(min(found["bfloat16", "right"], found["float16", "right"]), 13)


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class Models(package_transformers_test.Models):
    DEVICE, BACKEND = "cuda", "inductor"


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class OneProcess(unittest.TestCase):
    def run_with(self, *names):
        for name in names:
            if name != "attn" and subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode:
                self.skipTest(f"{name} is not installed")
        subprocess.run([sys.executable, os.path.join(TEST, "python", "frameworks.py"), "cuda", *names], check=True,
                       timeout=300, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    def test_attn_last(self):
        self.run_with("torch", "triton", "jax", "attn")

    def test_attn_first(self):
        self.run_with("attn", "jax", "triton", "torch")


if __name__ == "__main__":
    unittest.main()
