# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of attention by torch's autograd, on the simulator."""

import gc
import math
import os
import subprocess
import sys
import unittest
import weakref
from unittest import mock

from package_support import ROOT

import attn
from package_torch_test import TorchTest

try:
    import gradient_problems
    import torch
    from torch import library as torch_library
    from torch._dynamo.testing import CompileCounterWithBackend
    from torch.utils.checkpoint import checkpoint
except ImportError:
    torch = None

# Most positions: a problem takes the simulator about a second.
LONGEST = 70


class GradientTest(TorchTest):
    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)

    def leaves(self, *shapes, dtype=None):
        return [self.normal(*shape, dtype=dtype).requires_grad_() for shape in shapes]

    def exact(self, function, tensors, gradient):
        """The gradients of torch's function in float64."""
        doubles = [x.detach().double().requires_grad_(x.requires_grad) for x in tensors]
        return torch.autograd.grad(function(*doubles), [x for x in doubles if x.requires_grad], gradient.double())

    def near(self, got, want, tolerance=2e-2):
        for found, exact in zip(got, want):
            self.assertEqual(found.shape, exact.shape)
            self.assertLessEqual((found.double() - exact).abs().max().item(), tolerance * (1 + exact.abs().max().item()))


class Right(GradientTest):
    """By FlashAttention's rule."""

    def check(self, seed, kind, dims, dtype, **options):
        problem = gradient_problems.Problem(seed, kind, dims, dtype, "cpu", LONGEST, 1, **options)
        with self.subTest(str(problem)):
            for name, (error, allowed) in problem.run().items():
                self.assertLessEqual(error, allowed, name)

    def test_each_kind(self):
        for seed, kind in enumerate(gradient_problems.KINDS):
            self.check(seed, kind, (64, 64), (torch.bfloat16, torch.float16)[seed % 2])

    def test_head_dims(self):
        for seed, dims in enumerate(((96, 96), (128, 128), (72, 72), (192, 128))):
            self.check(seed, "causal", dims, torch.bfloat16)

    def test_functions_that_are_built_in_masks(self):
        q, k, v = (self.normal(1, 2, 40, 128).requires_grad_() for _ in range(3))
        for function, is_causal in ((lambda b, h, i, j: i >= j, True), (lambda b, h, i, j: i >= -1, False)):
            of_out = self.normal(1, 2, 40, 128)
            found = torch.autograd.grad(attn.attention(q, k, v, None, function), (q, k, v), of_out)
            wanted = torch.autograd.grad(attn.sdpa(q, k, v, is_causal=is_causal), (q, k, v), of_out)
            for one, other in zip(found, wanted):
                torch.testing.assert_close(one, other)

    def test_those_that_are_asked_for(self):
        for seed, needs in enumerate(((True, False, False), (False, True, True), (False, False, True), (True, True, False))):
            self.check(seed, "causal", (64, 64), torch.float16, needs=needs)


class Identities(GradientTest):
    """Identities that hold for the gradients of any tensors, on `DEVICE`."""

    DEVICE, ROWS, COLUMNS = "cpu", 40, 50

    def setUp(self):
        super().setUp()
        sizes = ((4, self.ROWS, 64), (2, self.COLUMNS, 64), (2, self.COLUMNS, 64), (4, self.ROWS, 64))
        self.q, self.k, self.v, self.of_out = (torch.randn(2, *size, device=self.DEVICE).half() for size in sizes)
        self.of_lse = torch.randn(2, 4, self.ROWS, device=self.DEVICE)

    def gradients(self, of_out, of_lse=None, **options):
        """In double precision, (batch, head, position, dim)."""
        leaves = [x.detach().transpose(1, 2).requires_grad_() for x in (self.q, self.k, self.v)]
        out, lse = attn.flash_attn_func(*leaves, return_lse=True, **options)
        results, given = [out], [of_out.transpose(1, 2)]
        if of_lse is not None:
            results, given = [out, lse], given + [of_lse]
        return [x.transpose(1, 2).double() for x in torch.autograd.grad(results, leaves, given)]

    def of_group(self, x):
        """The sums over the query heads of a head of K and V."""
        return x.double().unflatten(1, (2, 2)).sum(2)

    def equal(self, a, b, terms):
        """Up to the rounding of the summed terms."""
        limit = 2e-3 * terms.double().abs().sum(-2, keepdim=True).max().item()
        self.assertLessEqual((a - b).abs().max().item(), limit)

    def test_probabilities_sum_to_one(self):
        _, _, d_v = self.gradients(self.of_out)
        self.equal(d_v.sum(2), self.of_group(self.of_out).sum(2), d_v)

    def test_a_shift_of_all_keys_changes_nothing(self):
        _, d_k, _ = self.gradients(self.of_out)
        self.equal(d_k.sum(2), torch.zeros_like(d_k[:, :, 0]), d_k)

    def test_queries_and_keys_have_the_same_part_in_scores(self):
        for options in (dict(), dict(causal=True), dict(window_size=(9, 3))):
            d_q, d_k, _ = self.gradients(self.of_out, **options)
            products = self.q.double() * d_q
            self.equal(self.of_group(products).sum((2, 3)), (self.k.double() * d_k).sum((2, 3)), products.flatten(2)[..., None])

    def test_the_lse_alone(self):
        d_q, d_k, d_v = self.gradients(torch.zeros_like(self.of_out), self.of_lse)
        self.assertEqual(d_v.abs().max().item(), 0)
        self.equal(d_k.sum(2), self.of_group(self.q.double() * self.of_lse.double()[..., None] / 8).sum(2), d_k)
        both = self.gradients(self.of_out, self.of_lse)
        for found, *parts in zip(both, (d_q, d_k, d_v), self.gradients(self.of_out)):
            self.equal(found, sum(parts), found)

    def test_rows_without_keys_have_no_part(self):
        self.k, self.v = self.k[:, :, :self.ROWS // 2], self.v[:, :, :self.ROWS // 2]
        d_q, d_k, d_v = self.gradients(self.of_out, self.of_lse, causal=True)
        empty = self.ROWS // 2
        self.assertEqual(d_q[:, :, :empty].abs().max().item(), 0)
        self.q, self.of_out, self.of_lse = (x[:, :, empty:].contiguous() for x in (self.q, self.of_out, self.of_lse))
        alone = self.gradients(self.of_out, self.of_lse, causal=True)
        for found, want in zip((d_q[:, :, empty:], d_k, d_v), alone):
            self.equal(found, want, want)

    def test_parts_of_the_keys_with_the_lse_of_all(self):
        from attn import _torch_gradients, _torch_ops

        ir = attn.compile(head_dim=64, dtype="f16").problem.to_ir()
        q, k, v, of_out = (x.transpose(1, 2) for x in (self.q, self.k, self.v, self.of_out))
        out, lse = _torch_ops.forward(q, k, v, [], [0.125], [], ir)
        some = lambda first, last: _torch_gradients.backward(of_out, self.of_lse, q, k[:, first:last], v[:, first:last], [], out, lse,
                                                             [0.125], [], [True] * 3, ir)
        whole, parts = some(0, None), (some(0, 17), some(17, None))
        self.equal(sum(part[0].double() for part in parts), whole[0].double(), whole[0])
        for n in (1, 2):
            self.equal(torch.cat([part[n] for part in parts], 1).double(), whole[n].double(), whole[n])


class Rules(GradientTest):
    """torch's rules for what it differentiates."""

    def setUp(self):
        super().setUp()
        self.q, self.k = self.leaves((1, 2, 20, 64), (1, 2, 24, 64))
        self.gradient = self.normal(1, 2, 20, 64)
        self.want = self.exact(self.torchs, (self.q, self.k), self.gradient)

    @staticmethod
    def torchs(q, k):
        return torch.nn.functional.scaled_dot_product_attention(q, k, k)

    @staticmethod
    def attns(q, k):
        return attn.sdpa(q, k, k)

    def gradients(self, out):
        return torch.autograd.grad(out, (self.q, self.k), self.gradient)

    def test_calls_that_repeat_an_earlier_one(self):
        from attn import _replay

        _replay._remembered.replays.clear()
        first = self.gradients(self.attns(self.q, self.k))
        for _ in range(3):
            self.assertTrue(all(map(torch.equal, self.gradients(self.attns(self.q, self.k)), first)))
        with mock.patch("attn._torch_gradients.backward", side_effect=AssertionError("not repeated")):
            self.near(self.gradients(self.attns(self.q, self.k)), self.want)
        with torch.no_grad():
            self.assertFalse(self.attns(self.q, self.k).requires_grad)

    def test_calls_with_a_workspace_of_their_own(self):
        from attn import _executable, _replay

        _replay._remembered.gradients.clear()
        with mock.patch.object(_executable, "_KEPT_WORKSPACE", 0):
            for _ in range(3):
                self.near(self.gradients(self.attns(self.q, self.k)), self.want)
        self.assertTrue(all(replay._gives_workspace for replay in _replay._remembered.gradients.values()))
        self.assertTrue(_replay._remembered.gradients)

    def test_nothing_is_kept_alive(self):
        out = self.attns(self.q * 1, self.k)
        kept = weakref.ref(out)
        del out
        gc.collect()
        self.assertIsNone(kept())

    def test_what_changes_before_the_backward_pass(self):
        number = torch.tensor(0.125)
        out = attn.sdpa(self.q, self.k, self.k, scale=number)
        number.fill_(9)
        self.near(self.gradients(out), self.want)
        for _ in range(2):  # in full, and repeated
            for which in ("input", "output"):
                x = self.q * 1
                out = self.attns(x, self.k)
                (x if which == "input" else out).detach().mul_(2)
                with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                    self.gradients(out)

    def test_the_output_may_be_written_where_it_is_not_needed(self):
        out = self.attns(self.q, self.k)
        self.assertFalse(out._is_view())

    def test_expanded_gradients(self):
        q, k = (x.detach().clone().requires_grad_() for x in (self.q, self.k))
        self.attns(q, k).sum().backward()
        self.near((q.grad, k.grad), self.exact(self.torchs, (q, k), torch.ones_like(self.gradient)))

    def test_the_lse_alone(self):
        q, k = (x.detach().transpose(1, 2).requires_grad_() for x in (self.q, self.k))
        _, lse = attn.flash_attn_func(q, k, k, return_lse=True)
        got = torch.autograd.grad(lse.sum(), (q, k))
        scores = lambda q, k: (q.transpose(1, 2) @ k.transpose(1, 2).transpose(2, 3) / 8).logsumexp(-1)
        self.near(got, self.exact(scores, (q, k), torch.ones(1, 2, 20)))

    def test_empty_tensors(self):
        for batch, rows, columns in ((1, 0, 9), (1, 9, 0), (0, 9, 9)):
            for _ in range(2):
                q, k = self.leaves((batch, 2, rows, 64), (batch, 2, columns, 64))
                self.attns(q, k).sum().backward()
                self.assertEqual((q.grad.shape, k.grad.shape), (q.shape, k.shape))
                self.assertEqual((q.grad.abs().sum().item(), k.grad.abs().sum().item()), (0, 0))

    def test_few_queries_have_the_kernels_of_many(self):
        from attn._executable import Executable

        for rows in (20, 1, 3):
            q, k = self.leaves((1, 4, rows, 64), (1, 2, 24, 64))
            before = Executable.count()
            out = attn.sdpa(q, k, k, enable_gqa=True)
            got = torch.autograd.grad(out, (q, k), torch.ones_like(out))
            self.assertTrue(rows == 20 or Executable.count() == before)
            torchs = lambda q, k: torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)
            self.near(got, self.exact(torchs, (q, k), torch.ones_like(out)))

    def test_kernels_of_gradients_are_compiled_beside_the_forward_pass(self):
        from attn import _capi
        from attn._executable import Executable

        q, k = self.leaves((1, 2, 9, 24), (1, 2, 9, 24))  # no other test has this head dim
        started, begin = [], Executable.compile_ahead
        with mock.patch.object(Executable, "compile_ahead", lambda *a: started.append(begin(*a)) or started[-1]):
            out = self.attns(q, k)
        self.assertEqual(len(started), 1)
        started[0].result()
        before = _capi.compiler_counters().compiles
        out.sum().backward()
        self.assertEqual(_capi.compiler_counters().compiles, before)

    def test_the_measured_first_call(self):
        command = [sys.executable, os.path.join(ROOT, "bench", "first_call.py"), "--dims=64", "--masks=causal", "--rounds=1"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertRegex(printed.splitlines()[-1], r"^\| 64 \| causal \| \d+\.\d\d \| \d+\.\d\d \|$")

    def test_only_what_is_asked_for_is_computed(self):
        from attn import _gradients

        for frozen, count in ((self.q, 1), (self.k, 1), (None, 2)):
            q, k = (x.detach() if x is frozen else x for x in (self.q, self.k))
            out = self.attns(q, k)
            with mock.patch.object(_gradients, "Executable", wraps=_gradients.Executable) as executables, \
                    mock.patch("attn._replay._grad_enabled", return_value=True):
                torch.autograd.grad(out, [x for x in (q, k) if x.requires_grad], self.gradient)
            names = executables.get.call_args[0][2]
            self.assertEqual(names, {1: ("k", "v") if frozen is self.q else ("q",), 2: ("q", "k", "v")}[count])

    def test_checkpoints(self):
        for reentrant in (False, True):
            for rows in (20, 21):  # of which a call with gradients has been made, or none
                q = self.normal(1, 2, rows, 64).requires_grad_()
                checkpoint(self.attns, q, self.k, use_reentrant=reentrant).sum().backward()
                self.near((q.grad,), self.exact(self.torchs, (q, self.k), self.normal(1, 2, rows, 64).fill_(1))[:1])

    def test_autocast(self):
        q, k = (x.detach().float().requires_grad_() for x in (self.q, self.k))
        for function in (self.attns, lambda q, k: attn.attention(q, k, k),
                         lambda q, k: attn.flash_attn_func(*(x.transpose(1, 2) for x in (q, k, k))).transpose(1, 2)):
            for dtype in (torch.bfloat16, torch.float16):
                with torch.autocast("cpu", dtype=dtype):
                    out = function(q, k)
                self.assertEqual(out.dtype, dtype)
                got = torch.autograd.grad(out, (q, k), self.gradient.to(dtype))
                self.assertEqual([x.dtype for x in got], [torch.float32] * 2)
                self.near(got, self.want)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(self.attns(self.q, self.k).dtype, torch.bfloat16)

    def test_the_same_bits_in_each_run(self):
        """Kernels that may add in any order run only where nobody asks for these."""
        from attn import _replay

        keys = []
        get = _replay.Executable.get
        with mock.patch.object(_replay.Executable, "get", side_effect=lambda *key: keys.append(key) or get(*key)):
            q, k = (x.detach().transpose(1, 2).requires_grad_() for x in (self.q, self.k))
            gradient = self.gradient.transpose(1, 2)
            for asked, switch in ((False, False), (True, False), (False, True)):
                for _ in range(2):  # in full, and repeated
                    with mock.patch.object(torch, "are_deterministic_algorithms_enabled", return_value=switch):
                        keys.clear()
                        out = attn.flash_attn_func(q, k, k, deterministic=asked)
                        got = torch.autograd.grad(out, (q, k), gradient)
                    self.near([x.transpose(1, 2) for x in got], self.want)
                    any_order = [key[3] for key in keys if key[2:]]
                    self.assertEqual(set(any_order) - {not (asked or switch)}, set())
        from attn import _replay
        modes = {deterministic for _, _, deterministic in _replay._remembered.gradients}
        self.assertEqual(modes, {False, True})

    def test_gradients_at_kinks_are_torchs(self):
        zero, one = torch.tensor(0.0), torch.tensor(1.0)
        for function in (lambda s: torch.clamp(s, 0, 1), lambda s: torch.clamp(s, max=0), lambda s: torch.clamp(s, -1, 1),
                         lambda s: torch.clamp(s, zero, one), lambda s: torch.clamp(s, max=zero), torch.relu, torch.abs,
                         lambda s: torch.maximum(s, s * 2), lambda s: torch.where(s > 0, s, 3 * s)):
            k = self.normal(1, 1, 4, 64).requires_grad_()
            v = self.normal(1, 1, 4, 64)
            q = torch.zeros(1, 1, 4, 64).half().requires_grad_()
            gradient = self.normal(1, 1, 4, 64)
            out = attn.attention(q, k, v, lambda s, b, h, i, j: function(s))
            exact = lambda q, k: function(q @ k.transpose(2, 3) / 8).softmax(-1) @ v.double()
            self.near(torch.autograd.grad(out, (q, k), gradient), self.exact(exact, (q, k), gradient))


class Captured(GradientTest):
    """Gradients of the tensors that functions read."""

    ROWS, COLUMNS = 20, 30

    def check(self, tensor, score, call=None, needs=True):
        """`score(s, b, h, i, j, tensor)`; `call(q, k, v, tensor)` is attn's function, without it attn.attention."""
        q, k, v = (self.normal(2, h, n, 64).requires_grad_(needs) for h, n in ((4, self.ROWS), (2, self.COLUMNS), (2, self.COLUMNS)))
        tensor = tensor.requires_grad_()
        gradient = self.normal(2, 4, self.ROWS, 64)
        call = call or (lambda q, k, v, tensor: attn.attention(q, k, v, lambda *place: score(*place, tensor), enable_gqa=True))
        wanted = [x for x in (q, k, v, tensor) if x.requires_grad]
        got = torch.autograd.grad(call(q, k, v, tensor), wanted, gradient)

        def exact(q, k, v, tensor):
            kind = gradient_problems.Kind(None, lambda *place: score(*place, tensor))
            return gradient_problems.attend(kind, q, k, v)[0]

        want = self.exact(exact, (q, k, v, tensor), gradient)
        for found, x in zip(got, wanted):
            self.assertEqual((found.shape, found.dtype), (x.shape, x.dtype))
        self.near(got, want)

    def test_by_head(self):
        far = lambda s, b, h, i, j, slopes: s - slopes[h] * (i - j).abs()
        self.check(torch.rand(4), far)
        self.check(torch.rand(4), far, needs=False)
        shift = self.COLUMNS - self.ROWS
        self.check(torch.rand(4), lambda s, b, h, i, j, slopes: s - slopes[h] * (i + shift - j).abs(), lambda q, k, v, slopes: (
            attn.flash_attn_func(*(x.transpose(1, 2) for x in (q, k, v)), alibi_slopes=slopes).transpose(1, 2)))

    def test_numbers(self):
        scaled = lambda s, b, h, i, j, factor: 8 * s * factor
        capped = lambda s, b, h, i, j, softcap: softcap * torch.tanh(s / softcap)
        by_flash = lambda **options: lambda q, k, v, number: attn.flash_attn_func(
            *(x.transpose(1, 2) for x in (q, k, v)), **dict.fromkeys(options, number)).transpose(1, 2)
        self.check(torch.tensor(0.1), scaled, lambda q, k, v, factor: attn.sdpa(q, k, v, scale=factor, enable_gqa=True))
        self.check(torch.tensor(-0.1), scaled, lambda q, k, v, factor: attn.sdpa(q, k, v, scale=factor, enable_gqa=True))
        self.check(torch.tensor([0.1]), scaled, by_flash(softmax_scale=True), needs=False)
        self.check(torch.tensor(1.5), capped, by_flash(softcap=True))
        self.check(torch.tensor(0.5, dtype=torch.float16), lambda s, b, h, i, j, factor: s * factor)

    def test_numbers_in_compiled_functions(self):
        q, factor = self.normal(1, 2, 9, 64).requires_grad_(), torch.tensor(0.2, requires_grad=True)
        run = lambda q, factor: attn.sdpa(q, q, q, scale=factor)
        compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
        of_out = self.normal(1, 2, 9, 64)
        got, want = (torch.autograd.grad(function(q, factor), (q, factor), of_out) for function in (compiled, run))
        self.near(got, [x.double() for x in want], tolerance=2e-3)

    def test_by_query_and_by_key(self):
        self.check(torch.randn(self.ROWS), lambda s, b, h, i, j, bias: s * bias[i])
        self.check(torch.randn(2, self.COLUMNS), lambda s, b, h, i, j, bias: s + bias[b, j])

    def test_of_pairs(self):
        self.check(torch.randn(4, self.ROWS, self.COLUMNS), lambda s, b, h, i, j, bias: s + bias[h, i, j])

    def test_additive_masks(self):
        for shape in ((2, 4, self.ROWS, self.COLUMNS), (4, self.ROWS, self.COLUMNS), (self.ROWS, self.COLUMNS), (2, 1, self.ROWS, 1)):
            for dtype in (torch.float16, torch.float32):
                score = lambda s, b, h, i, j, mask: s + mask
                self.check(self.normal(*shape, dtype=dtype), score,
                           lambda q, k, v, mask: attn.sdpa(q, k, v, attn_mask=mask, enable_gqa=True))

    def test_of_what_is_computed(self):
        self.check(torch.randn(60), lambda s, b, h, i, j, table: s + table[i - j + 29])

    def test_of_bounds(self):
        """Of a clamp, also where it meets the bound."""
        self.check(torch.tensor(0.5), lambda s, b, h, i, j, most: torch.clamp(s, max=most))
        self.check(torch.tensor(0.0), lambda s, b, h, i, j, least: torch.clamp(0 * s, min=least))


class Refused(GradientTest):
    def test_results_that_are_given(self):
        kernel, q = attn.compile(head_dim=64, dtype="f16"), self.normal(1, 9, 2, 64)
        for given in (dict(out=torch.empty_like(q)), dict(lse=torch.empty(1, 2, 9))):
            with self.assertRaisesRegex(attn.UnsupportedError, "'q' requires a gradient, which results that are written"):
                kernel(q.clone().requires_grad_(), q, q, **given)

    def test_numbers(self):
        number, q = torch.tensor(0.5, requires_grad=True), self.normal(1, 9, 2, 64)
        wide = torch.tensor(0.5, requires_grad=True, dtype=torch.float64)
        for function, name in ((lambda: attn.compile(head_dim=64, dtype="f16")(q, q, q, scale=number), "scale"),
                               (lambda: attn.attention(q, q, q, lambda s, b, h, i, j: (s * wide).float()), "wide")):
            with self.assertRaisesRegex(attn.UnsupportedError, f"'{name}' requires a gradient"):
                function()

    def test_values_of_numbers_with_a_gradient(self):
        q = self.normal(1, 9, 2, 64)
        for function, message in (
                (lambda x: attn.flash_attn_func(q, q, q, softcap=x(0.0)), "'softcap' to be greater than 0 where it requires a gradient"),
                (lambda x: attn.flash_attn_func(q, q, q, softmax_scale=x(-1.0)), "'softmax_scale' to be greater than 0, got -1"),
                (lambda x: attn.flash_attn_func(q, q, q, softmax_scale=x(math.nan)), "'softmax_scale' to be from -3.4.*got nan"),
                (lambda x: attn.sdpa(q, q, q, scale=x(math.inf)), "'scale' to be from -3.4.*got inf"),
                (lambda x: attn.sdpa(q, q, q, scale=x(math.inf).half()), "'scale' to be from -3.4.*got inf"),
                (lambda x: attn.sdpa(q, q, q, scale=-1e39), "'scale' to be from -3.4.*got -1e\\+39")):
            with self.assertRaisesRegex(attn.ArgumentError, message):
                function(lambda value: torch.tensor(value, requires_grad=True))
        with self.assertRaisesRegex(attn.UnsupportedError, "'dropout_p' to require no gradient"):
            attn.sdpa(q, q, q, dropout_p=torch.tensor(0.5, requires_grad=True))

    def test_what_a_score_function_does_not_differentiate(self):
        q = self.normal(1, 9, 2, 64)

        def partly(s, b, h, i, j):
            with torch.no_grad():
                return s * 2

        def copied(s, b, h, i, j):
            with torch.no_grad():
                return s.clone()

        def read(s, b, h, i, j):
            with torch.no_grad():
                bias = halves[h].float()
            return s + bias

        halves = torch.ones(2, dtype=torch.bfloat16)
        without = r"torch.no_grad\(\)"
        for function, what in ((lambda s, b, h, i, j: s.detach(), "'detach' of a float"), (partly, without), (copied, without), (read, without)):
            with self.assertRaisesRegex(attn.TraceError, what):
                attn.attention(q, q, q, function)
        # Masks have no derivative, nor do positions and truth values; and the caller may want none.
        def distance(s, b, h, i, j):
            with torch.no_grad():
                near = (i - j).abs() < 3
                positive = s > 0
            return torch.where(near & positive, s, 2 * s)

        attn.attention(q, q, q, distance)
        attn.attention(q, q, q, None, torch.no_grad()(lambda b, h, i, j: i >= j.detach()))
        with torch.no_grad():
            attn.attention(q, q, q, lambda s, b, h, i, j: s + i.detach())

    def test_a_captured_tensor_whose_gradient_would_have_no_order(self):
        self.refuse_without_order(64)

    def test_before_the_gradients_are_compiled(self):
        from concurrent.futures import Future
        from attn._executable import Executable

        with mock.patch.object(Executable, "compile_ahead", lambda *_: Future()):  # never compiled
            self.refuse_without_order(40)

    def refuse_without_order(self, head_dim):
        table, q = torch.rand(99, requires_grad=True), self.normal(1, 2, 9, head_dim)
        with mock.patch.object(torch, "are_deterministic_algorithms_enabled", return_value=True):
            with self.assertRaisesRegex(attn.UnsupportedError, "'table' requires a gradient"):
                attn.attention(q, q, q, lambda s, b, h, i, j: s + table[i - j + 40])

    def test_what_the_compiler_does_not_have(self):
        """Torch then computes it."""
        from attn import _gradients, _replay

        _replay._remembered.replays.clear()
        q, = self.leaves((1, 2, 9, 64))
        with mock.patch.dict(_gradients._known, clear=True), \
                mock.patch.object(_gradients, "_refusal_beside_forward", return_value=("there is no schedule", True)):
            reason = "'query' requires a gradient, which the compiler does not have for this attention: there is no schedule"
            with self.assertRaisesRegex(attn.UnsupportedError, reason):
                attn.sdpa(q, q, q)
            with self.assertLogs("attn", "WARNING"), attn.routed() as calls:
                out = torch.nn.functional.scaled_dot_product_attention(q, q, q)
            self.assertEqual((calls.served, len(calls.refused)), (0, 1))
            self.assertTrue(out.requires_grad)
            with torch.no_grad():
                attn.sdpa(q, q, q)

    def test_names_of_tensors_are_those_of_the_plan(self):
        """They are known before the forward pass is compiled, but for the package's own two."""
        from attn import _executable, _ir

        problem = _ir.Problem("bf16", 64, 64, captures=(("bias", "tensor<?xf32>"), ("slope", "f32"), ("table", "tensor<?xf32>")),
                              dropout=True, sinks=True)
        ir = problem.to_ir()
        of_plan = [arg["name"] for arg in _executable.Executable.get(ir).captures]
        names = [name.removeprefix("attn.") for name in _ir.tensor_names(ir)]
        self.assertEqual(names, ["q", "k", "v", *(name.removeprefix("attn.") for name in of_plan)])
        self.assertEqual(names[3:], ["dropout_state", "sinks", "bias", "table"])
        self.assertIsNone(_ir.tensor_names(ir + " "))

    def test_gradients_where_no_thread_can_start(self):
        q, = self.leaves((1, 2, 9, 56))  # no other test has this head dim
        with mock.patch("threading.Thread.start", side_effect=RuntimeError("at exit")) as start:
            attn.sdpa(q, q, q).sum().backward()
        start.assert_called_once()
        self.assertTrue(bool(torch.isfinite(q.grad).all()))

    def test_an_error_of_the_compiler_is_raised_by_each_call(self):
        from attn._capi import set_compiler_option

        q, = self.leaves((1, 2, 20, 136))  # no other test has this head dim
        with torch.no_grad():
            attn.sdpa(q, q, q)
        for option in ("disable_cache", "disable_jit"):
            set_compiler_option(option, "1")
            self.addCleanup(set_compiler_option, option, "0")
        with self.assertRaisesRegex(attn.AttnError, "compiling is disabled"):
            attn.sdpa(q, q, q).sum().backward()
        for _ in range(2):
            with self.assertRaisesRegex(attn.AttnError, "'query' requires a gradient, and the compiler failed: .*disabled"):
                attn.sdpa(q, q, q)
        set_compiler_option("disable_jit", "0")
        attn.sdpa(q, q, q).sum().backward()
        self.assertTrue(bool(torch.isfinite(q.grad).all()))

    def test_second_derivatives(self):
        q, = self.leaves((1, 2, 9, 64))
        reason = "no gradient of their own \\(double backward\\)"
        for _ in range(2):
            first, = torch.autograd.grad(attn.sdpa(q, q, q).sum(), q, create_graph=True)
            with self.assertRaisesRegex(attn.UnsupportedError, reason):
                first.sum().backward()
        inner = torch.func.grad(lambda q: attn.sdpa(q, q, q).float().square().sum())
        with self.assertRaisesRegex(attn.UnsupportedError, reason):
            torch.func.grad(lambda q: inner(q).float().sum())(q.detach())
        with self.assertRaisesRegex(attn.UnsupportedError, "has a tangent"):
            torch.func.hessian(lambda q: attn.sdpa(q, q, q).float().sum())(q.detach())

    def test_tangents_of_what_comes_back(self):
        forward_ad = torch.autograd.forward_ad
        q, = self.leaves((1, 2, 9, 64))
        of_out = self.normal(1, 2, 9, 64)
        for _ in range(2):  # in full, and repeated
            out = attn.sdpa(q, q, q)
            torch.autograd.grad(out, q, of_out, retain_graph=True)
            with forward_ad.dual_level(), self.assertRaisesRegex(attn.UnsupportedError, "has a tangent"):
                torch.autograd.grad(out, q, forward_ad.make_dual(of_out, of_out))


class Transforms(GradientTest):
    """Those of torch.func give what autograd does."""

    def setUp(self):
        super().setUp()
        self.q, self.k = self.normal(3, 1, 2, 9, 64), self.normal(3, 1, 2, 12, 64)
        self.loss = lambda q, k: attn.sdpa(q, k, k, is_causal=True).float().square().sum()
        q, k = (x.clone().requires_grad_() for x in (self.q, self.k))
        self.want = torch.autograd.grad(sum(self.loss(*pair) for pair in zip(q, k)), (q, k))

    def same(self, got):
        self.assertTrue(all(map(torch.equal, got, self.want)))

    def test_reverse_mode(self):
        got = [torch.func.grad(self.loss, (0, 1))(*pair) for pair in zip(self.q, self.k)]
        self.same(map(torch.stack, zip(*got)))
        got = [torch.func.vjp(self.loss, *pair)[1](torch.ones(())) for pair in zip(self.q, self.k)]
        self.same(map(torch.stack, zip(*got)))

    def test_batches(self):
        self.same(torch.vmap(torch.func.grad(self.loss, (0, 1)))(self.q, self.k))
        self.same(torch.func.grad(lambda q, k: torch.vmap(self.loss)(q, k).sum(), (0, 1))(self.q, self.k))
        q, k = (x.clone().requires_grad_() for x in (self.q, self.k))
        self.same(torch.autograd.grad(torch.vmap(self.loss)(q, k).sum(), (q, k)))

    def test_batches_with_functions(self):
        """One launch for each element."""
        loss = lambda q, k: attn.attention(q, k, k, lambda s, b, h, i, j: s + b * j).float().square().sum()
        got = torch.vmap(torch.func.grad(loss, (0, 1)))(self.q, self.k)
        want = [torch.func.grad(loss, (0, 1))(*pair) for pair in zip(self.q, self.k)]
        self.assertTrue(all(torch.equal(a, torch.stack(b)) for a, b in zip(got, zip(*want))))

    def test_an_outer_gradient_through_the_output(self):
        outer = lambda q: torch.func.grad(lambda w: (attn.sdpa(q, q, q).float() * w).sum())(torch.tensor(2.0))
        want = torch.func.grad(lambda q: attn.sdpa(q, q, q).float().sum())(self.q[0])
        self.assertTrue(torch.equal(torch.func.grad(outer)(self.q[0]), want))


class Compiled(GradientTest):
    """Forward and backward, by torch.compile, without a graph break."""

    def test_lengths_that_change(self):
        slopes = torch.rand(4)
        scored = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + slopes[h] * (i - j))
        for function in (lambda q, k: attn.sdpa(q.transpose(1, 2), k.transpose(1, 2), k.transpose(1, 2), is_causal=True,
                                                enable_gqa=True),
                         lambda q, k: attn.flash_attn_func(q, k, k, causal=True, window_size=(9, 0), softcap=3.0, return_lse=True)[1],
                         lambda q, k: scored(q, k, k)[0]):
            torch._dynamo.reset()
            counter = CompileCounterWithBackend("aot_eager")
            compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=True)
            counts = []
            for length in (18, 24, 40):
                q, k = self.leaves((1, length, 4, 64), (1, length + 8, 2, 64))
                want, got = (f(q, k).float().square().sum() for f in (function, compiled))
                self.assertTrue(all(map(torch.equal, torch.autograd.grad(got, (q, k)), torch.autograd.grad(want, (q, k)))))
                counts.append(counter.frame_count)
            self.assertEqual(counts, counts[:1] * 3)

    def test_by_inductor(self):
        torch._dynamo.reset()
        q, = self.leaves((1, 4, 20, 64))
        function = lambda q: (attn.sdpa(q * 2, q, q + 1, is_causal=True).float() * 3).square().sum()
        got = torch.autograd.grad(torch.compile(function, backend="inductor", fullgraph=True)(q), q)
        self.near(got, torch.autograd.grad(function(q), q))

    def test_only_what_is_asked_for(self):
        torch._dynamo.reset()
        q, k = self.leaves((1, 2, 20, 64), (1, 2, 24, 64))
        function = lambda q, k: attn.sdpa(q, k, k)
        compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
        for tensors in ((q, k.detach()), (q.detach(), k)):
            wanted = [x for x in tensors if x.requires_grad]
            want, got = (torch.autograd.grad(f(*tensors).sum(), wanted) for f in (function, compiled))
            self.assertTrue(all(map(torch.equal, got, want)))

    def test_exported_programs(self):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.eye(64).half())

            def forward(self, x):
                x = x @ self.weight
                return attn.sdpa(x, x, x)

        q = self.normal(1, 2, 9, 64)
        model = Model()
        program = torch.export.export(model, (q,)).module()
        want, got = (torch.autograd.grad(f(q).sum(), tuple(f.parameters())) for f in (model, program))
        self.near(got, want)


class Operator(GradientTest):
    def test_schema_stays(self):
        from attn import _torch_gradients

        arguments = ("Tensor? out_gradient, Tensor? lse_gradient, Tensor q, Tensor k, Tensor v, Tensor[] captures, Tensor out, "
                     "Tensor lse, float[] floats, SymInt[] ints, bool[] needs, str ir, bool deterministic=False")
        self.assertEqual(str(_torch_gradients.backward._schema), f"attn::backward({arguments}) -> Tensor[]")

    def test_opcheck(self):
        from attn import _torch_gradients, _torch_ops

        kernel = attn.compile(head_dim=64, dtype="f16", mask="causal_top_left", window_left=True)
        q, k = self.leaves((1, 9, 4, 64), (1, 12, 2, 64))
        torch_library.opcheck(_torch_ops.forward, (q, k, k, [], [0.125], [3], kernel.ir))
        q, k = q.detach(), k.detach()
        out, lse = _torch_ops.forward(q, k, k, [], [0.125], [3], kernel.ir)
        for needs in ([True] * 3, [True, False, False], [False, False, True]):
            torch_library.opcheck(_torch_gradients.backward, (
                self.normal(1, 9, 4, 64), torch.randn(1, 4, 9), q, k, k, [], out, lse, [0.125], [3], needs, kernel.ir))


if __name__ == "__main__":
    unittest.main()
