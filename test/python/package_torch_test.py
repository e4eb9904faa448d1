# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package with torch, on the simulator: torch's own samples of attention, its
checks of operators, torch.compile, and routing."""

import collections
import contextlib
import types
import unittest
import warnings

import package_support  # finds the package

import attn

try:
    import torch
    from torch import library as torch_library
    from torch._dynamo.testing import CompileCounter
    from torch.nn.functional import scaled_dot_product_attention
except ImportError:
    torch = None


class TorchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if torch is None:
            raise unittest.SkipTest("torch is not installed")

    def setUp(self):
        torch.manual_seed(3)
        stack = contextlib.ExitStack()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", UserWarning)  # of torch, about the machine
        # Where it finds units for bf16 that the machine hides, oneDNN dies of them.
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        stack.enter_context(torch.no_grad())
        self.addCleanup(stack.close)

    def normal(self, *shape, dtype=None):
        return torch.randn(*shape).to(dtype or torch.float16)

    def close(self, got, want):
        """`want` is in double precision."""
        self.assertEqual((got.shape, got.isnan().any().item()), (want.shape, False))
        eps = torch.finfo(got.dtype).eps
        limit = 2 * eps * (1 + want.abs().max().item()) if want.numel() else 0
        self.assertLessEqual((got.double() - want).abs().max().item() if want.numel() else 0, limit)


def in_double(arguments):
    return {name: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for name, value in arguments.items()}


TYPE = "expected 'query' to be bfloat16 or float16"


class SampleRules(TorchTest):
    """torch's samples of scaled_dot_product_attention on `DEVICE`: those of an unsupported element type are refused,
    and all others are right. Those with dropout are random, and right without it."""

    DEVICE = "cpu"

    def samples(self):
        """The element type and the arguments of each."""
        try:
            from torch.testing._internal.common_methods_invocations import op_db
        except ImportError as error:
            self.skipTest(f"torch's samples need a package: {error}")
        op = next(op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention")
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            for sample in op.sample_inputs(self.DEVICE, dtype):
                key, value = sample.args
                yield dtype, dict(query=sample.input, key=key, value=value, **sample.kwargs)

    def check_random(self, arguments):
        """The generator decides on the result."""
        results = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            results.append(attn.sdpa(**arguments))
        self.assertTrue(torch.equal(results[0], results[1]))
        self.assertFalse(torch.equal(results[0], results[2]))

    def tally(self):
        """How many samples went which way."""
        found = collections.Counter()
        for dtype, arguments in self.samples():
            rule = TYPE if dtype == torch.float32 else "random" if arguments.get("dropout_p") else "right"
            if rule != TYPE:
                if rule == "random":
                    self.check_random(arguments)
                    arguments["dropout_p"] = 0.0
                self.close(attn.sdpa(**arguments), scaled_dot_product_attention(**in_double(arguments)))
            else:
                with self.assertRaisesRegex(attn.UnsupportedError, rule):
                    attn.sdpa(**arguments)
            found[str(dtype)[6:], rule] += 1
        return found


class Samples(SampleRules):
    """docs/python.md has the same table."""

    def test_samples(self):
        self.assertEqual(self.tally(), {("bfloat16", "right"): 13, ("bfloat16", "random"): 12, ("float16", "right"): 13,
                                        ("float16", "random"): 12, ("float32", TYPE): 25})


class Semantics(TorchTest):
    def test_bfloat16_and_masks(self):
        q, k, v = (self.normal(2, h, n, 64, dtype=torch.bfloat16) for h, n in ((4, 20), (2, 33), (2, 33)))
        for mask in (None, torch.rand(2, 1, 20, 33) > 0.5, torch.randn(20, 33).bfloat16()):
            arguments = dict(query=q, key=k, value=v, attn_mask=mask, enable_gqa=True)
            self.close(attn.sdpa(**arguments), scaled_dot_product_attention(**in_double(arguments)))

    def test_masks_of_any_strides(self):
        q = self.normal(1, 2, 9, 64)
        for mask in (torch.randn(9, 9).t(), torch.randn(1, 9).expand(9, 9), torch.randn(9, 1).expand(9, 9),
                     torch.randn(9, 18)[:, ::2], (torch.rand(9, 9) > 0.3).t()):
            arguments = dict(query=q, key=q, value=q, attn_mask=mask)
            self.close(attn.sdpa(**arguments), scaled_dot_product_attention(**in_double(arguments)))
        with self.assertRaisesRegex(ValueError, "'attn_mask' to be on the device of 'query', cpu, got meta"):
            attn.sdpa(q, q, q, attn_mask=torch.ones(9, 9, device="meta"))

    def test_libraries_do_not_mix(self):
        q = self.normal(1, 2, 9, 64)
        other = types.SimpleNamespace(__dlpack__=None, shape=(1, 2, 9, 64))
        with self.assertRaisesRegex(ValueError, "'key' to be a Tensor like 'query', got SimpleNamespace"):
            attn.sdpa(q, other, q)

    def test_what_is_no_tensor(self):
        q = torch.zeros(1, 4, 2, 64).half()
        for function, name in ((lambda: attn.flash_attn_func(None, q, q), "q"), (lambda: attn.flash_attn_func(q, q, [q]), "v"),
                               (lambda: attn.flash_attn_func(q, q, q, alibi_slopes=[1.0, 1.0]), "alibi_slopes"),
                               (lambda: attn.attention(q, None, q), "key"), (lambda: attn.sdpa(q, q, 3), "value")):
            with self.assertRaisesRegex(attn.ArgumentError, f"expected '{name}' to be a tensor, got "):
                function()

    def test_the_largest_values(self):
        """docs/python.md has this bound."""
        q, k = self.normal(1, 2, 9, 64, dtype=torch.bfloat16) * 8, self.normal(1, 2, 40, 64, dtype=torch.bfloat16)
        v = (torch.rand(1, 2, 40, 64) * 1.3e36 / 40).bfloat16()
        self.close(attn.sdpa(q, k, v) / 1e34, scaled_dot_product_attention(q.double(), k.double(), v.double()) / 1e34)

    def test_masks_are_read_where_they_are(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                if str(function) == "attn.forward.default":
                    self.mask = args[3][0]
                return function(*args, **(kwargs or {}))

        q = self.normal(1, 2, 9, 64)
        for dtype in (torch.bool, torch.float16, torch.bfloat16, torch.float32):
            mask = (self.normal(2, 9, 9) > -0.5) if dtype == torch.bool else self.normal(2, 9, 9, dtype=dtype)
            with Watch() as watch:
                out = attn.sdpa(q, q, q, attn_mask=mask)
            self.assertEqual((watch.mask.data_ptr(), watch.mask.dtype), (mask.data_ptr(), dtype))
            self.close(out, scaled_dot_product_attention(**in_double(dict(query=q, key=q, value=q, attn_mask=mask))))

    def test_more_than_four_dims(self):
        q, k = self.normal(2, 3, 4, 9, 64), self.normal(2, 3, 4, 7, 64)
        self.close(attn.sdpa(q, k, k), scaled_dot_product_attention(q.double(), k.double(), k.double()))
        with self.assertRaisesRegex(attn.UnsupportedError, r"batch dims of 'key', \(2, 3\), to be one in memory"):
            attn.sdpa(q, k.transpose(0, 1).contiguous().transpose(0, 1), k)

    def test_outputs_that_are_given(self):
        kernel = attn.compile(head_dim=64, dtype=torch.float16)
        q = self.normal(1, 9, 2, 64)
        out, lse = torch.empty_like(q), torch.empty(1, 2, 9)
        want = kernel(q, q, q)
        got = kernel(q, q, q, out=out, lse=lse)
        self.assertEqual((got[0].data_ptr(), got[1].data_ptr()), (out.data_ptr(), lse.data_ptr()))
        self.assertTrue(torch.equal(out, want[0]) and torch.equal(lse, want[1]))

    def test_functions_of_torch_in_score_and_mask_functions(self):
        q = self.normal(2, 4, 20, 64)

        class Bias(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.randn(4, 20)

            def forward(self, score, b, h, q_idx, kv_idx):
                score = torch.where(q_idx - kv_idx < 9, score, torch.tanh(score).clamp(max=0.25))
                return score + self.table[h, kv_idx] * torch.exp(-score.abs())

        bias = Bias()
        ids = torch.randint(0, 2, (2, 20))
        i, j = torch.arange(20)[:, None], torch.arange(20)
        out = attn.attention(q, q, q, bias, lambda b, h, i, j: torch.logical_or(ids[b, i] == ids[b, j], i == j))
        scores = q.double() @ q.double().transpose(-1, -2) / 8
        scores = torch.where(i - j < 9, scores, torch.tanh(scores).clamp(max=0.25))
        scores = scores + bias.table.double()[:, None] * torch.exp(-scores.abs())
        allow = ((ids[:, :, None] == ids[:, None]) | (i == j))[:, None]
        self.close(out, scores.masked_fill(~allow, -torch.inf).softmax(-1) @ q.double())

    def test_a_function_of_torch_that_is_refused(self):
        q = self.normal(1, 2, 9, 64)
        with self.assertRaisesRegex(attn.TraceError, "'lgamma' at package_torch_test.py:[0-9]+ cannot become part"):
            attn.attention(q, q, q, lambda s, b, h, i, j: torch.lgamma(s))

    def test_block_masks_of_torch_are_taken(self):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        q = self.normal(1, 2, 128, 64)
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 128, 128, device="cpu")
        self.close(attn.attention(q, q, q, mask_mod=mask),
                   flex_attention(q.float(), q.float(), q.float(), block_mask=mask).double())


class FewQueries(TorchTest):
    """With few queries, the query heads of a head of K and V share a tile, where their number allows."""

    def test_they_give_what_others_give(self):
        for queries, heads, kv_heads in ((1, 8, 2), (3, 4, 4), (16, 8, 2), (2, 6, 2), (1, 8, 8)):
            with self.subTest(queries=queries, heads=heads, kv_heads=kv_heads):
                q, k, v = self.normal(2, heads, queries, 64), self.normal(2, kv_heads, 300, 64), self.normal(2, kv_heads, 300, 64)
                mask = torch.ones(queries, 300, dtype=torch.bool).tril(300 - queries)
                exact = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), mask, enable_gqa=True)
                got = attn.flash_attn_func(*(x.transpose(1, 2) for x in (q, k, v)), causal=True)
                self.close(got.transpose(1, 2), exact)
                exact = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), enable_gqa=True)
                self.close(attn.sdpa(q, k, v, enable_gqa=True), exact)


class Compiled(TorchTest):
    """Each function is compiled once for changing lengths, without a graph break."""

    def check(self, function, make):
        for dynamic, frames in ((True, 1), (None, 2)):
            torch._dynamo.reset()
            counter = CompileCounter()
            compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=dynamic)
            for length in (16, 24, 40, 56):
                arguments = make(length)
                self.assertTrue(torch.equal(compiled(*arguments), function(*arguments)))
            # With sizes that are fixed until they change, there is one more.
            self.assertEqual(counter.frame_count, frames)

    def bhsd(self, n):
        return self.normal(2, 4, n, 64), self.normal(2, 2, n + 8, 64), self.normal(2, 2, n + 8, 64)

    def bshd(self, n):
        return tuple(tensor.transpose(1, 2).contiguous() for tensor in self.bhsd(n))

    def test_sdpa(self):
        self.check(lambda q, k, v: attn.sdpa(q, k, v, is_causal=True, enable_gqa=True), self.bhsd)

    def test_sdpa_with_a_mask(self):
        self.check(lambda q, k, v, mask: attn.sdpa(q, k, v, attn_mask=mask, enable_gqa=True),
                   lambda n: (*self.bhsd(n), torch.rand(2, 1, n, n + 8) > 0.3))

    def test_flash_attn_func(self):
        slopes = torch.rand(4)
        self.check(lambda q, k, v: attn.flash_attn_func(q, k, v, causal=True, window_size=(9, 0), softcap=3.0), self.bshd)
        self.check(lambda q, k, v: attn.flash_attn_func(q, k, v, alibi_slopes=slopes, return_lse=True)[1], self.bshd)

    def test_a_kernel(self):
        slopes = torch.rand(4)
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + slopes[h] * (i - j))
        self.check(lambda q, k, v: kernel(q, k, v)[0], self.bshd)

    def test_the_same_graph_by_aot_autograd(self):
        torch._dynamo.reset()
        q = self.normal(2, 4, 20, 64)
        compiled = torch.compile(lambda q: attn.sdpa(q, q * 2, q + 1, is_causal=True), backend="aot_eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(q), attn.sdpa(q, q * 2, q + 1, is_causal=True)))

    def test_by_inductor(self):
        torch._dynamo.reset()
        q = self.normal(2, 4, 20, 64)
        function = lambda q: attn.sdpa(q * 2, q, q + 1, is_causal=True).float() * 3
        self.assertTrue(torch.equal(torch.compile(function, backend="inductor", fullgraph=True)(q), function(q)))

    def test_nodes_print_in_one_line(self):
        """As inductor writes them in a comment above a Triton kernel."""
        printed = []

        def backend(graph, inputs):
            printed.extend(node.format_node() for node in graph.graph.nodes)
            return graph

        slopes, q = torch.rand(4), self.normal(2, 20, 4, 64)
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + slopes[h] * (i - j))
        for function in (lambda q: attn.sdpa(q, q, q), lambda q: attn.flash_attn_func(q, q, q, softcap=3.0),
                         lambda q: kernel(q, q, q)[0]):
            torch._dynamo.reset()
            torch.compile(function, backend=backend, fullgraph=True)(q)
        self.assertEqual(sum("attn.forward" in text for text in printed), 3)
        self.assertEqual([text for text in printed if "\n" in (text or "")], [])

    def test_export(self):
        class Model(torch.nn.Module):
            def forward(self, q):
                return attn.sdpa(q, q, q, is_causal=True)

        length = torch.export.Dim("length", min=2, max=1000)
        program = torch.export.export(Model(), (self.normal(1, 2, 16, 64),), dynamic_shapes={"q": {2: length}})
        q = self.normal(1, 2, 40, 64)
        self.assertTrue(torch.equal(program.module()(q), attn.sdpa(q, q, q, is_causal=True)))

    def test_attention_says_what_to_do_instead(self):
        q = self.normal(1, 2, 16, 64)
        with self.assertRaisesRegex(Exception, "make the kernel with attn.compile before"):
            torch.compile(lambda q: attn.attention(q, q, q), fullgraph=True, backend="eager")(q)


class Repeats(TorchTest):
    """Calls that repeat an earlier one, which take a shorter way."""

    def setUp(self):
        super().setUp()
        self.q, self.k = self.normal(2, 4, 20, 64), self.normal(2, 2, 33, 64)
        attn.sdpa(self.q, self.k, self.k, is_causal=True, enable_gqa=True)

    def repeated(self, q, k, **options):
        return attn.sdpa(q, k, k, **{"is_causal": True, "enable_gqa": True, **options})

    def test_read_and_write_other_memory(self):
        found = [(q, self.repeated(q, self.k)) for q in (self.q, self.normal(2, 4, 20, 64), self.q.clone())]
        for q, out in found:
            self.close(out, scaled_dot_product_attention(q.double(), self.k.double(), self.k.double(), is_causal=True,
                                                         enable_gqa=True))
        self.assertEqual(len({out.data_ptr() for _, out in found}), 3)

    def test_take_the_shorter_way(self):
        from attn import _replay

        replays = _replay._remembered.replays
        replays.clear()
        self.repeated(self.q, self.k)
        before = dict(replays)
        self.repeated(self.normal(2, 4, 20, 64), self.k)
        self.assertEqual((len(before), len(replays)), (1, 1))
        for other in (dict(scale=0.5), dict(is_causal=False)):
            self.repeated(self.q, self.k, **other)
        self.repeated(self.normal(2, 4, 21, 64), self.k)
        self.repeated(self.q.transpose(1, 2).contiguous().transpose(1, 2), self.k)
        self.assertEqual(len(replays), 4)
        self.assertTrue(all(replays[call] is replay for call, replay in before.items()))

    def test_are_of_a_bounded_number_of_calls(self):
        from unittest import mock

        from attn import _replay

        with mock.patch.object(_replay, "_MOST", 4):
            for length in range(21, 31):
                self.repeated(self.normal(2, 4, length, 64), self.k)
                self.assertLessEqual(len(_replay._remembered.replays), 4)

    def test_are_checked_where_they_may_differ(self):
        odd = torch.empty(2 * 4 * 20 * 64 + 1, dtype=torch.float16)[1:].view(2, 4, 20, 64)
        with self.assertRaisesRegex(ValueError, "address of 'query'"):
            self.repeated(odd, self.k)
        self.assertTrue(self.repeated(self.q.to("meta"), self.k.to("meta")).is_meta)
        with self.assertRaisesRegex(ValueError, "element type of 'query'"):
            attn.sdpa(self.q, self.k.bfloat16(), self.k, is_causal=True, enable_gqa=True)
        with self.assertRaisesRegex(ValueError, "dim 2 of 'value' to be 32"):
            attn.sdpa(self.q, self.k[:, :, :32], self.k, is_causal=True, enable_gqa=True)
        with self.assertRaisesRegex(ValueError, "last dim has to be contiguous"):
            self.repeated(self.q.transpose(2, 3).contiguous().transpose(2, 3), self.k)

    def test_numbers_that_can_change_are_read_anew(self):
        scale = torch.tensor(0.5)
        outs = []
        for value in (0.5, 0.125):
            scale.fill_(value)
            outs.append((self.repeated(self.q, self.k, scale=scale), self.repeated(self.q, self.k, scale=value)))
        self.assertTrue(all(torch.equal(*pair) for pair in outs))
        self.assertFalse(torch.equal(outs[0][0], outs[1][0]))

    def test_show_themselves_to_what_watches_operators(self):
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.utils._python_dispatch import TorchDispatchMode

        seen = []

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return function(*args, **(kwargs or {}))

        with Watch():
            self.repeated(self.q, self.k)
        self.assertIn("attn.forward.default", seen)
        graph = make_fx(lambda q, k: self.repeated(q, k))(self.q, self.k)
        self.assertIn("torch.ops.attn.forward.default", graph.code)

    def test_of_kernels_with_given_outputs(self):
        kernel = attn.compile(head_dim=64, dtype="f16")
        q = self.normal(1, 9, 2, 64)
        want = kernel(q, q, q)
        for _ in range(3):
            out, lse = torch.empty_like(q), torch.empty(1, 2, 9)
            got = kernel(q, q, q, out=out, lse=lse)
            self.assertTrue(got[0] is out and got[1] is lse)
            self.assertTrue(torch.equal(out, want[0]) and torch.equal(lse, want[1]))
        with self.assertRaisesRegex(ValueError, "shape|dim"):
            kernel(q, q, q, out=torch.empty(1, 9, 3, 64).half(), lse=lse)

    def test_return_what_this_call_asks_for(self):
        """Which results a caller wants is no part of what calls have in common."""
        from attn import _replay

        q = self.normal(1, 9, 2, 64)
        _replay._remembered.replays.clear()
        for _ in range(2):
            out, lse = attn.flash_attn_func(q, q, q, causal=True, return_lse=True)
            self.assertTrue(torch.equal(attn.flash_attn_func(q, q, q, causal=True), out))
            all_three = attn.flash_attn_func(q, q, q, causal=True, return_attn_probs=True)
            self.assertTrue(torch.equal(all_three[0], out) and torch.equal(all_three[1], lse))
            self.assertEqual((len(all_three), all_three[2]), (3, None))
        self.assertEqual(len(_replay._remembered.replays), 1)

    def test_make_packed_results_after_a_call_with_views(self):
        for layout, shape in (("bshd", (1, 11, 2, 64)), ("bhsd", (1, 2, 11, 64))):
            kernel = attn.compile(head_dim=64, dtype="f16", layout=layout)
            q, wide = self.normal(*shape), torch.empty(*shape[:3], 128, dtype=torch.float16)
            given = kernel(q, q, q, out=wide[..., :64], lse=torch.empty(1, 2, 22)[..., :11])
            self.assertEqual(given[0].stride(), wide.stride())
            again, first = kernel(q, q, q), kernel(self.normal(2, *shape[1:]), *[self.normal(2, *shape[1:])] * 2)
            self.assertEqual([t.stride()[1:] for t in again], [t.stride()[1:] for t in first])
            self.assertTrue(all(map(torch.equal, again, given)))


class Operators(TorchTest):
    def test_schemas_stay(self):
        """Exported programs name the operators: arguments are only added, last and with defaults."""
        from attn import _torch_ops

        arguments = "Tensor q, Tensor k, Tensor v, Tensor[] captures, float[] floats, SymInt[] ints, str ir"
        self.assertEqual(str(_torch_ops.forward._schema), f"attn::forward({arguments}, bool deterministic=False) -> (Tensor, Tensor)")
        self.assertEqual(str(_torch_ops.forward_out._schema),
                         f"attn::forward_out({arguments}, *, Tensor(a!) out, Tensor(b!) lse) -> ()")

    def test_opcheck(self):
        from attn import _torch_ops

        kernel = attn.compile(head_dim=64, dtype="f16", mask="causal_top_left", window_left=True)
        q, k = self.normal(1, 9, 4, 64), self.normal(1, 12, 2, 64)
        arguments = (q, k, k, [], [0.125], [3], kernel.ir)
        torch_library.opcheck(_torch_ops.forward, arguments)
        torch_library.opcheck(_torch_ops.forward_out, arguments,
                              {"out": torch.empty_like(q), "lse": torch.empty(1, 4, 9)})


if __name__ == "__main__":
    unittest.main()
