# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout of attn.sdpa and attn.flash_attn_func, on the simulator."""

import math
import unittest

import package_support  # finds the package

import attn
from package_torch_test import TorchTest

try:
    import torch
    from torch import library as torch_library
    from torch.utils.checkpoint import checkpoint
except ImportError:
    torch = None

HEADS, KV_HEADS, ROWS, COLUMNS, DIM = 4, 2, 40, 50, 64


class DropoutTest(TorchTest):
    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)
        self.q, self.k, self.v, self.of_out = (self.normal(2, heads, rows, DIM) for heads, rows in (
            (HEADS, ROWS), (KV_HEADS, COLUMNS), (KV_HEADS, COLUMNS), (HEADS, ROWS)))

    def sdpa(self, q, k, v, seed=1, **options):
        torch.manual_seed(seed)
        return attn.sdpa(q, k, v, **{"dropout_p": 0.25, "enable_gqa": True, **options})

    def weights(self, q, k, **options):
        """The dropped weights of the values, which the values of an identity matrix show."""
        values = torch.eye(DIM, dtype=q.dtype)[:k.shape[2]].expand(*k.shape[:2], -1, -1)
        return self.sdpa(q, k, values, **options)[..., :k.shape[2]]


class Definition(DropoutTest):
    """The results are those of the weights that are kept, divided by the probability of that."""

    def exact(self, q, k, v, kept, rate, mask=None):
        k, v = (x.double().repeat_interleave(HEADS // KV_HEADS, 1) for x in (k, v))
        scores = q.double() @ k.transpose(2, 3) / math.sqrt(DIM)
        scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
        return (scores.softmax(-1) * kept.double() / (1 - rate)) @ v

    def test_results_and_gradients(self):
        mask = torch.ones(ROWS, COLUMNS, dtype=torch.bool).tril()
        for rate, causal in ((0.25, False), (0.5, True), (0.9, False)):
            with self.subTest(rate=rate):
                options = dict(dropout_p=rate, is_causal=causal)
                seen = mask if causal else torch.ones_like(mask)
                kept = self.weights(self.q, self.k, **options) != 0
                leaves = [x.clone().requires_grad_() for x in (self.q, self.k, self.v)]
                doubles = [x.detach().double().requires_grad_() for x in leaves]
                out = self.sdpa(*leaves, **options)
                want = self.exact(*doubles, kept, rate, seen)
                self.close(out.detach(), want.detach())
                found = torch.autograd.grad(out, leaves, self.of_out)
                for got, exact in zip(found, torch.autograd.grad(want, doubles, self.of_out.double())):
                    self.assertLessEqual((got.double() - exact).abs().max().item(), 2e-2 * (1 + exact.abs().max().item()))

    def test_flash_attn_func_has_the_same_weights(self):
        torch.manual_seed(1)
        q, k, v = (x.transpose(1, 2) for x in (self.q, self.k, self.v))
        out = attn.flash_attn_func(q, k, v, 0.25)
        self.assertTrue(torch.equal(out.transpose(1, 2), self.sdpa(self.q, self.k, self.v)))

    def test_the_backward_pass_drops_the_same_pairs(self):
        """With equal scores the gradient of V is the transposed matrix of those that are kept."""
        q, k = torch.zeros_like(self.q), torch.zeros_like(self.k)
        kept = self.weights(q, k) != 0
        v = self.v.clone().requires_grad_()
        of_out = torch.zeros_like(self.of_out)
        of_out[:, 1, :, :ROWS] = torch.eye(ROWS, dtype=of_out.dtype)  # one head of the group
        d_v, = torch.autograd.grad(self.sdpa(q, k, v), v, of_out)
        self.assertTrue(torch.equal(d_v[:, 0, :, :ROWS].transpose(1, 2) != 0, kept[:, 1]))

    def test_the_lse_is_that_of_all_keys(self):
        q, k, v = (x.transpose(1, 2) for x in (self.q, self.k, self.v))
        plain, dropped = (attn.flash_attn_func(q, k, v, rate, return_lse=True)[1] for rate in (0, 0.5))
        self.assertTrue(torch.equal(plain, dropped))

    def test_ends(self):
        self.assertTrue(torch.equal(self.sdpa(self.q, self.k, self.v, dropout_p=1.0), torch.zeros_like(self.q)))
        self.assertTrue(torch.equal(self.sdpa(self.q, self.k, self.v, dropout_p=1e-9), self.sdpa(self.q, self.k, self.v, dropout_p=0)))

    def test_a_mask_and_a_bias(self):
        mask = torch.rand(2, 1, ROWS, COLUMNS) < 0.5
        kept = self.weights(self.q, self.k, attn_mask=mask) != 0
        self.close(self.sdpa(self.q, self.k, self.v, attn_mask=mask), self.exact(self.q, self.k, self.v, kept, 0.25, mask))

    def test_few_queries(self):
        q = self.q[:, :, :1]
        kept = self.weights(q, self.k) != 0
        self.close(self.sdpa(q, self.k, self.v), self.exact(q, self.k, self.v, kept, 0.25))


class Randomness(DropoutTest):
    def kept(self, rate=0.25):
        q = torch.zeros(2, HEADS, ROWS, DIM, dtype=torch.float16)
        k = torch.zeros(2, HEADS, DIM, DIM, dtype=torch.float16)
        values = torch.eye(DIM, dtype=q.dtype).expand(2, HEADS, -1, -1)
        return (attn.sdpa(q, k, values, dropout_p=rate) != 0).double()

    def test_the_share_that_is_kept(self):
        for rate in (0.1, 0.5, 0.75):
            kept = self.kept(rate)
            self.assertAlmostEqual(kept.mean().item(), 1 - rate, delta=5 * math.sqrt(rate * (1 - rate) / kept.numel()))

    def test_calls_heads_and_batches_differ(self):
        first, second = self.kept(0.5) * 2 - 1, self.kept(0.5) * 2 - 1
        pairs = [(first, second), (first[0], first[1]), *((first[:, 0], first[:, n]) for n in range(1, HEADS))]
        for a, b in pairs:
            self.assertLess(abs((a * b).mean().item()), 5 / math.sqrt(a.numel()))

    def test_the_generator_decides(self):
        torch.manual_seed(5)
        first = self.kept()
        second = self.kept()
        torch.manual_seed(5)
        self.assertTrue(torch.equal(self.kept(), first))
        self.assertTrue(torch.equal(self.kept(), second))
        self.assertFalse(torch.equal(first, second))

    def test_forks_of_the_generator(self):
        torch.manual_seed(5)
        with torch.random.fork_rng():
            inside = self.kept()
        self.assertTrue(torch.equal(self.kept(), inside))

    def test_checkpoints(self):
        for reentrant in (True, False):
            with self.subTest(reentrant=reentrant):
                plain, again = ([x.clone().requires_grad_() for x in (self.q, self.k, self.v)] for _ in range(2))
                run = lambda *leaves: attn.sdpa(*leaves, dropout_p=0.5, enable_gqa=True)
                torch.manual_seed(3)
                run(*plain).backward(self.of_out)
                torch.manual_seed(3)
                checkpoint(run, *again, use_reentrant=reentrant).backward(self.of_out)
                for a, b in zip(plain, again):
                    self.assertTrue(torch.equal(a.grad, b.grad))

    def test_compiled_functions(self):
        run = lambda q: attn.sdpa(q, self.k, self.v, dropout_p=0.5, enable_gqa=True)
        results = []
        for function in (run, torch.compile(run, fullgraph=True, backend="aot_eager")):
            q = self.q.clone().requires_grad_()
            torch.manual_seed(3)
            out = function(q)
            out.backward(self.of_out)
            results.append((out.detach(), q.grad))
        for a, b in zip(*results):
            self.assertTrue(torch.equal(a, b))

    def test_vmap_follows_its_randomness(self):
        q, k, v = (x.expand(3, *x.shape) for x in (self.q, self.k, self.v))
        run = lambda *tensors: attn.sdpa(*tensors, dropout_p=0.5, enable_gqa=True)
        with torch.no_grad():
            same = torch.vmap(run, randomness="same")(q, k, v)
            different = torch.vmap(run, randomness="different")(q, k, v)
            with self.assertRaisesRegex(RuntimeError, "random"):
                torch.vmap(run)(q, k, v)
        self.assertTrue(torch.equal(same[0], same[1]))
        self.assertFalse(torch.equal(different[0], different[1]))

    def test_operators(self):
        q, k, v = (x.transpose(1, 2).detach().requires_grad_() for x in (self.q, self.k, self.v))
        state = torch.tensor([1, 2])
        ir = attn._presets.flash_preset("f16", DIM, DIM, "none", (), "", "", True, False, 0).ir
        torch_library.opcheck(torch.ops.attn.forward.default, (q, k, v, [state], [0.125, 0.5], [], ir))


class Refusals(DropoutTest):
    def test_rates(self):
        for rate in (-0.1, 1.5, math.nan):
            with self.subTest(rate), self.assertRaisesRegex(attn.ArgumentError, "'dropout_p' to be from 0 to 1, got"):
                attn.sdpa(self.q, self.q, self.q, dropout_p=rate)

    def test_other_libraries(self):
        q = self.q.numpy()
        with self.assertRaisesRegex(attn.UnsupportedError, "'dropout_p' to be 0 for tensors that are not torch's"):
            attn.sdpa(q, q, q, dropout_p=0.5)


if __name__ == "__main__":
    unittest.main()
