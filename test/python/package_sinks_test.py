# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learnable sinks of attn.sdpa and attn.flash_attn_func, on the simulator."""

import math
import unittest

import package_support  # finds the package

import attn
from package_torch_test import TorchTest

try:
    import torch
except ImportError:
    torch = None

HEADS, KV_HEADS, ROWS, COLUMNS, DIM = 4, 2, 40, 30, 64


class SinksTest(TorchTest):
    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)
        self.q, self.k, self.v, self.of_out = (self.normal(2, heads, rows, DIM) for heads, rows in (
            (HEADS, ROWS), (KV_HEADS, COLUMNS), (KV_HEADS, COLUMNS), (HEADS, ROWS)))
        self.of_lse = torch.randn(2, HEADS, ROWS)
        self.sinks = torch.tensor([0.5, 3.0, -2.0, 12.0])

    def exact(self, q, k, v, sinks):
        """Causal at the bottom right: some rows see no key."""
        k, v = (x.repeat_interleave(HEADS // KV_HEADS, 1) for x in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(DIM)
        seen = torch.ones(ROWS, COLUMNS, dtype=torch.bool).tril(COLUMNS - ROWS)
        scores = scores.masked_fill(~seen, -math.inf)
        scores = torch.cat([scores, sinks[None, :, None, None].expand(2, -1, ROWS, 1)], -1)
        return scores.softmax(-1)[..., :-1] @ v, scores.logsumexp(-1)

    def flash(self, q, k, v, sinks):
        out, lse = attn.flash_attn_func(*(x.transpose(1, 2) for x in (q, k, v)), causal=True, sinks=sinks, return_lse=True)
        return out.transpose(1, 2), lse


class Right(SinksTest):
    def test_results_and_gradients(self):
        for dtype in (torch.float32, torch.float16):
            for gradients in ((self.of_out, self.of_lse), (self.of_out, None)):
                with self.subTest(dtype=dtype, lse=gradients[1] is not None):
                    leaves = [x.clone().requires_grad_() for x in (self.q, self.k, self.v, self.sinks.to(dtype))]
                    doubles = [x.detach().double().requires_grad_() for x in leaves]
                    got, want = self.flash(*leaves), self.exact(*doubles)
                    self.close(got[0].detach(), want[0].detach())
                    self.assertLessEqual((got[1].double() - want[1]).abs().max().item(), 1e-5)
                    given = [(r, w, g) for r, w, g in zip(got, want, gradients) if g is not None]
                    found = torch.autograd.grad([g[0] for g in given], leaves, [g[2] for g in given])
                    exact = torch.autograd.grad([g[1] for g in given], doubles, [g[2].double() for g in given])
                    for a, b, leaf in zip(found, exact, leaves):
                        self.assertEqual(a.dtype, leaf.dtype)
                        self.assertLessEqual((a.double() - b).abs().max().item(), 2e-2 * (1 + b.abs().max().item()))

    def test_the_gradient_of_sinks_alone(self):
        sinks = self.sinks.clone().requires_grad_()
        exact = self.sinks.double().requires_grad_()
        out = self.flash(self.q, self.k, self.v, sinks)[0]
        want = self.exact(self.q.double(), self.k.double(), self.v.double(), exact)[0]
        got, = torch.autograd.grad(out, sinks, self.of_out)
        want, = torch.autograd.grad(want, exact, self.of_out.double())
        self.assertLessEqual((got.double() - want).abs().max().item(), 2e-2 * (1 + want.abs().max().item()))

    def test_no_sink(self):
        none = torch.full((HEADS,), -math.inf, requires_grad=True)
        out = attn.sdpa(self.q, self.k, self.v, enable_gqa=True, sinks=none)
        self.close(out.detach(), attn.sdpa(self.q, self.k, self.v, enable_gqa=True).double())
        self.assertEqual(torch.autograd.grad(out, none, self.of_out)[0].abs().max().item(), 0)

    def test_few_queries(self):
        q = self.q[:, :, :1]
        out = attn.sdpa(q, self.k, self.v, enable_gqa=True, sinks=self.sinks)
        k, v = (x.double().repeat_interleave(2, 1) for x in (self.k, self.v))
        scores = torch.cat([q.double() @ k.transpose(2, 3) / 8, self.sinks.double()[None, :, None, None].expand(2, -1, 1, 1)], -1)
        self.close(out, scores.softmax(-1)[..., :-1] @ v)

    def test_beside_dropout_and_a_mask(self):
        mask = torch.randn(1, 1, ROWS, COLUMNS)
        sinks = self.sinks.clone().requires_grad_()
        torch.manual_seed(1)
        out = attn.sdpa(self.q, self.k, self.v, mask, 0.25, enable_gqa=True, sinks=sinks)
        torch.manual_seed(1)
        values = torch.eye(COLUMNS, DIM, dtype=self.v.dtype).expand(2, KV_HEADS, -1, -1)
        weights = attn.sdpa(self.q, self.k, values, mask, 0.25, enable_gqa=True, sinks=sinks)[..., :COLUMNS].detach().double()
        self.close(out.detach(), weights @ self.v.double().repeat_interleave(2, 1))
        self.assertTrue(torch.autograd.grad(out, sinks, self.of_out)[0].isfinite().all())

    def test_compiled_functions(self):
        run = lambda q, sinks: attn.sdpa(q, self.k, self.v, enable_gqa=True, sinks=sinks)
        results = []
        for function in (run, torch.compile(run, fullgraph=True, backend="aot_eager")):
            leaves = [x.clone().requires_grad_() for x in (self.q, self.sinks)]
            results.append(torch.autograd.grad(function(*leaves), leaves, self.of_out))
        for a, b in zip(*results):
            self.assertTrue(torch.equal(a, b))


class Refusals(SinksTest):
    def test_shapes_and_kinds(self):
        for message, sinks in (("'sinks' to be 4 floats, one for each head of the query", self.sinks[:2]),
                               ("'sinks' to be 4 floats", torch.arange(4)),
                               ("'sinks' and the query to be tensors of torch, got a ndarray", self.sinks.numpy())):
            with self.subTest(message), self.assertRaisesRegex(attn.AttnError, message):
                attn.sdpa(self.q, self.k, self.v, enable_gqa=True, sinks=sinks)


if __name__ == "__main__":
    unittest.main()
