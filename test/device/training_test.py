# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models train on a GPU as they do with torch's attention, eager and compiled: a causal one with grouped heads, as
Llama, and one of image patches, as ViT."""

import os
import statistics
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "python")]
import hardware
from package_torch_test import TorchTest, torch

HAS_GPU = "sm_90" in hardware.gpus()
if torch is not None:
    import attn
    from torch import nn
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import cross_entropy, scaled_dot_product_attention

    BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}

    class Block(nn.Module):
        """Attention and a perceptron. `attend` has the arguments of torch's function."""

        def __init__(self, attend, width, heads, kv_heads, is_causal):
            super().__init__()
            self.attend, self.heads, self.kv_heads, self.is_causal = attend, heads, kv_heads, is_causal
            self.dim = width // heads
            self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
            self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * self.dim, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

        def forward(self, x):
            y = self.qkv(self.norms[0](x)).unflatten(-1, (-1, self.dim)).transpose(1, 2)
            q, k, v = y.split((self.heads, self.kv_heads, self.kv_heads), 1)
            y = self.attend(q, k, v, is_causal=self.is_causal, enable_gqa=True)
            x = x + self.out(y.transpose(1, 2).flatten(2))
            return x + self.mlp(self.norms[1](x))

    class Language(nn.Module):
        """Predicts the next token of sequences that repeat after a while."""

        SHAPE = 8, 384

        def __init__(self, attend):
            super().__init__()
            self.tokens, self.positions = nn.Embedding(64, 512), nn.Embedding(self.SHAPE[1], 512)
            self.blocks = nn.Sequential(*(Block(attend, 512, 8, 2, True) for _ in range(3)))
            self.head = nn.Linear(512, 64)

        def batch(self):
            words = torch.randint(0, 64, (self.SHAPE[0], 24), device="cuda")
            return words.repeat(1, self.SHAPE[1] // 24 + 1)[:, :self.SHAPE[1] + 1]

        def forward(self, ids):
            places = torch.arange(self.SHAPE[1], device=ids.device)
            logits = self.head(self.blocks(self.tokens(ids[:, :-1]) + self.positions(places)))
            return cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())

    class Images(nn.Module):
        """Finds which of ten patterns is under noise, from 197 patches."""

        def __init__(self, attend):
            super().__init__()
            self.patch, self.positions = nn.Linear(48, 384), nn.Embedding(197, 384)
            self.blocks = nn.Sequential(*(Block(attend, 384, 6, 6, False) for _ in range(3)))
            self.head = nn.Linear(384, 10)
            self.register_buffer("patterns", torch.randn(10, 197, 48, generator=torch.Generator().manual_seed(3)))

        def batch(self):
            labels = torch.randint(0, 10, (64,), device="cuda")
            return self.patterns[labels] * 0.3 + torch.randn(64, 197, 48, device="cuda"), labels

        def forward(self, batch):
            images, labels = batch
            x = self.blocks(self.patch(images) + self.positions.weight)
            return cross_entropy(self.head(x.mean(1)).float(), labels)


STEPS, SMOOTHED = 200, 20


def train(model_class, attend, compiled, seed):
    """Returns the losses, averaged over a few steps, and the peak of memory in bytes."""
    torch.manual_seed(seed)
    model = model_class(attend).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    step = torch.compile(model, fullgraph=True) if compiled else model
    torch.manual_seed(100 + seed)
    losses = []
    torch.cuda.reset_peak_memory_stats()
    for _ in range(STEPS):
        batch = model.batch()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = step(batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    losses = torch.stack(losses).tolist()
    smooth = [statistics.mean(losses[n:n + SMOOTHED]) for n in range(0, STEPS, SMOOTHED)]
    return smooth, torch.cuda.max_memory_allocated()


@unittest.skipUnless(HAS_GPU, "needs a GPU of architecture sm_90")
class Training(TorchTest):
    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)

    def check(self, model_class, compiled):
        curves, memory = {}, {}
        for name, backend in BACKENDS.items():
            with sdpa_kernel(backend):
                curves[name], memory[name] = train(model_class, scaled_dot_product_attention, False, 1)
        if compiled:  # which changes roundings, too
            torch._dynamo.reset()
            with sdpa_kernel(BACKENDS["flash"]):
                curves["compiled"], memory["flash"] = train(model_class, scaled_dot_product_attention, True, 1)
        torch._dynamo.reset()
        got, memory["attn"] = train(model_class, attn.sdpa, compiled, 1)
        torchs = list(zip(*curves.values()))
        spread = max(max(losses) - min(losses) for losses in torchs)
        apart = max(abs(loss - statistics.mean(losses)) for loss, losses in zip(got, torchs))
        print(f"{model_class.__name__} {'compiled' if compiled else 'eager'}: loss {got[0]:.3f} to {got[-1]:.3f}, {apart:.4f} from torch's, "
              f"whose backends spread over {spread:.4f}; MiB at most " +
              ", ".join(f"{name} {size / 2**20:.0f}" for name, size in memory.items()), flush=True)
        self.assertLess(got[-1], 0.8 * got[0])
        self.assertLessEqual(apart, 2 * spread)
        self.assertLessEqual(memory["attn"], 1.05 * memory["flash"])

    def test_language(self):
        self.check(Language, compiled=False)

    def test_language_compiled(self):
        self.check(Language, compiled=True)

    def test_images(self):
        self.check(Images, compiled=False)

    def test_images_compiled(self):
        self.check(Images, compiled=True)


if __name__ == "__main__":
    unittest.main()
