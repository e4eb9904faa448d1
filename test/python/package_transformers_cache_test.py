# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of transformers with the implementation "attn" where queries and keys do not
start together: caches of each kind, packed batches, and masks of users. On the simulator."""

import unittest

import package_support  # finds the package
from package_torch_test import TorchTest, torch

import attn

try:
    import transformers
    from package_families import FAMILIES, tokens
except ImportError:
    transformers = None


class Caches(TorchTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if transformers is None:
            raise unittest.SkipTest("transformers is not installed")
        attn.register_with_transformers(fallback=False)

    @classmethod
    def tearDownClass(cls):
        attn.register_with_transformers()

    def compare(self, run, families=("Llama", "Mistral", "Gemma 2")):
        """The logits that `run` returns of a model, against the model in float32."""
        for name in families:
            family = FAMILIES[name]
            with self.subTest(name):
                exact, usual, got = (run(family.model(*how)).double()
                                     for how in (("eager", torch.float32), ("sdpa",), ("attn",)))
                of_torch, of_attn = ((each - exact).square().mean().sqrt().item() for each in (usual, got))
                self.assertLessEqual(of_attn, 1.1 * of_torch + 1e-3 * exact.square().mean().sqrt().item())

    def in_parts(self, model, cache):
        """The logits of 24 tokens that come in parts, each on top of the cache."""
        ids, logits = tokens(24), []
        for start, stop in ((0, 9), (9, 15), (15, 16), (16, 24)):
            logits.append(model(ids[:, start:stop], past_key_values=cache, use_cache=True).logits)
        return torch.cat(logits, 1)

    def test_a_cache_that_grows(self):
        """Windows of 7 keys drop the others between the parts."""
        self.compare(lambda model: self.in_parts(model, transformers.DynamicCache(config=model.config)))

    def test_a_cache_without_windows(self):
        """All keys stay, so that those before a window come to attention."""
        self.compare(lambda model: self.in_parts(model, transformers.DynamicCache()), families=("Llama", "Mistral"))

    def test_a_cache_of_a_fixed_size(self):
        self.compare(lambda model: self.in_parts(model, transformers.StaticCache(model.config, max_cache_len=40)))

    def test_packed_sequences(self):
        """Positions that start again tell them apart, where there is no cache."""
        def run(model):
            positions = torch.cat([torch.arange(11), torch.arange(13)]).expand(2, -1)
            return model(tokens(24), position_ids=positions, use_cache=False).logits

        self.compare(run)

    def test_packed_sequences_do_not_see_one_another(self):
        model = FAMILIES["Mistral"].model("attn")
        positions = torch.cat([torch.arange(11), torch.arange(13)]).expand(2, -1)
        ids, other = tokens(24), tokens(24)
        other[:, :11] = tokens(11, seed=4)
        first, second = (model(each, position_ids=positions, use_cache=False).logits[:, 11:] for each in (ids, other))
        self.assertTrue(torch.equal(first, second))

    def test_a_mask_of_the_user(self):
        mask = torch.ones(24, 24).tril().bool().expand(2, 1, -1, -1).clone()
        mask[:, :, 5:, 3] = False
        floats = torch.zeros(mask.shape).masked_fill(~mask, -1e9)

        def run(model):
            eager = model.config._attn_implementation == "eager"
            return model(tokens(24), attention_mask=floats if eager else mask, use_cache=False).logits

        self.compare(run, families=("Llama", "Mistral"))

    def test_a_decoder_that_sees_to_both_sides(self):
        def run(model):
            model.config.is_causal = False
            return model(tokens(24), use_cache=False, is_causal=False).logits

        self.compare(run, families=("Llama", "Mistral"))


if __name__ == "__main__":
    unittest.main()
