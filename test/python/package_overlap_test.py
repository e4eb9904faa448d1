# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Outputs that share memory with other tensors are refused, by a rule that is tried here
on random tensors against the bytes that they have."""

import itertools
import random
import unittest

import package_support  # finds the package
from package_support import HostTensor, gaussian

import attn
from attn import _capi
from attn._overlap import may_overlap
from attn._tensors import View


def view(first, shape, strides, dtype="f16"):
    return View(first, (_capi.CPU, 0), dtype, shape, strides, None)


def bytes_of(tensor):
    item = _capi.DTYPE_CODES[tensor.dtype][1] // 8
    return {tensor.pointer + item * sum(i * s for i, s in zip(index, tensor.strides)) + byte
            for index in itertools.product(*map(range, tensor.shape)) for byte in range(item)}


class Rule(unittest.TestCase):
    def test_no_overlap_is_missed(self):
        generator = random.Random(5)
        found = {True: 0, False: 0}
        for _ in range(3000):
            one, other = (view(generator.randrange(64), [generator.randint(0, 4) for _ in range(3)],
                               [generator.choice((0, 1, 2, 3, 4, 8, 12, 16, 24)) for _ in range(3)],
                               generator.choice(("f16", "f32"))) for _ in range(2))
            common = bool(bytes_of(one) & bytes_of(other))
            found[common] += 1
            self.assertTrue(may_overlap(one, other) or not common, (one, other))
            self.assertEqual(may_overlap(one, other), may_overlap(other, one))
        self.assertGreater(min(found.values()), 400)

    def test_parts_of_one_memory_are_told_apart(self):
        batch, position, heads, dim = 2, 5, 3, 8
        packed = [position * heads * dim, heads * dim, dim, 1]
        fused = [3 * step for step in packed[:2]] + packed[2:]
        shape = [batch, position, heads, dim]
        for what, strides, offset, sizes in (
                ("Q, K and V of one projection", fused, heads * dim, shape),
                ("heads", [2 * step for step in packed[:2]] + packed[2:], heads * dim, shape),
                ("columns", [2 * step for step in packed[:3]] + [1], dim, shape),
                ("positions", [2 * packed[0], *packed[1:]], packed[0], shape)):
            with self.subTest(what):
                first = view(0, sizes, strides)
                self.assertFalse(may_overlap(first, view(2 * offset, sizes, strides)))
                self.assertTrue(may_overlap(first, view(2 * (offset - 1), sizes, strides)))
                self.assertTrue(may_overlap(first, first))


class Refusals(unittest.TestCase):
    def test_outputs_that_share_memory(self):
        kernel = attn.compile(head_dim=64, dtype="f16")
        q, k, lse = gaussian([1, 4, 2, 64], 1), gaussian([1, 4, 2, 64], 2), HostTensor("f32", [1, 2, 4])
        for other, tensor in (("q", q), ("k", k)):
            with self.assertRaisesRegex(attn.ArgumentError, f"'out' to have memory of its own .* shares some with '{other}'"):
                kernel(q, k, k, out=tensor, lse=lse)
        out = HostTensor("f16", [1, 4, 2, 64])
        lse.address = out.address
        with self.assertRaisesRegex(attn.ArgumentError, "'lse' to have memory of its own .* shares some with 'out'"):
            kernel(q, k, k, out=out, lse=lse)


if __name__ == "__main__":
    unittest.main()
