# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of transformers with random weights give the same logits through
attn as through torch, on the simulator."""

import contextlib
import copy
import unittest
import warnings

import package_support  # finds the package

import attn

try:
    import torch
    import torch._dynamo.testing
    import transformers
except ImportError:
    transformers = None

SIZES = dict(vocab_size=64, hidden_size=128, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2)


class ModelRules(unittest.TestCase):
    """Runs models on `DEVICE`, and compiled by torch with `BACKEND`."""

    DEVICE, BACKEND = "cpu", "aot_eager"

    @classmethod
    def setUpClass(cls):
        if transformers is None:
            raise unittest.SkipTest("torch or transformers is not installed")

    def setUp(self):
        torch.manual_seed(5)
        stack = contextlib.ExitStack()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # those of torch, about the machine and itself
        # Where it finds units for bf16 that the machine hides, oneDNN dies of them.
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        stack.enter_context(torch.no_grad())
        self.addCleanup(stack.close)

    def logits(self, model, ids, mask):
        """The logits of a prompt and of two further tokens, each on top of the cache."""
        found = model(ids[:, :-2], attention_mask=mask[:, :-2], use_cache=True)
        logits, cache = [found.logits], found.past_key_values
        for n in (-2, -1):
            seen = mask[:, :mask.shape[1] + n + 1]
            found = model(ids[:, n:n + 1 or None], attention_mask=seen, past_key_values=cache, use_cache=True)
            logits.append(found.logits)
        return torch.cat(logits, 1)[mask.bool()]

    def model(self, name, **sizes):
        config = getattr(transformers, name + "Config")(**{**SIZES, **sizes})
        return getattr(transformers, name + "ForCausalLM")(config).to(self.DEVICE, torch.bfloat16).eval()

    def close(self, got, want):
        self.assertLessEqual((got - want).abs().max().item(), 0.02 * want.abs().max().item())

    def compare(self, name, **sizes):
        model = self.model(name, **sizes)
        ids = torch.randint(0, 64, (2, 24), device=self.DEVICE)
        padded = torch.ones_like(ids)
        padded[1, :5] = 0
        attn.register_with_transformers()
        for mask in (torch.ones_like(ids), padded):
            model.set_attn_implementation("sdpa")
            want = self.logits(model, ids, mask)
            with attn.routed(fallback=False) as calls:
                routed = self.logits(model, ids, mask)
            self.assertEqual(calls.served, 6)
            model.set_attn_implementation("attn")
            for got in (routed, self.logits(model, ids, mask)):
                self.close(got, want)

    def compare_compiled(self, name, **sizes):
        """The same under torch.compile: no graph break, and nothing compiled for new lengths."""
        model = self.model(name, **sizes)
        attn.register_with_transformers()
        torch._dynamo.reset()
        counter = torch._dynamo.testing.CompileCounterWithBackend(self.BACKEND)
        compiled = torch.compile(lambda ids: model(ids, use_cache=False).logits, backend=counter, fullgraph=True,
                                 dynamic=True)
        prompts = [torch.randint(0, 64, (2, length), device=self.DEVICE) for length in (16, 24, 57)]
        model.set_attn_implementation("sdpa")
        wants = [model(ids, use_cache=False).logits for ids in prompts]
        model.set_attn_implementation("attn")
        frames = []
        for ids, want in zip(prompts, wants):
            self.close(compiled(ids), want)
            frames.append(counter.frame_count)
        self.assertEqual(len(set(frames)), 1)


class Training(ModelRules):
    """The gradients of a model's parameters are as near to those in float32 as with torch's attention."""

    def gradients(self, model, implementation, ids, mask, compiled=False):
        model.set_attn_implementation(implementation)
        loss_of = lambda ids: model(ids, attention_mask=mask, labels=ids, use_cache=False).loss
        if compiled:
            torch._dynamo.reset()
            loss_of = torch.compile(loss_of, backend=self.BACKEND, fullgraph=True)
        with torch.enable_grad():
            return torch.autograd.grad(loss_of(ids), list(model.parameters()))

    def compare(self, name, is_padded, compiled=False, **sizes):
        model = self.model(name, **sizes).train()
        ids = torch.randint(0, 64, (2, 24), device=self.DEVICE)
        mask = torch.ones_like(ids)
        mask[1, :5] = not is_padded
        attn.register_with_transformers(fallback=False)
        exact = self.gradients(copy.deepcopy(model).float(), "sdpa", ids, mask)
        wanted, got = (self.gradients(model, name, ids, mask, compiled) for name in ("sdpa", "attn"))
        for right, want, found in zip(exact, wanted, got):
            error, limit = ((x.float() - right).norm().item() for x in (found, want))
            self.assertLessEqual(error, 1.5 * limit + 1e-3 * right.norm().item())

    def test_llama(self):
        self.compare("Llama", is_padded=False)

    def test_padding(self):
        self.compare("Llama", is_padded=True)

    def test_a_sliding_window(self):
        self.compare("Mistral", is_padded=False, sliding_window=7)

    def test_a_soft_cap(self):
        self.compare("Gemma2", is_padded=False, head_dim=32)

    def test_llama_compiled(self):
        self.compare("Llama", is_padded=False, compiled=True)


class Models(ModelRules):
    def test_llama(self):
        self.compare("Llama")

    def test_qwen(self):
        self.compare("Qwen3", head_dim=64, num_key_value_heads=1)

    def test_llama_compiled(self):
        self.compare_compiled("Llama")

    def test_qwen_compiled(self):
        self.compare_compiled("Qwen3", head_dim=64, num_key_value_heads=1)

    def test_a_sliding_window(self):
        self.compare("Mistral", sliding_window=7)


if __name__ == "__main__":
    unittest.main()
