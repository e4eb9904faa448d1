# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn.compile and its kernels, on tensors in host memory, which run on the
simulator."""

import math
import os
import subprocess
import sys
import unittest

import package_support  # finds the package
from package_support import HostTensor, expected_row, gaussian

import attn
from attn._executable import Executable


def outputs(q, v):
    batch, length, heads, _ = q.shape
    return HostTensor("f16", [batch, length, heads, v.shape[3]]), HostTensor("f32", [batch, heads, length])


class Kernels(unittest.TestCase):
    def compare(self, q, k, v, out, lse, rows, **rules):
        for batch, i, head in rows:
            want, want_lse = expected_row(q, k, v, batch, head, i, **{n: f(i, head) for n, f in rules.items()})
            for c, value in enumerate(want):
                self.assertAlmostEqual(out[batch, i, head, c], value, delta=2e-3, msg=f"row {i} of head {head}")
            self.assertAlmostEqual(lse[batch, head, i], want_lse, delta=1e-4) if math.isfinite(want_lse) \
                else self.assertEqual(lse[batch, head, i], want_lse)

    def test_grouped_heads_without_a_mask(self):
        kernel = attn.compile(head_dim=64, dtype="f16")
        q, k, v = gaussian([2, 5, 4, 64], 1), gaussian([2, 9, 2, 64], 2), gaussian([2, 9, 2, 64], 3)
        out, lse = outputs(q, v)
        self.assertEqual(kernel(q, k, v, out=out, lse=lse), (out, lse))
        self.compare(q, k, v, out, lse, [(0, 0, 0), (0, 4, 1), (1, 2, 2), (1, 3, 3)])

    def test_causal_alignments_and_rows_without_keys(self):
        q, k, v = gaussian([1, 6, 1, 64], 1), gaussian([1, 4, 1, 64], 2), gaussian([1, 4, 1, 64], 3)
        for mask, shift in (("causal_top_left", 0), ("causal_bottom_right", -2)):
            out, lse = outputs(q, v)
            attn.compile(head_dim=64, dtype="f16", mask=mask)(q, k, v, out=out, lse=lse)
            self.compare(q, k, v, out, lse, [(0, i, 0) for i in range(6)],
                         allow=lambda i, head: lambda j: j <= i + shift)

    def test_bounds_of_windows_are_arguments_of_the_launch(self):
        q, k, v = (gaussian([1, 12, 1, 64], seed) for seed in (1, 2, 3))
        kernel = attn.compile(head_dim=64, dtype="f16", mask="window_top_left", window_left=True, window_right=True)
        for left, right in ((0, 0), (3, 1)):
            out, lse = outputs(q, v)
            kernel(q, k, v, window_left=left, window_right=right, out=out, lse=lse)
            self.compare(q, k, v, out, lse, [(0, i, 0) for i in (0, 5, 11)],
                         allow=lambda i, head: lambda j: i - left <= j <= i + right)

    def test_chunks_begin_at_key_0(self):
        q, k, v = gaussian([1, 7, 1, 64], 1), gaussian([1, 10, 1, 64], 2), gaussian([1, 10, 1, 64], 3)
        for mask, shift in (("chunked_top_left", 0), ("chunked_bottom_right", 3)):
            kernel = attn.compile(head_dim=64, dtype="f16", mask=mask)
            for chunk in (1, 4, 100):
                out, lse = outputs(q, v)
                kernel(q, k, v, chunk=chunk, out=out, lse=lse)
                self.compare(q, k, v, out, lse, [(0, i, 0) for i in range(7)],
                             allow=lambda i, head: lambda j: j <= i + shift and j // chunk == (i + shift) // chunk)

    def test_layout_strides_and_value_dim(self):
        kernel = attn.compile(head_dim=192, head_dim_v=128, dtype="f16", layout="bhsd")
        # (batch, head, position, dim) by shape, (batch, position, head, dim) in memory, rows of 200 elements.
        q = gaussian([1, 2, 3, 192], 1, [1200, 200, 400, 1])
        k, v = gaussian([1, 2, 4, 192], 2), gaussian([1, 2, 4, 128], 3)
        out, lse = HostTensor("f16", [1, 2, 3, 128]), HostTensor("f32", [1, 2, 3])
        kernel(q, k, v, out=out, lse=lse)

        class Swapped:
            def __init__(self, tensor):
                self.tensor, self.shape = tensor, [tensor.shape[n] for n in (0, 2, 1, 3)]

            def __getitem__(self, index):
                return self.tensor[index[0], index[2], index[1], index[3]]

        self.compare(Swapped(q), Swapped(k), Swapped(v), Swapped(out), lse, [(0, 2, 0), (0, 1, 1)])

    def test_score_and_mask_functions_read_what_they_close_over(self):
        slopes = HostTensor("f32", [2], [0.5, -0.25])
        documents = HostTensor("i32", [1, 8], [0, 0, 0, 1, 1, 2, 2, 2])
        weight = attn.Scalar(1.0)
        kernel = attn.compile(head_dim=64, dtype="f16",
                              score_mod=lambda s, b, h, i, j: s + slopes[h] * (j - i) * weight,
                              mask_mod=lambda b, h, i, j: documents[b, i] == documents[b, j])
        q, k, v = (gaussian([1, 8, 2, 64], seed) for seed in (1, 2, 3))
        compiled = Executable.count()
        for value in (1.0, 3.0):
            weight.value = value
            out, lse = outputs(q, v)
            kernel(q, k, v, out=out, lse=lse)
            self.compare(q, k, v, out, lse, [(0, 1, 0), (0, 4, 1), (0, 7, 1)],
                         allow=lambda i, head: lambda j: documents[0, i] == documents[0, j],
                         score=lambda i, head: lambda s, j: s + slopes[head,] * (j - i) * value)
        self.assertEqual(Executable.count(), compiled)

    def test_captures_may_have_the_names_of_arguments_and_sizes(self):
        def score_of(q, sk, scale):
            return lambda s, b, h, i, j: s * scale + q[h] * (j - i) * sk

        def mask_of(b, i, items):
            return lambda batch, head, query, key: b[batch, query] + i != b[batch, key] * items

        slopes, documents = HostTensor("f32", [2], [0.5, -0.25]), HostTensor("i32", [1, 8], [0, 0, 0, 1, 1, 2, 2, 2])
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=score_of(slopes, attn.Scalar(2), attn.Scalar(0.5)),
                              mask_mod=mask_of(documents, attn.Scalar(1), attn.Scalar(3)))
        for name in ("q", "sk", "scale", "b", "i", "items"):
            self.assertIn(f'attn.name = "{name}"', kernel.ir)
        q, k, v = (gaussian([1, 8, 2, 64], seed) for seed in (1, 2, 3))
        out, lse = outputs(q, v)
        kernel(q, k, v, out=out, lse=lse)
        self.compare(q, k, v, out, lse, [(0, 1, 0), (0, 4, 1), (0, 7, 1)],
                     allow=lambda i, head: lambda j: documents[0, i] + 1 != documents[0, j] * 3,
                     score=lambda i, head: lambda s, j: s * 0.5 + slopes[head,] * (j - i) * 2)

    def test_one_kernel_serves_all_sizes(self):
        kernel = attn.compile(head_dim=64, dtype="f16")
        compiled = Executable.count()
        for batch, heads, length in ((1, 1, 1), (2, 3, 70), (1, 2, 0)):
            q, k, v = (gaussian([batch, length, heads, 64], seed) for seed in (1, 2, 3))
            kernel(q, k, v, out=outputs(q, v)[0], lse=outputs(q, v)[1])
        attn.compile(head_dim=64, dtype="float16")
        self.assertEqual(Executable.count(), compiled)


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = attn.compile(head_dim=64, dtype="f16")

    def refused(self, error, message, q, k, v, kernel=None, **rest):
        with self.assertRaisesRegex(error, message):
            (kernel or self.kernel)(q, k, v, **{**dict(zip(("out", "lse"), outputs(q, v))), **rest})

    def test_the_runtimes_rules_name_the_argument_and_both_values(self):
        q, k = gaussian([1, 4, 2, 64], 1), gaussian([1, 4, 2, 64], 2)
        self.refused(ValueError, "expected dim 3 of 'q' to be 64, got 72", gaussian([1, 4, 2, 72], 1), k, k)
        self.refused(ValueError, "expected dim 1 of 'v' to be 4 like dim 1 of 'k', got 5", q, k, gaussian([1, 5, 2, 64], 3))
        self.refused(ValueError, "the element type of 'k' to be f16, got .*32", q, HostTensor("f32", [1, 4, 2, 64]), k)
        self.refused(ValueError, "the stride of dim 3 of 'k' to be 1", q, gaussian([1, 4, 2, 64], 1, [1024, 256, 128, 2]), k)
        self.refused(ValueError, "3 query heads are not a multiple of 2 key/value heads", gaussian([1, 4, 3, 64], 1), k, k)

    def test_a_capture_is_not_taken_for_an_argument_of_its_name(self):
        def score_of(k):
            return lambda s, b, h, i, j: s + k[h + 0]

        table = HostTensor("f32", [2], [0.5, -0.25], [2])
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=score_of(table))
        q, k = gaussian([1, 4, 2, 64], 1), gaussian([1, 5, 2, 64], 2)
        self.refused(ValueError, "dim 0 of 'k' to be 1 since the last dim has to be contiguous", q, k, k, kernel=kernel)
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=score_of(HostTensor("f32", [2], [0.5, -0.25])))
        self.refused(ValueError, "expected dim 3 of 'k' to be 64, got 72", q, gaussian([1, 5, 2, 72], 2), k, kernel=kernel)

    def test_numbers(self):
        q = gaussian([1, 4, 2, 64], 1)
        self.refused(ValueError, "'scale' to be from 1.17549435e-38 to", q, q, q, scale=0.0)
        self.refused(ValueError, "expected 'window_left' not to be given", q, q, q, window_left=1)
        windowed = attn.compile(head_dim=64, dtype="f16", mask="causal_top_left", window_left=True)
        self.refused(ValueError, "expected 'window_left' to be given", q, q, q, kernel=windowed)
        self.refused(ValueError, "expected 'window_left' to be at least 0, got -1", q, q, q, kernel=windowed, window_left=-1)
        self.refused(ValueError, "'window_left' to be an integer, got 2.5", q, q, q, kernel=windowed, window_left=2.5)
        self.refused(ValueError, r"'window_left' to be below 2\*\*31, got 2147483648", q, q, q, kernel=windowed, window_left=2**31)
        self.refused(ValueError, "'scale' to be a number, got 'large'", q, q, q, scale="large")

    def test_dims_are_those_of_the_layout(self):
        kernel = attn.compile(head_dim=64, dtype="f16", layout="bhsd")
        q, k, v = (gaussian([1, 2, length, 64], length) for length in (4, 5, 6))
        with self.assertRaisesRegex(ValueError, "dim 2 of 'v' to be 5 like dim 2 of 'k', got 6"):
            kernel(q, k, v, out=HostTensor("f16", q.shape), lse=HostTensor("f32", [1, 2, 4]))

    def test_what_is_no_tensor(self):
        q = gaussian([1, 4, 2, 64], 1)
        with self.assertRaisesRegex(TypeError, "expected 'q' to be a tensor with __dlpack__, got list"):
            self.kernel([1.0], q, q)
        with self.assertRaisesRegex(TypeError, "expected 'out' and 'lse' to be given"):
            self.kernel(q, q, q)

    def test_a_capture_that_is_too_short(self):
        slopes = HostTensor("f32", [1], [0.5])
        kernel = attn.compile(head_dim=64, dtype="f16", score_mod=lambda s, b, h, i, j: s + slopes[h])
        q = gaussian([1, 4, 2, 64], 1)
        self.refused(ValueError, "dim 0 of the captured tensor 'slopes' to be at least 2, dim 2 of 'q', got 1", q, q, q,
                     kernel=kernel)

    def test_arguments_of_compile(self):
        for argument, value in (("mask", "causal"), ("layout", "sbhd"), ("dtype", "f32")):
            with self.assertRaisesRegex(ValueError, f"expected '{argument}' to be .*got '{value}'"):
                attn.compile(**{"head_dim": 64, argument: value})
        with self.assertRaisesRegex(ValueError, "multiple.* of 8"):
            attn.compile(head_dim=60)
        with self.assertRaisesRegex(ValueError, "sm_20"):
            attn.compile(head_dim=64, target="sm_20")
        for message, argument in (("'head_dim' to be an integer, got 64.0", dict(head_dim=64.0)),
                                  ("'head_dim_v' to be an integer, got '64'", dict(head_dim_v="64")),
                                  ("'window_left' to be True or False, .* got 128", dict(window_left=128)),
                                  ("'score_mod' to be a function, got 3", dict(score_mod=3))):
            with self.assertRaisesRegex(ValueError, message):
                attn.compile(**{"head_dim": 64, **argument})

    def test_what_is_found_in_a_mask_function_is_explained_without_compiling(self):
        compiled, starts = Executable.count(), HostTensor("i32", [4])
        for function, words in ((lambda b, h, q, kv: q >= kv, "Mask=causal_top_left"),
                                (lambda b, h, q, kv: (starts[q] <= kv) & (q >= kv), "keys from starts[i] to i + 1"),
                                (lambda b, h, q, kv: (q >= kv) & (q - kv < 9), "Mask=causal_top_left, window_left(8)"),
                                (lambda b, h, q, kv: (kv < 7) | (q >= kv), "keys from 0 to max(7, i + 1)"),
                                (lambda b, h, q, kv: q * kv < 9, "Staying=arith.cmpi")):
            text = attn.explain(function)
            self.assertIn(words, text)
            self.assertIn("schedule: 'fwd_d128", text)
        with self.assertRaisesRegex(attn.ArgumentError, "multiple"):
            attn.explain(head_dim=60)
        self.assertEqual(Executable.count(), compiled)

    def test_what_is_unsupported_is_said_without_compiling(self):
        compiled = Executable.count()
        self.assertEqual(attn.why_unsupported(head_dim=64, dtype="f16"), "")
        self.assertIn("multiple", attn.why_unsupported(head_dim=60))
        self.assertIn("expected 'mask' to be one of", attn.why_unsupported(head_dim=64, mask="banded"))
        self.assertEqual(Executable.count(), compiled)


class Import(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(attn.__version__, attn.version())

    def test_import_loads_no_tensor_library_and_no_own_one(self):
        code = ("import sys, attn; assert not {'torch', 'numpy'} & set(sys.modules); "
                "assert 'libattn' not in open('/proc/self/maps').read()")
        subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": os.path.dirname(os.path.dirname(attn.__file__))})


if __name__ == "__main__":
    unittest.main()
