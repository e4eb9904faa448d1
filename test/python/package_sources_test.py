# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of attn.compile reads the tensors that its functions would read now, on the
simulator."""

import functools
import types
import unittest
from unittest import mock

import package_support  # finds the package

import attn
from package_torch_test import TorchTest

try:
    import torch
    from torch._dynamo.testing import CompileCounter
except ImportError:
    torch = None

GLOBAL_BIAS = None


def by_global(score, b, h, i, j):
    return score + GLOBAL_BIAS[h] * j


def helper(table, score, h, j):
    return score + table.bias[h] * j


def by_default(score, b, h, i, j, *, tables=types.SimpleNamespace(first=[None])):
    return score + tables.first[0][h] * j


class Shared:
    bias = None


class Slotted:
    __slots__ = ("bias",)


class Sources(TorchTest):
    def setUp(self):
        super().setUp()
        self.q = self.normal(1, 9, 2, 64)

    def want(self, bias):
        return attn.attention(*[self.q.transpose(1, 2)] * 3, lambda s, b, h, i, j: s + bias[h] * j).transpose(1, 2)

    def check(self, function, replace, traces=1):
        """`replace` puts a tensor where the function finds one. `traces` is how often three
        calls trace the function when one tensor is replaced once."""
        first, second = torch.tensor([0.5, -0.5]), torch.tensor([1.0, 2.0])
        replace(first)
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=function)
        with mock.patch.object(kernel, "_trace_again", side_effect=kernel._trace_again) as again:
            self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(first)))
            replace(second)
            for _ in range(2):
                self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(second)))
            self.assertEqual(again.call_count, traces)
        second.mul_(2)
        self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(second)))

    def test_variables(self):
        bias = None

        def closed_over(score, b, h, i, j):
            return score + bias[h] * j

        def replace(tensor):
            nonlocal bias
            bias = tensor

        self.check(closed_over, replace)
        self.check(by_global, lambda tensor: globals().update(GLOBAL_BIAS=tensor))

    def test_a_variable_that_is_deleted(self):
        bias = torch.tensor([0.5, -0.5])

        def closed_over(score, b, h, i, j):
            return score + bias[h] * j  # noqa: F821 (it is deleted below)

        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=closed_over)
        del bias
        with self.assertRaises(NameError):
            kernel(self.q, self.q, self.q)

    def test_attributes_and_items(self):
        space, nested = types.SimpleNamespace(), {"heads": [None]}
        self.check(lambda s, b, h, i, j: s + space.bias[h] * j, lambda tensor: setattr(space, "bias", tensor))
        self.check(lambda s, b, h, i, j: s + nested["heads"][0][h] * j, lambda t: nested["heads"].__setitem__(0, t))
        self.check(lambda s, b, h, i, j: s + Shared.bias[h] * j, lambda tensor: setattr(Shared, "bias", tensor))
        slotted = Slotted()
        self.check(lambda s, b, h, i, j: s + slotted.bias[h] * j, lambda tensor: setattr(slotted, "bias", tensor))
        self.check(functools.partial(lambda table, s, b, h, i, j: helper(table, s, h, j), space),
                   lambda tensor: setattr(space, "bias", tensor))
        self.check(by_default, lambda tensor: by_default.__kwdefaults__["tables"].first.__setitem__(0, tensor))

    def test_modules(self):
        class Inner(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = torch.nn.Parameter(torch.zeros(2))
                self.register_buffer("slopes", torch.zeros(2))

            def scaled(self, h, j):
                return self.bias[h] * j

        class Outer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, score, b, h, i, j):
                return score + self.inner.scaled(h, j)

            def by_buffer(self, score, b, h, i, j):
                return score + self.inner.slopes[h] * j

        module = Outer()
        state = lambda name, tensor: {**module.state_dict(), f"inner.{name}": tensor}
        self.check(module, lambda tensor: module.load_state_dict(state("bias", tensor), assign=True))
        self.check(module, lambda tensor: setattr(module.inner, "bias", torch.nn.Parameter(tensor)))
        self.check(module.by_buffer, lambda tensor: module.load_state_dict(state("slopes", tensor), assign=True))
        self.check(module.by_buffer, lambda tensor: setattr(module.inner, "slopes", tensor))

    def test_modules_that_are_converted(self):
        module = torch.nn.Module()
        module.bias = torch.nn.Parameter(torch.tensor([0.5, 1.0]))
        module.register_buffer("slopes", torch.tensor([1.0, 0.25]))
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + (module.bias[h] + module.slopes[h]) * j)
        for convert in (lambda: None, module.bfloat16, module.float):
            convert()
            self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(torch.tensor([1.5, 1.25]))))

    def test_what_a_function_computes_is_computed_at_each_call(self):
        space = types.SimpleNamespace()

        class Computes:
            @property
            def bias(self):
                return space.half * 2

        computes = Computes()
        replace = lambda tensor: setattr(space, "half", tensor / 2)
        first = torch.tensor([1.0, 3.0])
        replace(first)
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + computes.bias[h] * j)
        for bias in (first, torch.tensor([0.25, 1.0])):
            replace(bias)
            self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(bias)))

    def test_one_tensor_in_two_places(self):
        space = types.SimpleNamespace(a=torch.tensor([0.5, 1.0]))
        space.b = space.a
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + (space.a[h] + space.b[h]) * j)
        self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(space.a * 2)))
        space.b = torch.tensor([2.0, -1.0])
        self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(space.a + space.b)))

    def test_other_element_types_and_other_ranks(self):
        space = types.SimpleNamespace(bias=torch.tensor([0.5, -0.5]))
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + space.bias[h] * j)
        for bias in (torch.tensor([1.0, 2.0]).bfloat16(), torch.tensor([1, 2], dtype=torch.int32)):
            space.bias = bias
            self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(bias)))
        space.bias = torch.ones(2, 2)
        with self.assertRaisesRegex(attn.TraceError, "index all of its dims; 1 are left"):
            kernel(self.q, self.q, self.q)

    def test_scalars(self):
        space = types.SimpleNamespace(factor=attn.Scalar(2.0))
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + space.factor * j)
        space.factor = attn.Scalar(0.5)
        self.assertTrue(torch.equal(kernel(self.q, self.q, self.q)[0], self.want(torch.tensor([0.5, 0.5]))))

    def test_under_torch_compile(self):
        space = types.SimpleNamespace(bias=torch.tensor([0.5, 1.0]))
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + space.bias[h] * j)
        torch._dynamo.reset()
        counter = CompileCounter()
        compiled = torch.compile(lambda q: kernel(q, q, q)[0], backend=counter)
        self.assertTrue(torch.equal(compiled(self.q), self.want(space.bias)))
        self.assertEqual(counter.frame_count, 1)
        for values in ([2.0, -1.0], [0.0, 3.0]):
            space.bias = torch.tensor(values)
            self.assertTrue(torch.equal(compiled(self.q), self.want(space.bias)))

    def test_under_torch_compile_without_a_graph_break(self):
        space = types.SimpleNamespace(bias=torch.tensor([0.5, 1.0]))
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + space.bias[h] * j)
        torch._dynamo.reset()
        compiled = torch.compile(lambda q: kernel(q, q, q)[0], backend="eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(self.q), self.want(space.bias)))
        space.bias = torch.tensor([2.0, -1.0])
        with self.assertRaisesRegex(Exception, "call it once outside of torch.compile"):
            compiled(self.q)


if __name__ == "__main__":
    unittest.main()
