# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workspaces that hold anything, on a GPU: launches clear what their kernels need zero,
on a stream and in a graph that is replayed."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(os.path.dirname(TEST), "python")]
import hardware
from bundles import BUILD

try:
    import torch
except ImportError:
    torch = None

if "sm_90" in hardware.gpus() and torch is not None:
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.join(BUILD, "lib"))
    import attn
    from attn._executable import Executable


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
@unittest.skipIf(torch is None, "needs a GPU of architecture sm_90 with torch")
class Workspace(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        self.kernel = attn.compile(head_dim=128, mask="causal_top_left")
        self.executable = Executable.get(self.kernel.ir)
        self.q = torch.randn(4, 2048, 8, 128, device="cuda").bfloat16()
        self.want = self.kernel(self.q, self.q, self.q)
        self.got = tuple(torch.empty_like(x) for x in self.want)
        self.space = torch.empty(1 << 16, dtype=torch.uint8, device="cuda")

    def launch(self):
        self.executable.launch([self.q, self.q, self.q, *self.got], [128**-0.5], [], self.space)

    def expect_right(self, run):
        for filler in (255, 1, 0):
            self.space.fill_(filler)
            for x in self.got:
                x.fill_(torch.nan)
            run()
            torch.cuda.synchronize()
            for got, want in zip(self.got, self.want):
                self.assertTrue(torch.equal(got, want))

    def test_one_is_needed(self):
        """Otherwise the tests of this file would be void."""
        plan = json.loads(self.executable.bundle.plan())
        self.assertTrue(all("zeroed" in variant for variant in plan["variants"]), plan["variants"])

    def test_launches(self):
        self.expect_right(self.launch)

    def test_graphs(self):
        self.launch()  # loads the kernels
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.launch()
        self.expect_right(graph.replay)


if __name__ == "__main__":
    unittest.main()
