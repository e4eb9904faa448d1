# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The function and the masks that attn registers with transformers, on the simulator:
which arguments count, what is refused, and what transformers computes instead."""

import itertools
import os
import re
import types
import unittest

import package_support  # finds the package
from package_torch_test import TorchTest, torch

import attn

try:
    import transformers
    from transformers import masking_utils
    from transformers.integrations.sdpa_attention import sdpa_attention_forward  # noqa: F401 (which older ones lack)
except ImportError:
    transformers = masking_utils = None


class DoorTest(TorchTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if transformers is None:
            raise unittest.SkipTest("transformers is not installed")

    def setUp(self):
        super().setUp()
        from attn import _fallback

        _fallback._warned.cache_clear()
        self.q, self.k = self.normal(2, 4, 12, 32), self.normal(2, 2, 12, 32)
        self.layer = types.SimpleNamespace(is_causal=True, num_key_value_groups=2, training=False)

    def attention(self, *tensors, mask=None, **options):
        return attn.transformers_attention(self.layer, *(tensors or (self.q, self.k, self.k)), mask, **options)[0]

    def exact(self, q, k, mask=None, score=lambda s: s):
        """In double precision, (batch, position, head, dim). `mask` is of truth values."""
        q, k = q.double(), k.double().repeat_interleave(q.shape[1] // k.shape[1], 1)
        scores = score(q @ k.transpose(2, 3) * q.shape[3] ** -0.5)
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return (scores.softmax(-1) @ k).transpose(1, 2)

    def causal(self, window=99):
        i, j = torch.arange(12)[:, None], torch.arange(12)
        return (j <= i) & (j > i - window)


class Keywords(DoorTest):
    def test_a_causal_layer_needs_no_mask(self):
        self.close(self.attention(), self.exact(self.q, self.k, self.causal()))
        self.close(self.attention(is_causal=False), self.exact(self.q, self.k))
        self.close(self.attention(self.q[:, :, :1], self.k, self.k), self.exact(self.q[:, :, :1], self.k))

    def test_a_cache_longer_than_the_prompt(self):
        self.close(self.attention(self.q[:, :, :5], self.k, self.k),
                   self.exact(self.q[:, :, :5], self.k[:, :, :5], self.causal()[:5, :5]))

    def test_a_soft_cap_and_a_window_count(self):
        capped = lambda s: 2 * torch.tanh(s / 2)
        self.close(self.attention(softcap=2.0), self.exact(self.q, self.k, self.causal(), capped))
        self.close(self.attention(softcap=2.0, sliding_window=3), self.exact(self.q, self.k, self.causal(3), capped))
        mask = self.causal() & (torch.rand(2, 1, 12, 12) > 0.3) | torch.eye(12).bool()
        self.close(self.attention(mask=mask, softcap=2.0), self.exact(self.q, self.k, mask, capped))

    def test_a_window_of_a_layer_that_is_not_causal_and_of_one_query(self):
        i, j = torch.arange(12)[:, None], torch.arange(12)
        self.close(self.attention(is_causal=False, sliding_window=3), self.exact(self.q, self.k, abs(i - j) < 3))
        self.close(self.attention(self.q[:, :, :1], self.k, self.k, sliding_window=3),
                   self.exact(self.q[:, :, :1], self.k[:, :, -3:]))

    def test_a_position_bias_counts(self):
        bias = torch.randn(12, 12, 4).permute(2, 0, 1)[None]  # in memory as T5 has it
        plus = lambda s: s + bias.double()
        self.close(self.attention(position_bias=bias), self.exact(self.q, self.k, self.causal(), plus))
        self.close(self.attention(position_bias=bias.half(), is_causal=False),
                   self.exact(self.q, self.k, None, lambda s: s + bias.half().double()))
        mask = torch.rand(2, 1, 12, 12) > 0.3
        mask |= torch.eye(12).bool()
        self.close(self.attention(position_bias=bias, mask=mask), self.exact(self.q, self.k, mask, plus))
        floats = torch.zeros(2, 1, 12, 12).masked_fill(~mask, torch.finfo(torch.float16).min)
        self.close(self.attention(position_bias=bias, mask=floats), self.exact(self.q, self.k, mask, plus))

    def test_keywords_without_a_meaning_are_ignored(self):
        want = self.attention()
        got = self.attention(position_ids=torch.arange(12), use_cache=True, cu_seq_lens_q=torch.tensor([0, 12]),
                             num_items_in_batch=3, unheard_of=None)
        self.assertTrue(torch.equal(got, want))

    def test_the_manual_lists_them(self):
        from attn._transformers import IGNORED

        with open(os.path.join(package_support.ROOT, "docs", "python.md"), encoding="utf-8") as file:
            listed = re.search(r"are ignored, as by \"sdpa\":(.*?)\.", file.read(), re.DOTALL)
        self.assertEqual(set(re.findall(r"`(\w+)`", listed[1])), IGNORED)

    def test_others_are_refused_by_name(self):
        for fallback in (False, True):
            for name in ("cache", "alibi", "indices"):
                with self.assertRaisesRegex(attn.UnsupportedError, f"expected '{name}' to be None"):
                    self.attention(**{name: object()}, fallback=fallback)

    def test_output_attentions_warns(self):
        with self.assertLogs("attn", "WARNING") as logs:
            for _ in range(2):
                self.attention(output_attentions=True)
        self.assertEqual((len(logs.output), "output_attentions" in logs.output[0]), (1, True))

    def test_autocast(self):
        wide = [tensor.float() for tensor in (self.q, self.k, self.k)]
        with torch.autocast("cpu", torch.bfloat16):
            out = self.attention(*wide)
        self.assertEqual(out.dtype, torch.bfloat16)
        self.close(out, self.exact(*(tensor.bfloat16() for tensor in wide[:2]), self.causal()))


class Fallbacks(DoorTest):
    def falls_back(self, reason, *tensors, **options):
        """The output, after as many warnings as there are reasons: one."""
        with self.assertRaisesRegex(attn.AttnError, reason):
            self.attention(*tensors, **options)
        with self.assertLogs("attn", "WARNING") as logs:
            for _ in range(2):
                out = self.attention(*tensors, **options, fallback=True)
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], reason)
        return out

    def check(self, reason, q, k, **options):
        mask = self.causal(options.get("sliding_window", 99))
        self.close(self.falls_back(reason, q, k, k, **options), self.exact(q, k, mask))

    def test_the_element_type(self):
        self.check("to be bfloat16 or float16", self.q.float(), self.k.float())

    def test_head_dims(self):
        self.check("multiple of 8 from 8 to 256, got 20", self.q[..., :20], self.k[..., :20])

    def test_a_window_of_which_torch_learns(self):
        self.check("to be bfloat16 or float16", self.q.float(), self.k.float(), sliding_window=3)

    def test_strides(self):
        q = self.q.transpose(2, 3).contiguous().transpose(2, 3)
        self.check("last dim has to be contiguous", q, self.k)

    def test_dropout(self):
        results = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            results.append(self.attention(dropout=0.5))
        self.assertTrue(torch.equal(results[0], results[1]))
        self.assertFalse(torch.equal(results[0], results[2]))

    def test_what_sdpa_would_ignore_the_model_computes(self):
        from transformers.models.gemma2.modeling_gemma2 import Gemma2Attention

        self.layer = Gemma2Attention.__new__(Gemma2Attention)
        torch.nn.Module.__init__(self.layer)
        self.layer.head_dim, self.layer.num_key_value_groups, self.layer.is_causal = 32, 2, True
        q, k = self.q.float(), self.k.float()
        out = self.falls_back("to be bfloat16 or float16", q, k, k, softcap=2.0, sliding_window=3)
        self.close(out, self.exact(q, k, self.causal(3), lambda s: 2 * torch.tanh(s / 2)))

    def test_sinks(self):
        from transformers.models.gpt_oss.modeling_gpt_oss import GptOssAttention

        self.layer = GptOssAttention.__new__(GptOssAttention)
        torch.nn.Module.__init__(self.layer)
        self.layer.num_key_value_groups, self.layer.is_causal = 2, True
        self.layer.sinks = torch.nn.Parameter(torch.randn(4), requires_grad=False)
        out = self.attention(s_aux=self.layer.sinks)
        wide = self.falls_back("to be bfloat16 or float16", self.q.float(), self.k.float(), self.k.float(), s_aux=self.layer.sinks)
        q, k = self.q.double(), self.k.double().repeat_interleave(2, 1)
        scores = (q @ k.transpose(2, 3) * 32**-0.5).masked_fill(~self.causal(), -torch.inf)
        sink = self.layer.sinks.double()[None, :, None, None].expand(2, -1, 12, -1)
        weights = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
        for result in (out, wide):
            self.close(result, (weights @ k).transpose(1, 2))

    def test_without_a_function_of_the_model(self):
        with self.assertLogs("attn", "WARNING"), \
                self.assertRaisesRegex(attn.UnsupportedError, "eager_attention_forward beside SimpleNamespace"):
            self.attention(self.q.float(), self.k.float(), self.k.float(), s_aux=torch.zeros(4), fallback=True)


class Masks(DoorTest):
    """The masks are those of transformers' "sdpa", without memory where they can be."""

    def mask(self, **call):
        """attn's mask, and that of transformers as a tensor."""
        from attn._transformers_mask import attention_mask

        call = dict(dict(batch_size=2, q_length=12, kv_length=12, device="cpu"), **call)
        want = masking_utils.sdpa_mask(**{**call, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False})
        return attention_mask(**call), want

    def band(self, **call):
        from attn._band import Band

        got, want = self.mask(**call)
        self.assertIsInstance(got.rule, Band)
        return got, want

    def tensor(self, **call):
        """Checks that the mask is a tensor with memory, like that of transformers."""
        got, want = self.mask(**call)
        self.assertIs(type(got), torch.Tensor)
        self.assertTrue(torch.equal(got, want))

    def window(self, size, both=False):
        make = masking_utils.sliding_window_bidirectional_mask_function if both else \
            masking_utils.sliding_window_causal_mask_function
        skip = dict(allow_is_causal_skip=False, allow_is_bidirectional_skip=True) if both else {}
        return dict(mask_function=make(size), local_size=size, **skip)

    def calls(self):
        """Kinds of masks, with queries after none or 7 keys, of which a cache has dropped
        some, or has room for more."""
        both = dict(mask_function=masking_utils.bidirectional_mask_function, allow_is_causal_skip=False,
                    allow_is_bidirectional_skip=True)
        kinds = [{}, both] + [self.window(size, which) for size in (1, 3, 12, 30) for which in (False, True)]
        for kind, rows, (past, dropped, room) in itertools.product(
                kinds, (1, 5, 12), ((0, 0, 0), (0, 0, 4), (7, 0, 0), (7, 3, 0), (7, 0, 4))):
            yield dict(kind, q_length=rows, kv_length=past - dropped + rows + room, q_offset=past, kv_offset=dropped)

    def test_attention_by_them_is_that_of_transformers(self):
        for call in self.calls():
            got, want = self.mask(**call)
            self.assertIsNot(type(got), torch.Tensor)
            q, k = self.normal(2, 4, call["q_length"], 32), self.normal(2, 2, call["kv_length"], 32)
            causal = "allow_is_bidirectional_skip" not in call
            self.close(self.attention(q, k, k, mask=got, is_causal=causal), self.exact(q, k, want).nan_to_num())
            if got is not None:
                self.assertFalse(got.has_memory)
                self.assertTrue(torch.equal(got.clone(), want))

    def test_they_go_without_saying_where_a_layer_computes_the_same(self):
        open_ = dict(allow_is_causal_skip=False, allow_is_bidirectional_skip=True)
        for call in ({}, self.window(12), dict(self.window(3), q_length=1, kv_length=3, q_offset=2),
                     dict(q_length=1, q_offset=11), dict(mask_function=masking_utils.bidirectional_mask_function, **open_),
                     self.window(11, both=True), dict(attention_mask=torch.ones(2, 12).bool())):
            self.assertIsNone(self.mask(**call)[0])

    def test_batches_without_padding(self):
        call = dict(attention_mask=torch.ones(2, 12).bool(), **self.window(3))
        got, want = self.band(**call)
        self.assertTrue(torch.equal(got.clone(), want))

    def test_those_that_a_caller_wants_as_tensors_are(self):
        self.tensor(allow_is_causal_skip=False)
        packed = masking_utils.packed_sequence_mask_function(torch.tensor([[0] * 5 + [1] * 7] * 2))
        self.tensor(mask_function=packed, allow_is_causal_skip=False, q_length=1, q_offset=11)

    def test_padding_that_no_query_sees_is_none(self):
        """Keys after the last query's own, and before the first query's window."""
        padded = torch.ones(2, 12).bool()
        padded[1, 9:] = False
        self.band(q_length=9, attention_mask=padded)
        padded = torch.ones(2, 12).bool()
        padded[1, :4] = False
        self.band(q_length=2, q_offset=10, attention_mask=padded, **self.window(3))

    def test_keys_that_a_mask_does_not_reach_are_not_seen(self):
        """A cache of 16 keys, of which 12 are written."""
        written = torch.ones(2, 12).bool()
        self.band(kv_length=16, attention_mask=written, **self.window(3))
        got, want = self.mask(kv_length=16, attention_mask=written, **self.window(3, both=True))
        self.assertTrue(torch.equal(got.clone(), want))

    def test_they_are_tensors_for_everything_else(self):
        got, want = self.band(**self.window(3))
        for function in (lambda m: m[:, :, 2:7, :5], lambda m: m.logical_not(), lambda m: m & torch.eye(12).bool(),
                         lambda m: torch.where(m, 0.0, -1.0), lambda m: m.float().sum(), lambda m: m.to("cpu").any(-1)):
            self.assertTrue(torch.equal(function(got), function(want)))
            self.assertIs(type(function(got)), torch.Tensor)
        self.assertEqual((got.shape, got.dtype, got.device), (want.shape, want.dtype, want.device))

    def test_a_slice_of_all_of_it_has_no_memory(self):
        got, _ = self.band(**self.window(3))
        self.assertEqual(got[:, :, :, :12].rule, got.rule)
        self.assertFalse(got.has_memory)

    def test_one_that_is_written_to_is_what_was_written(self):
        got, want = self.band(**self.window(3))
        got[1, :, :, 4] = False
        self.assertIsNone(got.rule)
        expected = want.clone()
        expected[1, :, :, 4] = False
        self.assertTrue(torch.equal(got.clone(), expected))
        self.close(self.attention(mask=got), self.exact(self.q, self.k, expected).nan_to_num())

    def test_they_fall_back_as_tensors(self):
        got, want = self.band(**self.window(3))
        q, k = self.q.float(), self.k.float()
        with self.assertLogs("attn", "WARNING"):
            out = self.attention(q, k, k, mask=got, fallback=True)
        self.close(out, self.exact(q, k, want))


if __name__ == "__main__":
    unittest.main()
