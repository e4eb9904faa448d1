# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients on a GPU: random problems against float64, identities, the same bits in each run, and CUDA graphs."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "python")]
import hardware
import package_gradients_test
from package_torch_test import TorchTest, torch

HAS_GPU = "sm_90" in hardware.gpus()
if HAS_GPU and torch is not None:
    import gradient_problems

    import attn

# Head dims with every kind of mask, and those with a few.
FULL = ((64, 64), (128, 128))
MORE = ((96, 96), (192, 192), (192, 128), (72, 72), (80, 80), (104, 104), (112, 112), (120, 120), (144, 144), (160, 160),
        (184, 184), (32, 32), (48, 48))
SEEDS, LONGEST, MOST_HEADS = 4, (300, 700, 1300, 90), 3


def problems(kinds):
    """(head dims, kind, element type) of each problem."""
    dtypes = torch.bfloat16, torch.float16
    rare = [kind for kind in kinds if kind not in ("none", "causal")]
    found = [(dims, kind) for dims in FULL for kind in kinds]
    for n, dims in enumerate(MORE):
        found += [(dims, "causal"), (dims, rare[n % len(rare)])]
    return [(dims, kind, dtypes[(n + len(kind)) % 2]) for n, (dims, kind) in enumerate(found)]


class DeviceTest(TorchTest):
    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)

    def leaves(self, *shapes):
        return [torch.randn(shape, device="cuda", dtype=torch.bfloat16).requires_grad_() for shape in shapes]


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class RandomProblems(DeviceTest):
    def test_by_the_rule_of_flash_attention(self):
        count = 0
        for seed in range(SEEDS):
            for n, (dims, kind, dtype) in enumerate(problems(gradient_problems.KINDS)):
                problem = gradient_problems.Problem(1000 * seed + n, kind, dims, dtype, "cuda", LONGEST[seed % 4], MOST_HEADS)
                with self.subTest(str(problem)):
                    for name, (error, allowed) in problem.run().items():
                        self.assertLessEqual(error, allowed, name)
                count += 1
        print(f"{count} random problems with gradients")


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class Identities(package_gradients_test.Identities):
    DEVICE, ROWS, COLUMNS = "cuda", 700, 900


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class Launches(DeviceTest):
    def test_the_same_bits_in_each_run(self):
        for dim in (64, 128):
            q, k, v = self.leaves((2, 8, 1000, dim), (2, 2, 1200, dim), (2, 2, 1200, dim))
            gradient = torch.randn_like(q)
            first = None
            for _ in range(50):
                got = torch.autograd.grad(attn.sdpa(q, k, v, is_causal=True, enable_gqa=True), (q, k, v), gradient)
                first = first or got
                self.assertTrue(all(map(torch.equal, got, first)))

    def test_streams(self):
        q, = self.leaves((4, 8, 1024, 64))
        want, = torch.autograd.grad(attn.sdpa(q, q, q).sum(), q)
        streams = [torch.cuda.Stream() for _ in range(3)]
        torch.cuda.synchronize()
        found = []
        for n in range(12):
            with torch.cuda.stream(streams[n % 3]):
                found += torch.autograd.grad(attn.sdpa(q, q, q).sum(), q)
        torch.cuda.synchronize()
        self.assertTrue(all(torch.equal(got, want) for got in found))

    def test_graphs(self):
        q, k = self.leaves((2, 4, 300, 64), (2, 4, 400, 64))
        step = lambda: torch.autograd.grad(attn.sdpa(q, k, k).float().square().sum(), (q, k))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            got = step()
        for _ in range(3):
            with torch.no_grad():
                q.copy_(torch.randn_like(q))
            graph.replay()
            self.assertTrue(all(map(torch.equal, got, step())))

    def test_compiled(self):
        function = lambda q, k: attn.sdpa(q * 2, k, k, is_causal=True, enable_gqa=True).float().square().sum()
        for mode in ("default", "reduce-overhead"):
            torch._dynamo.reset()
            compiled = torch.compile(function, fullgraph=True, dynamic=mode == "default", mode=mode)
            for length in (128, 200, 333):
                q, k = self.leaves((2, 4, length, 64), (2, 2, length, 64))
                for _ in range(3):
                    got = [x.clone() for x in torch.autograd.grad(compiled(q, k), (q, k))]
                for found, want in zip(got, torch.autograd.grad(function(q, k), (q, k))):
                    self.assertLessEqual((found - want).abs().max().item(), 2e-2 * want.abs().max().item())


if __name__ == "__main__":
    unittest.main()
