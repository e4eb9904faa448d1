# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package on a GPU, with torch: against double precision, on streams and
under graph capture."""

import json
import os
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(os.path.dirname(TEST), "python")]
import hardware
import numerics
from bundles import BUILD

try:
    import torch
    from torch.nn.functional import scaled_dot_product_attention
except ImportError:
    torch = None

if "sm_90" in hardware.gpus() and torch is not None:
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.join(BUILD, "lib"))
    import attn
    from attn._executable import Executable


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
@unittest.skipIf(torch is None, "needs a GPU of architecture sm_90 with torch")
class Package(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.addCleanup(torch.set_grad_enabled, torch.is_grad_enabled())
        torch.set_grad_enabled(False)

    def normal(self, *shape, dtype=None):
        return torch.randn(*shape, device="cuda").to(dtype or torch.bfloat16)

    def close(self, got, want):
        eps = torch.finfo(got.dtype).eps
        self.assertLessEqual((got.double() - want).abs().max().item(), 2 * eps * (1 + want.abs().max().item()))

    def test_sdpa(self):
        for heads, rows, columns, dim in ((8, 1000, 1000, 128), (4, 77, 530, 64), (4, 1, 300, 256)):
            q, k, v = (self.normal(2, h, n, dim) for h, n in ((heads, rows), (2, columns), (2, columns)))
            mask = torch.rand(2, 1, rows, columns, device="cuda") > 0.2
            for arguments in (dict(), dict(is_causal=True), dict(attn_mask=mask), dict(attn_mask=mask.float())):
                got = attn.sdpa(q, k, v, enable_gqa=True, **arguments)
                arguments = {n: x.double() if n == "attn_mask" and x.is_floating_point() else x for n, x in arguments.items()}
                want = scaled_dot_product_attention(q.double(), k.double(), v.double(), enable_gqa=True, **arguments)
                self.close(got, want)

    def test_shapes_that_come_again_on_other_memory(self):
        kernel, kept = attn.compile(head_dim=128, mask="causal_bottom_right"), []
        for step in range(24):
            length = (77, 300, 1500)[step % 3]
            q, k, v = self.normal(2, length, 8, 128), self.normal(2, 1600, 2, 128), self.normal(2, 1600, 2, 128)
            given = dict(out=torch.empty_like(q), lse=torch.empty(2, 8, length, device="cuda")) if step % 2 else {}
            stream = torch.cuda.Stream() if step % 5 == 4 else torch.cuda.current_stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                kept.append((q, k, v, *kernel(q, k, v, **given)))
        torch.cuda.synchronize()
        plan = json.loads(Executable.get(kernel.problem.to_ir()).bundle.plan())
        bounds = [numerics.Bounds(variant) for variant in plan["variants"]]
        for q, k, v, out, lse in kept:
            allow = torch.ones(q.shape[1], 1600, dtype=torch.bool, device="cuda").tril(1600 - q.shape[1])
            q, k, v = (x.transpose(1, 2).double() for x in (q, k, v))
            self.close(out.transpose(1, 2), scaled_dot_product_attention(q, k, v, attn_mask=allow, enable_gqa=True))
            scores = (q @ k.repeat_interleave(4, 1).transpose(2, 3) / 128**0.5).masked_fill(~allow, -torch.inf)
            want, size = scores.logsumexp(-1), (q.norm(dim=-1).max() * k.norm(dim=-1).max()).item() / 128**0.5
            worst = max(each.of_lse(want.abs().max().item(), 1600, size) for each in bounds)
            self.assertLess((lse - want).abs().max().item(), worst)

    def test_streams_do_not_share_workspaces(self):
        q = self.normal(4, 2048, 8, 128)
        want = attn.flash_attn_func(q, q, q, causal=True)
        streams = [torch.cuda.Stream() for _ in range(4)]
        torch.cuda.synchronize()
        results = []
        for n in range(20):
            with torch.cuda.stream(streams[n % 4]):
                results.append(attn.flash_attn_func(q, q, q, causal=True))
        torch.cuda.synchronize()
        for result in results:
            self.assertTrue(torch.equal(result, want))

    def test_threads_on_streams_of_their_own(self):
        problems = [self.normal(2, 100 + 150 * n, 8, 128) for n in range(8)]
        wants = [attn.flash_attn_func(q, q, q, causal=True) for q in problems]
        streams = [torch.cuda.Stream() for _ in problems]
        torch.cuda.synchronize()
        results = [[] for _ in problems]
        start = threading.Barrier(len(problems))

        def launch(n):
            torch.set_grad_enabled(False)
            start.wait()
            with torch.cuda.stream(streams[n]):
                for _ in range(50):
                    results[n].append(attn.flash_attn_func(problems[n], problems[n], problems[n], causal=True))

        threads = [threading.Thread(target=launch, args=(n,)) for n in range(len(problems))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.cuda.synchronize()
        for found, want in zip(results, wants):
            self.assertEqual(len(found), 50)
            for result in found:
                self.assertTrue(torch.equal(result, want))

    def test_threads_that_make_the_first_launch_together(self):
        q = self.normal(1, 300, 4, 104)
        results, start = [None] * 8, threading.Barrier(8)

        def launch(n):
            torch.set_grad_enabled(False)
            start.wait()
            with torch.cuda.stream(torch.cuda.Stream()):
                results[n] = attn.flash_attn_func(q, q, q)
                torch.cuda.current_stream().synchronize()

        torch.cuda.synchronize()
        threads = [threading.Thread(target=launch, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        want = scaled_dot_product_attention(*(3 * [q.transpose(1, 2).double()])).transpose(1, 2)
        for result in results:
            self.close(result, want)
            self.assertTrue(torch.equal(result, results[0]))

    def test_fork_after_import(self):
        """A process that has compiled but not used its GPU forks; both then use theirs."""
        script = """if True:
            import os, torch, attn
            attn.compile(head_dim=128, dtype="bf16")
            child = os.fork()
            torch.set_grad_enabled(False)
            for dim in (128, 120):
                q = torch.randn(1, 4, 100, dim, device="cuda").bfloat16()
                want = torch.nn.functional.scaled_dot_product_attention(q.double(), q.double(), q.double())
                assert (attn.sdpa(q, q, q).double() - want).abs().max() < 0.05
            if child:
                assert os.waitpid(child, 0)[1] == 0, "the child failed"
            os._exit(0)
            """
        subprocess.run([sys.executable, "-c", script], check=True, timeout=120,
                       env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    def test_a_first_launch_under_capture_says_what_to_do(self):
        q = self.normal(1, 128, 2, 112)
        kernel = attn.compile(head_dim=112)
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with self.assertRaisesRegex(attn.AttnError, "prepare"):
            with torch.cuda.graph(graph):
                kernel(q, q, q)
        kernel.prepare()
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            kernel(q, q, q)

    def test_graph_capture(self):
        q = self.normal(2, 512, 8, 128)
        attn.flash_attn_func(q, q, q, causal=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = attn.flash_attn_func(q, q, q, causal=True)
        for _ in range(3):
            q.copy_(self.normal(2, 512, 8, 128))
            graph.replay()
            self.assertTrue(torch.equal(out, attn.flash_attn_func(q, q, q, causal=True)))

    def test_score_and_mask_functions(self):
        q = self.normal(2, 8, 700, 128, dtype=torch.float16)
        slopes, ids = torch.rand(8, device="cuda"), torch.randint(0, 3, (2, 700), device="cuda").sort().values
        kernel = attn.compile(head_dim=128, dtype="f16", layout="bhsd", score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i),
                              mask_mod=lambda b, h, i, j: ids[b, i] == ids[b, j])
        i, j = torch.arange(700, device="cuda")[:, None], torch.arange(700, device="cuda")
        scores = q.double() @ q.double().transpose(-1, -2) / 128**0.5 + slopes.double()[:, None, None] * (j - i)
        allow = (ids[:, :, None] == ids[:, None])[:, None]
        self.close(kernel(q, q, q)[0], scores.masked_fill(~allow, -torch.inf).softmax(-1) @ q.double())

    def test_torch_compile(self):
        compiled = torch.compile(lambda q: attn.sdpa(q, q, q, is_causal=True) * 2, fullgraph=True, dynamic=True)
        for length in (128, 200, 333):
            q = self.normal(1, 4, length, 64)
            self.assertTrue(torch.equal(compiled(q), attn.sdpa(q, q, q, is_causal=True) * 2))


if __name__ == "__main__":
    unittest.main()
