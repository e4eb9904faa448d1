# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn.attention with what FlexAttention's users have: masks made of masks, BlockMasks,
captured tensors of all types, torch's functions. Against float64, on the simulator, or on
the device that ATTN_TEST_DEVICE names."""

import math
import os
import unittest
from unittest import mock

import package_support  # finds the package

import attn
from attn import _block_mask

try:
    import torch
    from torch.nn.attention import flex_attention as flex
except ImportError:
    torch = None

DEVICE = os.environ.get("ATTN_TEST_DEVICE", "cpu")
HEADS, QUERIES, KEYS = 2, 40, 50


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def window(b, h, q_idx, kv_idx):
    return (q_idx - kv_idx).abs() < 9


class FlexTest(unittest.TestCase):
    def setUp(self):
        if torch is None:
            self.skipTest("torch is not installed")
        self.addCleanup(torch.random.set_rng_state, torch.random.get_rng_state())
        self.addCleanup(torch.set_default_device, None)
        torch.manual_seed(3)
        torch.set_default_device(DEVICE)

    def tensors(self, batch=2, queries=QUERIES, keys=KEYS):
        return [torch.randn(batch, HEADS, length, 16).half() for length in (queries, keys, keys)]

    def close(self, got, want):
        self.assertLessEqual((got.double() - want).abs().max().item(), 4e-3 * max(1, want.abs().max().item()))

    def want(self, q, k, v, scores=None, mask=None):
        """The output in float64, of functions of scores and positions as dense tensors."""
        q, k, v = q.double(), k.double(), v.double()
        ids = [torch.arange(n).view([-1 if m == dim else 1 for m in range(4)]) for dim, n in
               enumerate((*q.shape[:3], k.shape[2]))]
        s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        s = scores(s, *ids).double() if scores else s
        s = s if mask is None else s.masked_fill(~mask(*ids), -math.inf)
        return s.softmax(-1).nan_to_num(0) @ v

    def check(self, score_mod=None, mask_mod=None, dense=None, dense_mask=None, **sizes):
        q, k, v = self.tensors(**sizes)
        self.close(attn.attention(q, k, v, score_mod, mask_mod), self.want(q, k, v, dense or score_mod, dense_mask or mask_mod))


class Masks(FlexTest):
    def test_masks_of_masks(self):
        documents = torch.arange(KEYS) // 13

        def same(b, h, q_idx, kv_idx):
            return documents[q_idx] == documents[kv_idx]

        dense = {
            flex.and_masks(causal, window): lambda b, h, i, j: causal(b, h, i, j) & window(b, h, i, j),
            flex.or_masks(causal, window): lambda b, h, i, j: causal(b, h, i, j) | window(b, h, i, j),
            flex.and_masks(causal, flex.or_masks(same, window)):
                lambda b, h, i, j: causal(b, h, i, j) & (same(b, h, i, j) | window(b, h, i, j)),
            flex.noop_mask: lambda b, h, i, j: (i >= 0) & (j >= 0),
            (lambda b, h, i, j: torch.tensor(True)): lambda b, h, i, j: (i >= 0) & (j >= 0),
        }
        for mask_mod, wanted in dense.items():
            self.check(mask_mod=mask_mod, dense_mask=wanted)

    def test_a_refusal_names_the_line_of_the_users_mask(self):
        def branches(b, h, q_idx, kv_idx):
            return q_idx > 3 if kv_idx > 3 else kv_idx > 2

        line = branches.__code__.co_firstlineno + 1
        with self.assertRaisesRegex(attn.TraceError, f"a branch on a computed value .* at package_flex_test.py:{line} "):
            attn.attention(*self.tensors(), mask_mod=flex.and_masks(causal, branches))

    def test_random_numbers(self):
        for draw in (lambda: torch.rand(()), lambda: torch.randint(0, 5, ()), lambda: torch.randn(3)[0],
                     lambda: torch.nn.functional.dropout(torch.ones(4))[0], lambda: torch.bernoulli(torch.full((), 0.5)),
                     lambda: torch.empty(()).uniform_()):
            with self.assertRaisesRegex(attn.TraceError, "a random number, at package_flex_test.py"):
                attn.attention(*self.tensors(), lambda s, b, h, i, j: s * draw())

    def test_conversions_to_where_another_is(self):
        table = torch.randn(HEADS, KEYS).bfloat16()
        self.check(lambda s, b, h, i, j: s + table[h, j].to(s.dtype) + j.to(table.device).type_as(s) / 50 +
                   table[h, j].to(device=i.device, dtype=torch.float32))

    def test_constants_made_in_the_function(self):
        self.check(lambda s, b, h, i, j: torch.where(i < j, s, torch.tensor(-2.5)) + torch.full_like(i, 0.5, dtype=torch.float32))


class BlockMasks(FlexTest):
    def block_mask(self, mask_mod, batch=None, heads=None, queries=QUERIES, keys=KEYS, block=16):
        return flex.create_block_mask(mask_mod, batch, heads, queries, keys, device=DEVICE, BLOCK_SIZE=block)

    def kernel_reads_blocks(self, block_mask, q, k):
        regions = _block_mask.regions_with_blocks(None, block_mask, q, k)
        return any(captured.name == "blocks" for captured in regions.trace.captures)

    def check_blocks(self, block_mask, dense, reads):
        q, k, v = self.tensors()
        self.assertEqual(self.kernel_reads_blocks(block_mask, q, k), reads)
        self.close(attn.attention(q, k, v, mask_mod=block_mask), self.want(q, k, v, mask=dense))

    def test_those_that_torch_makes_are_their_functions(self):
        lengths = torch.tensor([23, 41])
        for mask_mod, batch, heads in ((causal, None, None), (window, 2, HEADS), (flex.and_masks(causal, window), None, 1),
                                       (lambda b, h, i, j: j < lengths[b], 2, None),
                                       (lambda b, h, i, j: i + h * 7 >= j, None, HEADS)):
            for block in (16, (8, 32), 128):
                self.check_blocks(self.block_mask(mask_mod, batch, heads, block=block), mask_mod, False)

    def test_blocks_without_a_function(self):
        counts = torch.tensor([[[1, 2, 4]]], dtype=torch.int32)
        indices = torch.tensor([[[[2, 0, 0, 0], [3, 1, 0, 0], [0, 1, 2, 3]]]], dtype=torch.int32)
        mask = flex.BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=16, seq_lengths=(QUERIES, KEYS))
        seen = torch.tensor([[0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]], dtype=torch.bool)
        self.check_blocks(mask, lambda b, h, i, j: seen[i // 16, j // 16], True)

    def test_full_blocks_do_not_ask_the_function(self):
        partial, full = torch.tensor([[[1, 1, 1]]], dtype=torch.int32), torch.tensor([[[1, 1, 1]]], dtype=torch.int32)
        places = torch.tensor([[[[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]]]], dtype=torch.int32)
        mask = flex.BlockMask.from_kv_blocks(partial, places, full, places + 1, BLOCK_SIZE=16, mask_mod=causal,
                                             seq_lengths=(QUERIES, KEYS))
        self.check_blocks(mask, lambda b, h, i, j: ((j // 16 == i // 16) & (i >= j)) | (j // 16 == i // 16 + 1), True)

    def test_tables_that_were_edited(self):
        mask = self.block_mask(causal)
        self.check_blocks(mask, causal, False)
        mask.full_kv_num_blocks[..., 1] = 0
        self.check_blocks(mask, lambda b, h, i, j: (i >= j) & ~((i // 16 == 1) & (j // 16 == 0)), True)

    def test_a_function_whose_tensor_changed_since(self):
        limit = torch.tensor([20])
        mask = self.block_mask(lambda b, h, i, j: j < limit[0])
        self.check_blocks(mask, lambda b, h, i, j: (j < 20) & (i >= 0), False)
        limit += 20
        # The blocks are those of then.
        self.check_blocks(mask, lambda b, h, i, j: (j < 32) & (i >= 0), True)

    def test_blocks_of_one_head_hold_for_all(self):
        mask = self.block_mask(lambda b, h, i, j: j < 16 + 16 * h)
        self.check_blocks(mask, lambda b, h, i, j: (j < 16) & (i >= 0) & (h >= 0), True)

    def test_large_masks_are_read_rather_than_compared(self):
        with mock.patch.object(_block_mask, "_MAX_COMPARED", 100):
            self.check_blocks(self.block_mask(causal), causal, True)
        with mock.patch.object(_block_mask, "_COMPARED_AT_ONCE", 1000):
            self.check_blocks(self.block_mask(causal), causal, False)

    def test_a_mask_is_compared_once(self):
        q, k, _ = self.tensors()
        mask = self.block_mask(causal)
        bias = torch.zeros(HEADS)
        with mock.patch.object(_block_mask, "_compare", wraps=_block_mask._compare) as compare:
            for _ in range(3):
                bias += 1  # which is no part of the mask
                _block_mask.regions_with_blocks(lambda s, b, h, i, j: s + bias[h], mask, q, k)
        self.assertEqual(compare.call_count, 1)

    def test_inference_tensors(self):
        with torch.inference_mode():
            mask = self.block_mask(causal)
        self.check_blocks(mask, causal, True)

    def test_masks_for_other_sizes(self):
        q, k, v = self.tensors()
        for message, mask in (
                ("for 40 queries and 50 keys, got one for 40 and 48", self.block_mask(causal, keys=48)),
                ("for 40 queries and 50 keys, got one for 64 and 50", self.block_mask(causal, queries=64)),
                ("for 2 batches, got one for 3", self.block_mask(causal, batch=3)),
                ("for 2 heads, got one for 4", self.block_mask(causal, heads=4))):
            with self.subTest(message), self.assertRaisesRegex(attn.ArgumentError, message):
                attn.attention(q, k, v, mask_mod=mask)
        with self.assertRaisesRegex(attn.ArgumentError, "expected 'mask_mod' to be a function, got BlockMask"):
            attn.compile(head_dim=16, dtype="f16", mask_mod=self.block_mask(causal))

    def test_a_mask_that_was_cut(self):
        with self.assertRaisesRegex(RuntimeError, "mask_mod from a sliced BlockMask"):
            q, k, v = self.tensors()
            attn.attention(q, k, v, mask_mod=self.block_mask(causal)[0])


class Captures(FlexTest):
    def test_each_type_is_read_in_place(self):
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
                      torch.bfloat16, torch.float32, torch.float64):
            low = -3 if dtype not in (torch.bool, torch.uint8) else 0
            table = torch.randint(low, 4, (HEADS, KEYS)).to(dtype)
            with self.subTest(dtype), mock.patch.object(torch.Tensor, "to", side_effect=AssertionError("a copy")):
                self.check(lambda s, b, h, i, j: s + table[h, j])

    def test_packed_bits_of_64(self):
        bits = torch.randint(-2**63, 2**63 - 1, (QUERIES,))
        self.check(mask_mod=lambda b, h, i, j: ((bits[i] >> j) & 1) == 1)
        self.check(mask_mod=lambda b, h, i, j: ((1 << (j % 40)) & i) != 0, dense_mask=lambda b, h, i, j: (
            ((torch.ones((), dtype=torch.int32) << (j % 40).int()) & i.int()) != 0) & (b >= 0) & (h >= 0))

    def test_ids_that_differ_beyond_32_bits(self):
        ids = torch.randint(0, 2, (2, KEYS)) << 32
        self.check(mask_mod=lambda b, h, i, j: ids[b, i] == ids[b, j])

    def test_rounding_to_16_bits(self):
        for dtype in (torch.float16, torch.bfloat16):
            table = (torch.randn(KEYS) * 8).to(dtype)
            self.check(lambda s, b, h, i, j: (s * 100).to(dtype).float() / 100 - (table[j] * table[j] - table[j]),
                       lambda b, h, i, j: j >= 0,
                       dense=lambda s, b, h, i, j: (s.float() * 100).to(dtype).float() / 100 - (table[j] * table[j] - table[j]))

    def test_bytes_wrap_around(self):
        table = torch.randint(0, 256, (KEYS,), dtype=torch.uint8)
        self.check(mask_mod=lambda b, h, i, j: (table[j] + 100) < table[i])
        self.check(mask_mod=lambda b, h, i, j: (i * 40).to(torch.int8) < j)

    def test_choice_by_a_method(self):
        seen = torch.rand(QUERIES, KEYS) < 0.5
        self.check(mask_mod=lambda b, h, i, j: seen[i, j].where(i > j, j < 9))
        self.check(lambda s, b, h, i, j: s.where(seen[i, j], -1.0))

    def test_negative_indices_count_from_the_end(self):
        bias = torch.randn(QUERIES + KEYS)
        self.check(lambda s, b, h, i, j: s + bias[i - j] + bias[-1], lambda b, h, i, j: i >= 0)

    def test_indices_out_of_bounds_read_zero(self):
        bias = torch.randn(8)
        self.check(lambda s, b, h, i, j: s + bias[i - j],
                   dense=lambda s, b, h, i, j: s + torch.where((i - j).abs() < 8, bias[(i - j).clamp(-8, 7)], 0) +
                   torch.where(i - j == -8, bias[0], 0))

    def test_numbers_in_host_memory(self):
        with torch.device("cpu"):
            number, factor, wide = torch.tensor(7, dtype=torch.int16), torch.tensor(0.5, dtype=torch.bfloat16), torch.tensor(2**40)
            big = torch.tensor(2**60)
        self.check(lambda s, b, h, i, j: torch.where(i - j < number, s * factor, s) + (j + wide) / 2**40,
                   lambda b, h, i, j: j * wide > -1)
        with self.assertRaisesRegex(attn.ArgumentError, "'big' to be within 2.53, got 1152921504606846976"):
            attn.attention(*self.tensors(), lambda s, b, h, i, j: torch.where(j < big, s, 0.0))


if __name__ == "__main__":
    unittest.main()
