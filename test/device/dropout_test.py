# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout on a GPU: results and gradients against float64 with the pairs that an identity matrix shows, statistics, the same bits in
each run, and CUDA graphs, which draw other pairs in each replay."""

import math
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "python")]
import hardware
from package_torch_test import TorchTest, torch

HAS_GPU = "sm_90" in hardware.gpus()
if HAS_GPU and torch is not None:
    import attn

HEADS, KV_HEADS = 4, 2


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class DropoutTest(TorchTest):
    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)

    def normal(self, *shape, dtype=None):
        return torch.randn(*shape, device="cuda").to(dtype or torch.bfloat16)

    def sdpa(self, q, k, v, rate=0.25, seed=1, **options):
        torch.manual_seed(seed)
        return attn.sdpa(q, k, v, dropout_p=rate, enable_gqa=True, **options)

    def weights(self, q, k, **options):
        """The dropped weights of the values, a block of an identity matrix after the other."""
        dim, keys = q.shape[3], k.shape[2]
        parts = []
        for first in range(0, keys, dim):
            values = torch.zeros_like(k)
            count = min(dim, keys - first)
            values[:, :, first:first + count, :count] = torch.eye(count, dtype=q.dtype, device=q.device)
            parts.append(self.sdpa(q, k, values, **options).detach()[..., :count])
        return torch.cat(parts, -1)


class Right(DropoutTest):
    def exact(self, q, k, v, kept, rate, causal):
        k, v = (x.repeat_interleave(HEADS // KV_HEADS, 1) for x in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        if causal:
            scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
        return (scores.softmax(-1) * kept.double() / (1 - rate)) @ v

    def test_results_and_gradients(self):
        for dim, dtype, rate, causal in ((64, torch.bfloat16, 0.25, False), (128, torch.float16, 0.5, True), (96, torch.bfloat16, 0.1, True),
                                         (128, torch.bfloat16, 0.1, False), (256, torch.float16, 0.25, False)):
            with self.subTest(f"{dim} {dtype} {rate} {causal}"):
                leaves = [self.normal(2, h, n, dim, dtype=dtype).requires_grad_() for h, n in (
                    (HEADS, 500), (KV_HEADS, 610), (KV_HEADS, 610))]
                of_out = self.normal(2, HEADS, 500, dim, dtype=dtype)
                kept = self.weights(*leaves[:2], rate=rate, is_causal=causal) != 0
                doubles = [x.detach().double().requires_grad_() for x in leaves]
                want = self.exact(*doubles, kept, rate, causal)
                out = self.sdpa(*leaves, rate=rate, is_causal=causal)
                self.close(out.detach(), want.detach())
                for got, exact in zip(torch.autograd.grad(out, leaves, of_out), torch.autograd.grad(want, doubles, of_out.double())):
                    self.assertLessEqual((got.double() - exact).abs().max().item(), 2e-2 * exact.abs().max().item())

    def test_forward_and_backward_agree_on_every_bit(self):
        for dim in (64, 128):
            q, k = torch.zeros(2, HEADS, 700, dim, device="cuda").bfloat16(), torch.zeros(2, HEADS, 900, dim, device="cuda").bfloat16()
            kept = self.weights(q, k, rate=0.5) != 0
            v = torch.zeros_like(k).requires_grad_()
            found = torch.zeros_like(kept)
            for first in range(0, 700, dim):
                count = min(dim, 700 - first)
                of_out = torch.zeros_like(q)
                of_out[:, :, first:first + count, :count] = torch.eye(count, device="cuda").bfloat16()
                d_v, = torch.autograd.grad(self.sdpa(q, k, v, rate=0.5), v, of_out)
                found[:, :, first:first + count] = d_v[..., :count].transpose(2, 3) != 0
            self.assertTrue(torch.equal(found, kept))

    def test_the_same_bits_in_each_run(self):
        q, k, v = (self.normal(2, HEADS, 1000, 64).requires_grad_() for _ in range(3))
        of_out, first = torch.randn_like(q), None
        for _ in range(50):
            out = self.sdpa(q, k, v, is_causal=True)
            got = (out, *torch.autograd.grad(out, (q, k, v), of_out))
            first = first or got
            self.assertTrue(all(map(torch.equal, got, first)))


class Randomness(DropoutTest):
    LENGTH = 2048

    def signs(self, rate=0.5):
        """1 for pairs that are kept, -1 for others, of all keys and queries of 2 x 4 heads, 64 keys at a time."""
        q = torch.zeros(2, HEADS, self.LENGTH, 64, device="cuda").bfloat16()
        return (self.weights(q, q, rate=rate) != 0).float() * 2 - 1

    def test_statistics(self):
        kept = (self.signs(0.25) + 1) / 2
        count, variance = kept.numel(), 0.25 * 0.75
        self.assertAlmostEqual(kept.double().mean().item(), 0.75, delta=5 * math.sqrt(variance / count))
        for dim in (2, 3):  # sums over the queries of a key, and over the keys of a query
            spread = (kept.sum(dim) - 0.75 * self.LENGTH).double().square().mean().item() / (variance * self.LENGTH)
            self.assertAlmostEqual(spread, 1, delta=5 * math.sqrt(2 / (count / self.LENGTH)))

    def test_correlations(self):
        signs = self.signs()
        shifted = {"keys": (signs[..., :-1], signs[..., 1:]), "8 keys": (signs[..., :-8], signs[..., 8:]),
                   "queries": (signs[:, :, :-1], signs[:, :, 1:]), "8 queries": (signs[:, :, :-8], signs[:, :, 8:]),
                   "diagonals": (signs[:, :, :-8, :-8], signs[:, :, 8:, 8:]), "heads": (signs[:, :-1], signs[:, 1:]),
                   "batches": (signs[:1], signs[1:]), "transposed": (signs, signs.transpose(2, 3))}
        for name, (a, b) in shifted.items():
            self.assertLess(abs((a * b).double().mean().item()), 6 / math.sqrt(a.numel()), name)

    def test_graphs_draw_other_pairs(self):
        q, k = self.normal(2, 4, 300, 64).requires_grad_(), self.normal(2, 4, 400, 64).requires_grad_()
        def step():
            out = attn.sdpa(q, k, k, dropout_p=0.5)
            return out.detach(), *torch.autograd.grad(out.float().square().sum(), (q, k))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = step()
        runs = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            for _ in range(2):
                graph.replay()
                runs.append([x.clone() for x in captured])
        for n in (0, 1):  # the generator decides
            self.assertTrue(all(map(torch.equal, runs[n], runs[2 + n])))
        for a, b in ((0, 1), (0, 4)):
            self.assertFalse(any(map(torch.equal, runs[a], runs[b])))


if __name__ == "__main__":
    unittest.main()
