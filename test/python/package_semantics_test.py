# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what torch tensors mean besides their memory, on the simulator: classes, derivatives, batches of vmap, and
the rules for tensors that are written."""

import unittest

import package_support  # finds the package

import attn
from package_torch_test import TorchTest

try:
    import torch
    from torch.autograd import forward_ad
    from torch.nn.attention.bias import causal_lower_right, causal_upper_left
    from torch.nn.functional import scaled_dot_product_attention
    from torch.utils import _pytree as pytree
except ImportError:
    torch = None


class Classes(TorchTest):
    """A class of tensors that means more than its memory is honoured, or refused by name."""

    def test_causal_biases_are_masks(self):
        k = self.normal(1, 2, 40, 64)
        for make, rows in ((causal_lower_right, 7), (causal_lower_right, 40), (causal_upper_left, 7)):
            q, bias = self.normal(1, 2, rows, 64), make(rows, 40)
            want = scaled_dot_product_attention(q.double(), k.double(), k.double(), attn_mask=bias._materialize())
            self.close(attn.sdpa(q, k, k, attn_mask=bias), want)
            with attn.routed() as calls:
                self.close(scaled_dot_product_attention(q, k, k, attn_mask=bias), want)
            self.assertEqual(calls.served, 1)

    def test_causal_biases_that_do_not_fit(self):
        q, k = self.normal(1, 2, 7, 64), self.normal(1, 2, 40, 64)
        with self.assertRaisesRegex(ValueError, r"a CausalBias of \(7, 40\).* got one of \(8, 40\)"):
            attn.sdpa(q, k, k, attn_mask=causal_lower_right(8, 40))
        with self.assertRaisesRegex(ValueError, "'attn_mask' to be None beside is_causal"):
            attn.sdpa(q, k, k, attn_mask=causal_lower_right(7, 40), is_causal=True)
        with self.assertRaisesRegex(NotImplementedError, "'query' to be a torch.Tensor, got a CausalBias"):
            attn.sdpa(causal_lower_right(7, 40), k, k)
        bias = causal_lower_right(7, 40)
        with self.assertRaisesRegex(NotImplementedError, "'bias' to be a torch.Tensor, got a CausalBias"):
            attn.attention(q, k, k, lambda s, b, h, i, j: s + bias[j])

    def test_captures_on_another_device(self):
        q, k, bias = self.normal(1, 2, 7, 64), self.normal(1, 2, 40, 64), torch.zeros(40, device="meta")
        with self.assertRaisesRegex(ValueError, "'bias' to be on the device of the query, cpu.*, got meta"):
            attn.attention(q, k, k, lambda s, b, h, i, j: s + bias[j])

    def test_what_is_refused_by_name(self):
        class Own(torch.Tensor):
            @classmethod
            def __torch_function__(cls, *arguments, **named):
                return super().__torch_function__(*arguments, **named)

        q = self.normal(1, 2, 9, 64)
        ragged = [self.normal(n, 2, 64) for n in (3, 5)]
        for what, tensor in (("a nested one", torch.nested.nested_tensor(ragged, layout=torch.jagged).transpose(1, 2)),
                             ("a nested one", torch.nested.nested_tensor(ragged)),
                             ("layout torch.sparse_coo", q.to_sparse()),
                             ("torch.quint8", torch.quantize_per_tensor(q.float(), 0.1, 0, torch.quint8)),
                             ("a MaskedTensor", torch.masked.masked_tensor(q.float(), q > 0)),
                             ("an? Own", q.as_subclass(Own)),
                             ("an? UninitializedParameter", torch.nn.UninitializedParameter())):
            for name in ("query", "key", "value", "attn_mask"):
                arguments = {"query": q, "key": q, "value": q, name: tensor}
                with self.subTest(f"{what} as {name}"):
                    with self.assertRaisesRegex(attn.UnsupportedError, f"expected '{name}' to be .*got {what}"):
                        attn.sdpa(**arguments)
        ragged = [part.transpose(0, 1) for part in ragged]
        with self.assertLogs("attn", "WARNING"), attn.routed() as calls:
            scaled_dot_product_attention(*[torch.nested.nested_tensor(ragged)] * 3)
        self.assertEqual((calls.served, sum(calls.refused.values())), (0, 1))

    def test_classes_that_mean_no_more_than_their_memory(self):
        class Named(torch.Tensor):
            pass

        q = self.normal(1, 2, 9, 64)
        want = attn.sdpa(q, q, q)
        for tensor in (torch.nn.Parameter(q), torch.nn.Buffer(q), q.as_subclass(Named)):
            self.assertTrue(torch.equal(attn.sdpa(tensor, tensor, tensor), want))

    def test_classes_that_dispatch_see_the_operator(self):
        seen = []

        class Wrapper(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                return torch.Tensor._make_wrapper_subclass(cls, inner.shape, strides=inner.stride(), dtype=inner.dtype)

            def __init__(self, inner):
                self.inner = inner

            @classmethod
            def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                seen.append(str(function))
                unwrap = lambda x: x.inner if isinstance(x, cls) else x
                results = function(*pytree.tree_map(unwrap, args), **(kwargs or {}))
                return pytree.tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, results)

        class Ignorant(Wrapper):
            @classmethod
            def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                return NotImplemented if "attn" in str(function) else super().__torch_dispatch__(function, types, args, kwargs)

        q = self.normal(1, 2, 9, 64)
        self.assertTrue(torch.equal(attn.sdpa(*[Wrapper(q)] * 3).inner, attn.sdpa(q, q, q)))
        self.assertIn("attn.forward.default", seen)
        with self.assertRaisesRegex(attn.UnsupportedError, "'query' to be a torch.Tensor, got a Ignorant, which does not know"):
            attn.sdpa(*[Ignorant(q)] * 3)

    def test_shapes_alone(self):
        from torch._subclasses import FakeTensorMode

        q = self.normal(1, 2, 9, 64)
        with FakeTensorMode() as mode:
            fake = mode.from_tensor(q)
        for tensor in (fake, q.to("meta")):
            for mask in (None, torch.ones(9, 9, device=tensor.device) if tensor.is_meta else None):
                self.assertEqual(attn.sdpa(tensor, tensor, tensor, attn_mask=mask).shape, q.shape)

    def test_bits_that_change_the_sign(self):
        q, k = self.normal(1, 2, 13, 64), self.normal(1, 2, 13, 64)
        slopes = torch.tensor([1.0, 2.0])
        for _ in range(2):  # the first call of these shapes, and one that repeats it
            for change in (dict(query=q), dict(key=k), dict(value=k)):
                arguments = {"query": q, "key": k, "value": k}
                negated = {name: torch._neg_view(tensor) for name, tensor in change.items()}
                want = attn.sdpa(**{**arguments, **{name: -tensor for name, tensor in change.items()}})
                self.assertTrue(torch.equal(attn.sdpa(**{**arguments, **negated}), want))
            negated = torch._neg_view(slopes)
            self.assertTrue(torch.equal(attn.attention(q, k, k, lambda s, b, h, i, j: s + negated[h] * j),
                                        attn.attention(q, k, k, lambda s, b, h, i, j: s - slopes[h] * j)))
        number = torch._neg_view(torch.tensor(0.25))
        self.assertTrue(torch.equal(attn.attention(q, k, k, lambda s, b, h, i, j: s * number),
                                    attn.attention(q, k, k, lambda s, b, h, i, j: s * -0.25)))


class Derivatives(TorchTest):
    """Derivatives that attn does not have are refused by name; package_gradients_test.py tests the others."""

    def setUp(self):
        super().setUp()
        torch.set_grad_enabled(True)
        self.q = self.normal(1, 2, 9, 64)
        attn.sdpa(self.q, self.q, self.q)  # for later calls to repeat

    def refused(self, name, function, *arguments, **named):
        with self.assertRaisesRegex(attn.UnsupportedError, f"'{name}' (requires a gradient|has a tangent)"):
            function(*arguments, **named)

    def test_forward_mode(self):
        q, mask, number = self.q, torch.zeros(9, 9), torch.tensor(0.5)
        for name, function, at in (
                ("query", lambda q: attn.sdpa(q, q, q), q), ("key", lambda k: attn.sdpa(q, k, q), q),
                ("attn_mask", lambda mask: attn.sdpa(q, q, q, attn_mask=mask), mask),
                ("scale", lambda scale: attn.sdpa(q, q, q, scale=scale), number),
                ("softcap", lambda softcap: attn.flash_attn_func(q, q, q, softcap=softcap), number),
                ("q", lambda q: attn.flash_attn_func(q, q, q), q)):
            with self.subTest(name):
                self.refused(name, torch.func.jvp, function, (at,), (torch.ones_like(at),))
                self.refused(name, torch.func.jacfwd(function), at)
                with forward_ad.dual_level():
                    self.refused(name, function, forward_ad.make_dual(at, torch.ones_like(at)))
                    self.assertEqual(function(at).shape, q.shape)

    def test_forward_mode_of_a_batch(self):
        function = torch.func.vmap(lambda q: attn.sdpa(q, q, q))
        self.refused("q|query", torch.func.jvp, function, (torch.stack([self.q] * 2),), (torch.ones(2, *self.q.shape).half(),))

    def test_numbers_that_cannot_have_a_gradient(self):
        q, number = self.q, torch.nn.Parameter(torch.tensor(0.5))
        plain, scalar = attn.compile(head_dim=64, dtype="f16"), attn.Scalar(1.0)
        scalar.value = torch.tensor(1.0, requires_grad=True) * 2
        for name, function in (("scale", lambda: plain(q, q, q, scale=number)),
                               ("scale", lambda: attn.attention(q, q, q, scale=number)),
                               ("scalar", lambda: attn.attention(q, q, q, lambda s, b, h, i, j: s * scalar))):
            with self.subTest(name):
                self.refused(name, function)
                with torch.no_grad():
                    function()

    def test_numbers_that_want_a_gradient(self):
        q, number = self.q, torch.nn.Parameter(torch.tensor(0.5))
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s * number)
        for name, function in (("scale", lambda: attn.sdpa(q, q, q, scale=number)),
                               ("softmax_scale", lambda: attn.flash_attn_func(q, q, q, softmax_scale=number)),
                               ("softcap", lambda: attn.flash_attn_func(q, q, q, softcap=number * 2)),
                               ("number", lambda: kernel(q, q, q)[0]),
                               ("captured", lambda: attn.attention(q, q, q, lambda s, b, h, i, j: s * number))):
            with self.subTest(name):
                gradient, = torch.autograd.grad(function().float().square().sum(), number)
                self.assertNotEqual(gradient.item(), 0)

    def test_the_operators_themselves(self):
        from attn import _torch_ops

        q, kernel = self.q.transpose(1, 2), attn.compile(head_dim=64, dtype="f16")
        wants, out, lse = q.clone().requires_grad_(), torch.empty_like(q), torch.empty(1, 2, 9)
        for n, name in enumerate("qkv"):
            tensors = [wants if n == m else q for m in range(3)]
            self.refused(name, _torch_ops.forward_out, *tensors, [], [0.1], [], kernel.ir, out=out, lse=lse)
        self.refused("out", _torch_ops.forward_out, q, q, q, [], [0.1], [], kernel.ir, out=wants * 1, lse=lse)
        slopes = torch.rand(2, requires_grad=True)
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + slopes[h])
        self.refused(r"captures\[0\]", _torch_ops.forward_out, q, q, q, [slopes], [0.1], [], kernel.ir, out=out, lse=lse)


class Batches(TorchTest):
    """torch.vmap gives what a loop does."""

    def check(self, function, *tensors, dims=0):
        given = [dims] * len(tensors) if isinstance(dims, int) else dims
        one = lambda n: [t if d is None else t.select(d, n) for t, d in zip(tensors, given)]
        count = next(t.shape[d] for t, d in zip(tensors, given) if d is not None)
        want = torch.stack([function(*one(n)) for n in range(count)])
        self.assertTrue(torch.equal(torch.vmap(function, tuple(given))(*tensors), want))

    def test_launch_once_where_that_is_right(self):
        from unittest import mock

        from attn._executable import Executable

        q, k = self.normal(3, 2, 2, 9, 64), self.normal(3, 2, 2, 12, 64)
        with mock.patch.object(Executable, "launch", autospec=True, side_effect=Executable.launch) as launch:
            torch.vmap(lambda q, k: attn.sdpa(q, k, k, is_causal=True))(q, k)
            self.assertEqual(launch.call_count, 1)
        self.check(lambda q, k: attn.sdpa(q, k, k, is_causal=True), q, k)

    def test_some_tensors_and_other_dims(self):
        q, k = self.normal(3, 2, 2, 9, 64), self.normal(2, 2, 12, 64)
        self.check(lambda q, k: attn.sdpa(q, k, k), q, k, dims=(0, None))
        self.check(lambda q, k: attn.sdpa(q, k, k), q[0], torch.stack([k] * 3), dims=(None, 0))
        self.check(lambda q, k: attn.sdpa(q, k, k), q.transpose(0, 1), torch.stack([k] * 3, 2), dims=(1, 2))

    def test_masks_and_captured_tensors(self):
        q, masks, slopes = self.normal(3, 2, 2, 9, 64), torch.rand(3, 9, 9) > 0.4, torch.rand(3, 2)
        self.check(lambda q, mask: attn.sdpa(q, q, q, attn_mask=mask), q, masks)
        self.check(lambda q, slopes: attn.flash_attn_func(q, q, q, alibi_slopes=slopes), q.transpose(2, 3), slopes)
        by_batch = torch.rand(2)
        self.check(lambda q: attn.attention(q, q, q, lambda s, b, h, i, j: s + by_batch[b] * j), q)

    def test_one_in_another(self):
        q = self.normal(2, 3, 2, 2, 9, 64)
        function = lambda q: attn.sdpa(q, q, q)
        want = torch.stack([torch.stack([function(b) for b in a]) for a in q])
        self.assertTrue(torch.equal(torch.vmap(torch.vmap(function))(q), want))

    def test_outputs_cannot_be_given(self):
        kernel, q = attn.compile(head_dim=64, dtype="f16"), self.normal(3, 1, 9, 2, 64)
        with self.assertRaisesRegex(attn.UnsupportedError, "'out' and 'lse' to be None under torch.vmap"):
            torch.vmap(lambda q, out: kernel(q, q, q, out=out)[0])(q, torch.empty_like(q))


class Written(TorchTest):
    """torch's rules for in-place operators hold for `out` and `lse`."""

    def setUp(self):
        super().setUp()
        self.kernel = attn.compile(head_dim=64, dtype="f16")
        self.q = self.normal(1, 9, 2, 64)
        self.out, self.lse = torch.empty_like(self.q), torch.empty(1, 2, 9)

    def write(self, q=None, **given):
        q = self.q if q is None else q
        return self.kernel(q, self.q, self.q, **{"out": self.out, "lse": self.lse, **given})

    def each_way(self):
        """The first call of these shapes is made in full, the next repeats it."""
        from attn import _replay

        _replay._remembered.replays.clear()
        for way in ("in full", "repeated"):
            with self.subTest(way):
                yield
            self.write()

    def test_versions_are_counted(self):
        for _ in self.each_way():
            before = self.out._version, self.lse._version
            self.write()
            self.assertEqual((self.out._version, self.lse._version), (before[0] + 1, before[1] + 1))
            self.write(lse=None)
            self.assertEqual((self.out._version, self.lse._version), (before[0] + 2, before[1] + 1))
        slopes = torch.rand(2)
        self.kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + slopes[h])
        before = self.out._version
        self.write()
        self.assertEqual(self.out._version, before + 1)

    def test_autograd_notices_what_was_overwritten(self):
        for _ in self.each_way():
            with torch.enable_grad():
                weight = torch.ones(64, requires_grad=True)
                loss = (weight * self.out.fill_(1)).sum()
                self.write()
                with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                    loss.backward()

    def test_that_requires_a_gradient(self):
        for _ in self.each_way():
            for given in (dict(out=self.out.clone().requires_grad_()), dict(lse=self.lse.clone().requires_grad_())):
                name, = given
                with torch.enable_grad(), self.assertRaisesRegex(attn.UnsupportedError, f"'{name}' requires a gradient"):
                    self.write(**given)
                self.write(**given)  # without gradients, as torch's in-place operators

    def test_that_shares_memory(self):
        for _ in self.each_way():
            with self.assertRaisesRegex(ValueError, "'out' to have memory of its own .* shares some with 'q'"):
                self.write(q=self.out)
            with self.assertRaisesRegex(ValueError, "'lse' to have memory of its own .* shares some with 'out'"):
                self.write(lse=self.out.view(torch.float32).flatten()[:18].view(1, 2, 9))
            with self.assertRaisesRegex(ValueError, "'out' to be greater than 0 since it is written"):
                self.write(out=self.out[:, :1].expand(1, 9, 2, 64))
            both = self.normal(1, 9, 2, 128)
            both[..., :64] = self.q
            self.assertTrue(torch.equal(self.write(q=both[..., :64], out=both[..., 64:])[0], self.write()[0]))

    def test_tensors_of_inference_mode(self):
        with torch.inference_mode():
            made = torch.empty_like(self.q)
        for _ in self.each_way():
            with torch.inference_mode():
                self.assertTrue(torch.equal(self.write(out=made)[0], self.write()[0]))
            with self.assertRaisesRegex(ValueError, "'out' to be a normal tensor since it is written"):
                self.write(out=made)

    def test_with_the_negative_bit(self):
        for _ in self.each_way():
            with self.assertRaisesRegex(ValueError, "'out' to be resolved since it is written"):
                self.write(out=torch._neg_view(self.out))


if __name__ == "__main__":
    unittest.main()
