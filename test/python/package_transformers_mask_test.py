# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The masks of transformers that attn evaluates in kernels: padding, chunks, packed sequences, blocks
and functions of users. They are those of transformers' "sdpa", element by element, and need no memory.
On the simulator."""

import itertools
import unittest
from unittest import mock

import package_support  # finds the package
from package_transformers_door_test import DoorTest, masking_utils, torch, transformers

import attn
from attn import _capi, _mask_function
from attn._executable import Executable

# Queries, keys before them, those of these that a cache dropped, and room for later ones.
AT_START, ON_CACHE, DROPPED, WITH_ROOM, ONE = (12, 0, 0, 0), (5, 7, 0, 0), (5, 7, 3, 0), (4, 4, 0, 4), (1, 11, 2, 0)


def documents(*lengths):
    return torch.cat([torch.full((length,), n) for n, length in enumerate(lengths)])


class MaskTest(DoorTest):
    def call(self, function, where=AT_START, padding=None, **others):
        rows, past, dropped, room = where
        return dict(batch_size=2, q_length=rows, kv_length=past - dropped + rows + room, q_offset=past, kv_offset=dropped,
                    device="cpu", mask_function=function, attention_mask=padding, **others)

    def padding(self, kind, length):
        mask = torch.ones(2, length).bool()
        mask[1, {"left": slice(0, 5), "right": slice(length - 2, length), "gaps": slice(3, 5)}[kind]] = False
        return mask

    def mask(self, call):
        from attn._transformers_mask import attention_mask

        return attention_mask(**call)

    def check(self, call, **options):
        """Compares the mask with that of transformers, element by element, and what attn computes
        with it before it has memory."""
        want = masking_utils.sdpa_mask(**{**call, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False})
        got = self.mask(call)
        self.assertIsInstance(got.rule, _mask_function.MaskFunction)
        q, k = self.normal(2, 4, call["q_length"], 32), self.normal(2, 2, call["kv_length"], 32)
        out = self.attention(q, k, k, mask=got, **options)
        self.assertFalse(got.has_memory)
        cap = options.get("softcap")
        score = (lambda s: cap * torch.tanh(s / cap)) if cap else (lambda s: s)
        self.close(out, self.exact(q, k, want, score).nan_to_num())
        self.assertTrue(torch.equal(got.clone(), want))
        return got

    def chunks(self, size=4):
        return masking_utils.chunked_causal_mask_function(size, torch.tensor([0, 3]))

    def packed(self, function=None):
        same = masking_utils.packed_sequence_mask_function(torch.stack([documents(5, 7), documents(9, 3)]))
        return masking_utils.and_masks(function or masking_utils.causal_mask_function, same)


class Kinds(MaskTest):
    def test_padding_of_causal_masks(self):
        for kind, where in (("left", AT_START), ("right", AT_START), ("gaps", AT_START), ("left", ON_CACHE), ("left", ONE),
                            ("gaps", WITH_ROOM)):
            self.check(self.call(masking_utils.causal_mask_function, where, self.padding(kind, where[0] + where[1])))

    def test_a_batch_of_padding_alone(self):
        padding = torch.ones(2, 12).bool()
        padding[1] = False
        self.check(self.call(masking_utils.causal_mask_function, padding=padding))

    def test_padding_of_windows(self):
        window = masking_utils.sliding_window_causal_mask_function(9)
        for kind, where in (("left", AT_START), ("left", DROPPED)):
            self.check(self.call(window, where, self.padding(kind, where[0] + where[1])))

    def test_padding_of_encoders(self):
        skip = dict(allow_is_causal_skip=False, allow_is_bidirectional_skip=True)
        self.check(self.call(masking_utils.bidirectional_mask_function, padding=self.padding("right", 12), **skip))

    def test_windows_to_both_sides_with_padding(self):
        skip = dict(allow_is_causal_skip=False, allow_is_bidirectional_skip=True)
        self.check(self.call(masking_utils.sliding_window_bidirectional_mask_function(3), padding=self.padding("right", 12), **skip))

    def test_chunks(self):
        for where, padding in ((AT_START, None), (DROPPED, None), (AT_START, "left"), (ONE, "left")):
            padding = padding and self.padding(padding, where[0] + where[1])
            self.check(self.call(self.chunks(), where, padding, local_size=4))
        self.check(self.call(self.chunks(5)))

    def test_short_chunks_are_causal(self):
        call = self.call(masking_utils.chunked_causal_mask_function(64, torch.zeros(2, dtype=int)), local_size=64)
        self.assertIsNone(self.mask(call))

    def test_packed_sequences(self):
        self.check(self.call(self.packed(), allow_is_causal_skip=False))
        self.check(self.call(self.packed(masking_utils.sliding_window_causal_mask_function(4)), ON_CACHE,
                             allow_is_causal_skip=False))

    def test_blocks(self):
        blocks = torch.tensor([[-1] * 3 + [0] * 4 + [-1] + [1] * 4, [0] * 3 + [-1] * 9])
        function = masking_utils.or_masks(masking_utils.causal_mask_function, masking_utils.blockwise_overlay(blocks))
        self.check(self.call(function, allow_is_causal_skip=False))

    def test_functions_of_users(self):
        shown = torch.rand(12, 12) > 0.5
        for where in (AT_START, ON_CACHE):
            function = masking_utils.or_masks(masking_utils.causal_mask_function, lambda b, h, q, kv: shown[q, kv] & (h == 0))
            self.check(self.call(function, where, allow_is_causal_skip=False, use_vmap=True))

    def test_a_soft_cap(self):
        self.check(self.call(masking_utils.causal_mask_function, padding=self.padding("left", 12)), softcap=2.0)


class Found(MaskTest):
    """The compiler finds the keys of each query."""

    def found(self, call):
        from attn._ir import Problem

        described = self.mask(call).rule.described
        (trace, _, allow), _ = _mask_function._traced(described, None)
        text = _capi.explain(Problem("bf16", 32, 32, captures=trace.signature(), allow=allow).to_ir(), "sm_90a")
        return text.splitlines()[0]

    def test_intervals(self):
        causal, window = masking_utils.causal_mask_function, masking_utils.sliding_window_causal_mask_function(9)
        for function, where in itertools.product((causal, window, self.chunks(), self.chunks(5)), (AT_START, DROPPED)):
            line = self.found(self.call(function, where, self.padding("left", where[0] + where[1])))
            self.assertRegex(line, r"infer-mask: Mask=row_keys, keys from min\(.* to min\(.*i \+ .*capture")
            self.assertNotIn("Staying", line)

    def test_the_rest_stays_beside_an_interval(self):
        line = self.found(self.call(self.packed(), allow_is_causal_skip=False))
        self.assertIn("Mask=causal_top_left; Staying=", line)
        line = self.found(self.call(masking_utils.causal_mask_function, padding=self.padding("gaps", 12)))
        self.assertIn("Mask=row_keys", line)
        self.assertIn("Staying=tensor.extract", line)


class Costs(MaskTest):
    def test_layers_share_a_trace_and_later_passes_need_none(self):
        from attn import _trace

        _mask_function._traced_form.cache_clear()
        with mock.patch.object(_mask_function, "regions_of", side_effect=_trace.regions_of) as traces:
            for length in (12, 9):
                got = self.mask(self.call(masking_utils.causal_mask_function, (length, 0, 0, 0), self.padding("left", length)))
                q, k = self.normal(2, 4, length, 32), self.normal(2, 2, length, 32)
                for _ in range(3):
                    self.attention(q, k, k, mask=got)
        self.assertEqual(traces.call_count, 1)

    def test_users_functions_are_traced_once_a_pass(self):
        from attn import _trace

        function = masking_utils.or_masks(masking_utils.causal_mask_function, lambda b, h, q, kv: kv < 2)
        with mock.patch.object(_mask_function, "regions_of", side_effect=_trace.regions_of) as traces:
            got = self.mask(self.call(function, allow_is_causal_skip=False, use_vmap=True))
            for _ in range(3):
                self.attention(mask=got)
        self.assertEqual(traces.call_count, 1)

    def test_other_lengths_offsets_and_padding_compile_nothing(self):
        counts = []
        for past, cut in ((7, 2), (8, 3), (11, 1)):
            padding = torch.ones(2, past + 5).bool()
            padding[0, :cut] = False
            got = self.mask(self.call(self.chunks(), (5, past, 0, 0), padding))
            q, k = self.normal(2, 4, 5, 32), self.normal(2, 2, past + 5, 32)
            self.attention(q, k, k, mask=got)
            self.assertFalse(got.has_memory)
            counts.append(Executable.count())
        self.assertEqual(len(set(counts)), 1)


class Fallbacks(MaskTest):
    """Masks become tensors where no kernel evaluates them, with the same results."""

    def padded(self):
        call = self.call(masking_utils.causal_mask_function, padding=self.padding("left", 12))
        return self.mask(call), masking_utils.sdpa_mask(**call)

    def test_element_types_that_attn_refuses(self):
        got, want = self.padded()
        with self.assertLogs("attn", "WARNING"):
            out = self.attention(self.q.float(), self.k.float(), self.k.float(), mask=got, fallback=True)
        self.close(out, self.exact(self.q, self.k, want).nan_to_num())

    def test_position_biases(self):
        got, want = self.padded()
        bias = torch.randn(1, 4, 12, 12)
        out = self.attention(mask=got, position_bias=bias)
        self.close(out, self.exact(self.q, self.k, want, lambda s: s + bias.double()).nan_to_num())

    def test_scales_that_are_negative(self):
        got, want = self.padded()
        out = self.attention(mask=got, scaling=-(32**-0.5))
        self.close(out, self.exact(self.q, self.k, want, lambda s: -s).nan_to_num())

    def test_functions_that_no_kernel_computes(self):
        def function(b, h, q, kv):
            return torch.cumsum(torch.stack([q, kv]), 0)[1] < 9

        call = self.call(masking_utils.and_masks(masking_utils.causal_mask_function, function), allow_is_causal_skip=False,
                         use_vmap=True)
        got, want = self.mask(call), masking_utils.sdpa_mask(**call)
        self.close(self.attention(mask=got), self.exact(self.q, self.k, want).nan_to_num())

    def test_tensors_that_are_too_short(self):
        function = masking_utils.packed_sequence_mask_function(torch.zeros(2, 9, dtype=int))
        with self.assertRaises((IndexError, RuntimeError)):
            self.mask(self.call(function, allow_is_causal_skip=False))

    def test_parts_of_a_mask(self):
        got, want = self.padded()
        self.close(self.attention(self.q[:1], self.k[:1], self.k[:1], mask=got[:1]),
                   self.exact(self.q[:1], self.k[:1], want[:1]).nan_to_num())

    def test_one_that_is_written_to(self):
        got, want = self.padded()
        got[0, :, :, 4] = False
        want = want.clone()
        want[0, :, :, 4] = False
        self.assertIsNone(got.rule)
        self.close(self.attention(mask=got), self.exact(self.q, self.k, want).nan_to_num())


class Models(DoorTest):
    def test_no_mask_of_a_model_has_memory(self):
        """A prompt and a token on a cache, padded on the left, of windows, chunks and all keys."""
        from package_families import FAMILIES, tokens

        from attn import _transformers_mask

        attn.register_with_transformers(fallback=False)
        self.addCleanup(attn.register_with_transformers)
        made, lazy = [], _transformers_mask._lazy

        def keep(*arguments):
            made.append(lazy(*arguments))
            return made[-1]

        padding = torch.ones(2, 13).long()
        padding[1, :5] = 0
        with mock.patch.object(_transformers_mask, "_lazy", keep), \
                mock.patch.object(masking_utils, "sdpa_mask", side_effect=AssertionError("a mask was made")):
            for name in ("Llama 4", "Mistral"):
                model = FAMILIES[name].model("attn")
                cache = transformers.DynamicCache(config=model.config)
                model(tokens(12), attention_mask=padding[:, :12], past_key_values=cache, use_cache=True)
                model(tokens(1), attention_mask=padding, past_key_values=cache, use_cache=True)
        self.assertGreater(len(made), 3)
        self.assertFalse(any(mask.has_memory for mask in made))


if __name__ == "__main__":
    unittest.main()
