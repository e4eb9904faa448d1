# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attn.routed()`: which calls of torch attn computes, and which torch does, on the
simulator."""

import copy
import unittest

import package_support  # finds the package
from package_torch_test import TorchTest, torch

import attn

if torch is not None:
    from torch.nn.functional import scaled_dot_product_attention


class Routing(TorchTest):
    def test_calls_inside_are_served_or_counted(self):
        q = self.normal(1, 2, 9, 64)
        wide = q.float()
        with self.assertLogs("attn", "WARNING") as logs, attn.routed() as calls:
            got = torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
            for _ in range(2):
                scaled_dot_product_attention(wide, wide, wide)
        self.assertTrue(torch.equal(got, attn.sdpa(q, q, q, is_causal=True)))
        self.assertEqual((calls.served, list(calls.refused.values())), (1, [2]))
        self.assertEqual(len(logs.output), 1)
        self.assertIn("bfloat16 or float16", logs.output[0])
        scaled_dot_product_attention(q, q, q)
        self.assertEqual(calls.served, 1)

    def test_without_a_fallback(self):
        wide = self.normal(1, 2, 9, 64).float()
        with attn.routed(fallback=False), self.assertRaisesRegex(NotImplementedError, "bfloat16 or float16"):
            scaled_dot_product_attention(wide, wide, wide)

    def falls_back(self, reason, *tensors, **options):
        """torch's result or its error, and the same by way of attn."""
        found = []
        for wrap in (lambda call: call(), self.routed):
            try:
                found.append(wrap(lambda: scaled_dot_product_attention(*tensors, **options)))
            except Exception as error:
                found.append((type(error), str(error).partition("\n")[0]))
        self.assertEqual((self.calls.served, len(self.calls.refused)), (0, 1))
        self.assertRegex(next(iter(self.calls.refused)), reason)
        self.assertRegex(self.logged, reason)
        return found

    def routed(self, call):
        with self.assertLogs("attn", "WARNING") as logs, attn.routed() as self.calls:
            try:
                return call()
            finally:
                self.logged = " ".join(logs.output)

    def check_fallback(self, reason, *tensors, **options):
        want, got = self.falls_back(reason, *tensors, **options)
        self.assertTrue(torch.equal(got, want))

    def test_heads_that_torch_broadcasts(self):
        q, k = self.normal(1, 4, 9, 64), self.normal(1, 1, 9, 64)
        self.check_fallback("heads of 'key'", q, k, q)

    def test_strides_and_addresses(self):
        q = self.normal(1, 2, 9, 64)
        self.check_fallback("last dim has to be contiguous", q.transpose(2, 3).contiguous().transpose(2, 3), q, q)
        self.check_fallback("a multiple of 16 bytes", self.normal(1, 2, 9, 65)[..., 1:], q, q)
        self.check_fallback("address of 'query'", self.normal(1, 2, 9, 72)[..., 1:65], q, q)

    def test_head_dims_and_element_types(self):
        q = self.normal(1, 2, 9, 20)
        self.check_fallback("multiple of 8 from 8 to 256, got 20", q, q, q)
        q = self.normal(1, 2, 9, 64)
        self.check_fallback("to be bfloat16 or float16", q.double(), q.double(), q.double())

    def test_gradients(self):
        q = self.normal(1, 2, 9, 64).requires_grad_()
        with torch.enable_grad():
            with attn.routed() as calls:
                got, = torch.autograd.grad(scaled_dot_product_attention(q, q, q).sum(), q)
            want, = torch.autograd.grad(scaled_dot_product_attention(q, q, q).sum(), q)
        self.assertEqual((calls.served, len(calls.refused)), (1, 0))
        self.assertLess((got - want).abs().max().item(), 1e-2)

    def test_nested_tensors(self):
        parts = [self.normal(n, 2, 64).bfloat16() for n in (9, 5)]
        for layout in (torch.strided, torch.jagged):
            q = torch.nested.nested_tensor(parts, layout=layout).transpose(1, 2)
            want, got = self.falls_back("nested", q, q, q)
            self.assertEqual(isinstance(want, tuple), isinstance(got, tuple))
            if isinstance(want, torch.Tensor):
                self.assertTrue(all(map(torch.equal, got.unbind(), want.unbind())))

    def test_what_torch_refuses_it_reports_itself(self):
        q = self.normal(1, 2, 9, 64)
        want, got = self.falls_back("element type of 'query'", q, q.bfloat16(), q)
        self.assertEqual(got, want)

    def test_autocast(self):
        q, k = self.normal(1, 2, 9, 64).float(), self.normal(1, 2, 9, 64).bfloat16()
        for dtype in (torch.bfloat16, torch.float16):
            for arguments in ((q, q, q), (q, k, k), (k, k, k), (q, q, q, torch.randn(9, 9))):
                with torch.autocast("cpu", dtype), attn.routed(fallback=False) as calls:
                    got = scaled_dot_product_attention(*arguments)
                self.assertEqual((calls.served, got.dtype), (1, dtype))
                self.close(got, scaled_dot_product_attention(*(tensor.to(dtype).double() for tensor in arguments)))

    def test_autocast_beside_a_mask_that_is_a_description(self):
        from torch.nn.attention.bias import causal_lower_right

        q, k = self.normal(1, 2, 7, 64).float(), self.normal(1, 2, 12, 64).float()
        with torch.autocast("cpu", torch.bfloat16), attn.routed(fallback=False):
            got = scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(7, 12))
        self.close(got, scaled_dot_product_attention(q.bfloat16().double(), *[k.bfloat16().double()] * 2,
                                                     attn_mask=torch.ones(7, 12).tril(5).bool()))


class Modules(TorchTest):
    """torch's own attention in modules, which torch computes in functions of its own."""

    def compare(self, module, *tensors, served, rows=9, **options):
        """In bf16, against the module in float32 without attn; the first `rows` positions."""
        module = module.eval().bfloat16()
        want = copy.deepcopy(module).float()(*tensors, **options)
        with attn.routed(fallback=False) as calls:
            got = module(*(tensor.bfloat16() for tensor in tensors), **options)
        self.assertEqual(calls.served, served)
        want, got = ((found[0] if isinstance(found, tuple) else found)[:, :rows] for found in (want, got))
        self.assertLess((got - want).abs().max().item(), 0.02 * want.abs().max().item())

    def test_multihead_attention(self):
        module = torch.nn.MultiheadAttention(64, 2, batch_first=True)
        x, y = torch.randn(2, 9, 64), torch.randn(2, 12, 64)
        self.compare(module, x, x, x, served=1, need_weights=False)
        self.compare(module, x, y, y, served=1, need_weights=False,
                     key_padding_mask=torch.arange(12).expand(2, -1) > 8)
        self.compare(module, x, x, x, served=1, need_weights=False, attn_mask=torch.ones(9, 9).triu(1).bool(),
                     is_causal=True)

    def test_weights_are_left_to_torch(self):
        module = torch.nn.MultiheadAttention(64, 2).eval().bfloat16()
        x = torch.randn(9, 2, 64).bfloat16()
        with self.assertLogs("attn", "WARNING") as logs, attn.routed() as calls:
            got = module(x, x, x)
        self.assertEqual((calls.served, list(calls.refused.values())), (0, [1]))
        self.assertIn("need_weights", logs.output[0])
        self.assertEqual(got[1].shape, (2, 9, 9))
        with attn.routed(fallback=False), self.assertRaisesRegex(attn.UnsupportedError, "need_weights"):
            module(x, x, x)

    def test_transformer_layers(self):
        sizes = dict(d_model=64, nhead=2, dim_feedforward=64, batch_first=True)
        x, memory = torch.randn(2, 9, 64), torch.randn(2, 12, 64)
        padding, causal = torch.arange(9).expand(2, -1) > 6, torch.ones(9, 9).triu(1).bool()
        encoder, decoder = torch.nn.TransformerEncoderLayer(**sizes), torch.nn.TransformerDecoderLayer(**sizes)
        self.compare(encoder, x, served=1)
        self.compare(encoder, x, served=1, rows=7, src_key_padding_mask=padding)
        self.compare(torch.nn.TransformerEncoder(encoder, 2), x, served=2, rows=7, src_key_padding_mask=padding)
        self.compare(decoder, x, memory, served=2)
        self.compare(decoder, x, memory, served=2, tgt_mask=causal, tgt_is_causal=True)


if __name__ == "__main__":
    unittest.main()
