# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn.sdpa, attn.flash_attn_func and attn.attention on numpy arrays, on the
simulator, against float64."""

import inspect
import unittest

import package_support  # finds the package

import attn
from attn._executable import Executable

try:
    import numpy as np
    import package_reference as reference
except ImportError:
    np = None
try:
    import torch
except ImportError:
    torch = None

EPS = 2.0**-11  # of f16


class FunctionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if np is None:
            raise unittest.SkipTest("numpy is not installed")
        if not hasattr(np.ndarray, "__array_namespace__"):
            raise unittest.SkipTest("numpy is older than 2, and its arrays do not say how to make others")
        cls.random = np.random.default_rng(7)

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float16)

    def close(self, got, want, limit, what="out"):
        self.assertEqual(got.shape, want.shape)
        self.assertFalse(np.isnan(got).any())
        empty = np.isneginf(want)
        self.assertTrue((np.isneginf(got) == empty).all(), f"rows without keys in {what}")
        error = np.abs(np.where(empty, 0, got.astype(np.float64)) - np.where(empty, 0, want)).max(initial=0)
        self.assertLessEqual(error, limit, what)


class Sdpa(FunctionTest):
    def check(self, q, k, v, allow=None, score=None, scale=None, **arguments):
        """Compares with float64; tensors of rank 2 are one head."""
        if scale is not None:
            arguments["scale"] = scale
        out = attn.sdpa(q, k, v, **arguments)
        self.assertIsInstance(out, np.ndarray)
        q, k, v = (x if x.ndim > 2 else x[None] for x in (q, k, v))
        want, _ = reference.attention(q, k, v, allow, score, scale)
        self.close(out.reshape(want.shape) if out.ndim == 2 else out, want,
                   reference.bound(q, k, v, EPS, allow=allow, score=score, scale=scale))

    def test_causal_is_aligned_at_the_top_left(self):
        for rows, columns in ((20, 33), (33, 20), (1, 20), (64, 64)):
            i, j = reference.positions(rows, columns)
            q, k, v = self.normal(2, 2, rows, 64), self.normal(2, 2, columns, 64), self.normal(2, 2, columns, 64)
            self.check(q, k, v, is_causal=True, allow=j <= i)

    def test_masks_broadcast_and_may_empty_a_row(self):
        q, k, v = self.normal(2, 4, 20, 64), self.normal(2, 4, 33, 64), self.normal(2, 4, 33, 64)
        for shape in ((20, 33), (33,), (4, 20, 33), (2, 1, 1, 33), (2, 4, 20, 1), (2, 1, 20, 33)):
            mask = self.random.random(shape) > 0.5
            mask[..., :1] &= len(shape) != 4
            self.check(q, k, v, attn_mask=mask, allow=mask)
        mask = np.ones((20, 33), bool)
        mask[3] = mask[19] = False
        self.check(q, k, v, attn_mask=mask, allow=mask)

    def test_float_masks_are_added(self):
        q, k, v = self.normal(2, 4, 20, 64), self.normal(2, 4, 33, 64), self.normal(2, 4, 33, 64)
        for shape, dtype in (((20, 33), np.float32), ((2, 1, 1, 33), np.float16), ((4, 20, 1), np.float64)):
            bias = self.random.standard_normal(shape).astype(dtype)
            self.check(q, k, v, attn_mask=bias, score=lambda s, bias=bias: s + bias)
        bias = np.where(self.random.random((20, 33)) > 0.5, 0, -np.inf).astype(np.float32)
        bias[5] = -np.inf
        self.check(q, k, v, attn_mask=bias, score=lambda s: s + bias)

    def test_scales(self):
        q, k, v = self.normal(1, 2, 9, 64), self.normal(1, 2, 9, 64), self.normal(1, 2, 9, 64)
        for scale in (0.3, 0.0, -0.1):
            self.check(q, k, v, scale=scale)
            self.check(q, k, v, scale=scale, attn_mask=np.eye(9, dtype=np.float32), score=lambda s: s + np.eye(9))

    def test_heads_group_or_broadcast(self):
        q = self.normal(2, 4, 9, 64)
        for heads in (1, 2):
            self.check(q, self.normal(2, heads, 9, 64), self.normal(2, heads, 9, 64), enable_gqa=True)
        self.check(q, self.normal(2, 1, 9, 64), self.normal(2, 1, 9, 64))
        k, v = self.normal(2, 4, 9, 64), self.normal(2, 4, 9, 64)
        want, _ = reference.attention(np.repeat(q[:, :1], 4, 1), k, v)
        self.close(attn.sdpa(q[:, :1], k, v), want, reference.bound(q, k, v, EPS))

    def test_ranks_and_batch_dims_that_broadcast(self):
        q, k, v = self.normal(2, 3, 9, 64), self.normal(2, 3, 7, 64), self.normal(2, 3, 7, 64)
        self.check(q[0], k[0], v[0])
        self.check(q[0, 0], k[0, 0], v[0, 0])
        self.check(q[0], k, v)
        self.check(q, k[0], v[:1])

    def test_values_of_another_dim_no_keys_and_no_queries(self):
        self.check(self.normal(1, 2, 9, 192), self.normal(1, 2, 7, 192), self.normal(1, 2, 7, 128))
        self.check(self.normal(1, 2, 9, 64), self.normal(1, 2, 0, 64), self.normal(1, 2, 0, 64))
        self.check(self.normal(1, 2, 0, 64), self.normal(1, 2, 7, 64), self.normal(1, 2, 7, 64))

    def test_views_are_read_as_they_lie(self):
        data = self.normal(2, 30, 3, 4, 64)
        q, k, v = (data[:, :, n].transpose(0, 2, 1, 3) for n in range(3))
        self.check(q, k, v, is_causal=True, allow=np.tri(30, dtype=bool))

    def test_arrays_that_may_not_be_written(self):
        q, out, lse = self.normal(1, 9, 2, 64), np.zeros((1, 9, 2, 64), np.float16), np.zeros((1, 2, 9), np.float32)
        kernel = attn.compile(head_dim=64, dtype="f16")
        want = kernel(q, q, q)[0]
        q.flags.writeable = out.flags.writeable = False
        self.assertTrue(np.array_equal(kernel(q, q, q)[0], want))
        with self.assertRaisesRegex(ValueError, "'out' to be writable, got a ndarray that is not"):
            kernel(q, q, q, out=out, lse=lse)

    def test_arrays_of_jax_are_not_written(self):
        try:
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("jax is not installed")
        q = jnp.asarray(self.normal(1, 9, 2, 64))
        with self.assertRaisesRegex(ValueError, "'out' to be writable, got a ArrayImpl that is not"):
            attn.compile(head_dim=64, dtype="f16")(q, q, q, out=jnp.zeros_like(q))

    def test_the_bits_of_a_sequence_do_not_depend_on_its_batch(self):
        q, k, v = self.normal(3, 2, 20, 64), self.normal(3, 2, 33, 64), self.normal(3, 2, 33, 64)
        together = attn.sdpa(q, k, v, is_causal=True)
        for n in range(3):
            alone = attn.sdpa(q[n:n + 1], k[n:n + 1], v[n:n + 1], is_causal=True)
            self.assertEqual(alone.tobytes(), together[n:n + 1].tobytes())

    def test_refusals(self):
        q = self.normal(1, 4, 9, 64)
        cases = (
            (RuntimeError, "'attn_mask' to be None beside is_causal", dict(attn_mask=np.ones((9, 9), bool), is_causal=True)),
            (NotImplementedError, "'dropout_p' to be 0 for tensors that are not torch's", dict(dropout_p=0.1)),
            (RuntimeError, r"'attn_mask' to broadcast to \(1, 4, 9, 9\), got \(9, 8\)", dict(attn_mask=np.ones((9, 8), bool))),
            (RuntimeError, "truth values or floats, got int64", dict(attn_mask=np.ones((9, 9), np.int64))),
            (RuntimeError, "the element type of 'query', f16, got f32", dict(key=q.astype(np.float32))),
            (RuntimeError, "'key' to have the 4 heads of 'query', got 2: pass enable_gqa=True", dict(key=q[:, :2], value=q[:, :2])),
            (RuntimeError, "a multiple of those of 'key', 3, got 4", dict(key=q[:, :3], value=q[:, :3], enable_gqa=True)),
            (RuntimeError, "the heads of 'key', 2, got 4", dict(key=q[:, :2], enable_gqa=True)),
            (RuntimeError, "expected dim 3 of 'key' to be 64, got 32", dict(key=q[..., :32])),
            (ValueError, "'scale' to be a number, got 'large'", dict(scale="large")),
            (ValueError, "'attn_mask' to be a tensor, got 'causal'", dict(attn_mask="causal")),
            (RuntimeError, "'query' to have at least 2 dims, got 1", dict(query=q[0, 0, 0])),
            (RuntimeError, "the stride of dim 3 of 'key' to be 1", dict(key=q.repeat(2, -1)[..., ::2])),
        )
        for error, message, changed in cases:
            with self.subTest(message), self.assertRaisesRegex(error, message):
                attn.sdpa(**{"query": q, "key": q, "value": q, **changed})
        wide = self.normal(1, 1, 9, 264)
        for message, tensor in (("got f32", q.astype(np.float32)), ("multiple of 8 from 8 to 256, got 264", wide)):
            with self.assertRaisesRegex(NotImplementedError, message):
                attn.sdpa(tensor, tensor, tensor)


class FlashAttnFunc(FunctionTest):
    def check(self, rows, columns, allow=None, score=None, heads=(2, 2), **arguments):
        q, k, v = self.normal(2, rows, heads[0], 64), self.normal(2, columns, heads[1], 64), self.normal(2, columns, heads[1], 64)
        out, lse = attn.flash_attn_func(q, k, v, return_lse=True, **arguments)
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
        scale = arguments.get("softmax_scale")
        want, want_lse = reference.attention(q, k, v, allow, score, scale)
        self.close(out.swapaxes(1, 2), want, reference.bound(q, k, v, EPS, allow=allow, score=score, scale=scale))
        self.close(lse, want_lse, 3e-5 * max(1, np.abs(want_lse[np.isfinite(want_lse)]).max(initial=0)), "lse")

    def test_causal_is_aligned_at_the_bottom_right(self):
        for rows, columns in ((20, 33), (33, 20), (1, 20), (64, 64)):
            i, j = reference.positions(rows, columns)
            self.check(rows, columns, causal=True, allow=j <= i + columns - rows)

    def test_windows(self):
        rows, columns = 40, 50
        i, j = reference.positions(rows, columns)
        d = j - (i + columns - rows)
        for window, allow in (((-1, -1), d < 100), ((5, 3), (d >= -5) & (d <= 3)), ((5, -1), d >= -5), ((None, 0), d <= 0),
                              ((0, 0), d == 0)):
            self.check(rows, columns, window_size=window, allow=allow)
        self.check(rows, columns, window_size=(7, 9), causal=True, allow=(d >= -7) & (d <= 0))

    def test_softcap_and_alibi(self):
        i, j = reference.positions(20, 33)
        distance = np.abs(i + 13 - j)
        slopes = np.array([0.5, 0.125], np.float32)
        by_batch = np.array([[0.5, 0.125], [1, 0]], np.float32)
        self.check(20, 33, softcap=2.0, score=lambda s: 2 * np.tanh(s / 2))
        self.check(20, 33, alibi_slopes=slopes, score=lambda s: s - slopes[:, None, None] * distance)
        self.check(20, 33, alibi_slopes=by_batch, score=lambda s: s - by_batch[:, :, None, None] * distance)
        self.check(20, 33, softcap=3.0, alibi_slopes=slopes, causal=True, allow=j <= i + 13,
                   score=lambda s: 3 * np.tanh(s / 3) - slopes[:, None, None] * distance)

    def test_large_caps_change_nothing(self):
        q, k, v = self.normal(1, 20, 1, 64), self.normal(1, 33, 1, 64), self.normal(1, 33, 1, 64)
        out, lse = attn.flash_attn_func(q, k, v, softmax_scale=2.0, return_lse=True)
        for cap in (1e4, 1e6, 1e30):
            capped, capped_lse = attn.flash_attn_func(q, k, v, softmax_scale=2.0, softcap=cap, return_lse=True)
            want = lse if cap > 1e5 else reference.attention(*(x.swapaxes(1, 2) for x in (q, k, v)), scale=2.0,
                                                             score=lambda s: cap * np.tanh(s / cap))[1]
            self.close(capped, out, 2 * EPS * np.abs(out).max())
            self.close(capped_lse, want, 2.0**-18 * np.abs(lse).max(), "lse")

    def test_scale_and_groups(self):
        self.check(9, 9, softmax_scale=0.3, heads=(4, 2))

    def test_what_is_returned(self):
        q = self.normal(1, 9, 2, 64)
        self.assertEqual(attn.flash_attn_func(q, q, q).shape, (1, 9, 2, 64))
        out, lse, probabilities = attn.flash_attn_func(q, q, q, return_attn_probs=True)
        self.assertEqual((out.shape, lse.shape, lse.dtype, probabilities), ((1, 9, 2, 64), (1, 2, 9), np.float32, None))

    def test_refusals(self):
        q = self.normal(1, 9, 2, 64)
        for error, message, changed in (
                (NotImplementedError, "'dropout_p' to be 0 for tensors that are not torch's", dict(dropout_p=0.5)),
                (ValueError, "'softcap' to be from 0 to 1e.30, got -1", dict(softcap=-1)),
                (ValueError, "'softcap' to be from 0 to 1e.30, got nan", dict(softcap=float("nan"))),
                (ValueError, "'softcap' to be from 0 to 1e.30, got inf", dict(softcap=float("inf"))),
                (ValueError, r"'window_size' to be \(left, right\), got 8", dict(window_size=8)),
                (ValueError, r"'window_size' to be \(left, right\), got \(1, 2, 3\)", dict(window_size=(1, 2, 3))),
                (ValueError, "'window_size' to be an integer, got 1.5", dict(window_size=(1.5, 0))),
                (ValueError, r"'window_size' to be below 2\*\*31, got 9223372036854775808", dict(window_size=(0, 2**63))),
                (ValueError, r"'alibi_slopes' to be \(2,\) or \(1, 2\), got \(3,\)", dict(alibi_slopes=np.ones(3, np.float32))),
                (ValueError, "'alibi_slopes' to be float32, got float64", dict(alibi_slopes=np.ones(2))),
                (ValueError, "'k' to have rank 4, got 3", dict(k=q[0]))):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                attn.flash_attn_func(**{"q": q, "k": q, "v": q, **changed})


class Attention(FunctionTest):
    def check(self, score_mod=None, mask_mod=None, allow=None, score=None, rows=20, columns=33):
        q, k, v = self.normal(2, 4, rows, 64), self.normal(2, 4, columns, 64), self.normal(2, 4, columns, 64)
        out, lse = attn.attention(q, k, v, score_mod, mask_mod, return_lse=True)
        want, want_lse = reference.attention(q, k, v, allow, score)
        self.close(out, want, reference.bound(q, k, v, EPS, allow=allow, score=score))
        self.close(lse, want_lse, 3e-5 * max(1, np.abs(want_lse[np.isfinite(want_lse)]).max(initial=0)), "lse")

    def test_captures_of_all_kinds(self):
        bias = self.random.standard_normal((4, 33))
        ids = np.sort(self.random.integers(0, 3, (2, 33)))
        seen = self.random.random((20, 33)) > 0.3
        half = self.normal(4)
        factor = np.float32(0.5)
        self.check(lambda s, b, h, i, j: s * factor + bias[h, j] - half[h],
                   score=lambda s: s * 0.5 + bias[:, None] - half[:, None, None].astype(float))
        self.check(mask_mod=lambda b, h, i, j: (ids[b, i] == ids[b][j]) & seen[i, j],
                   allow=(ids[:, :20, None] == ids[:, None])[:, None] & seen)

    def test_integers_divide_as_in_python(self):
        i, j = reference.positions(20, 33)
        for f in (lambda i, j: (i - j) // 3, lambda i, j: (j - i) % 5,  lambda i, j: i // 3,
                  lambda i, j: (i - j) // 4 - (i - j) % 8, lambda i, j: j % 3, lambda i, j: (i - j) / 7):
            self.check(lambda s, b, h, i, j: s + f(i, j), score=lambda s: s + f(i, j))

    def test_functions(self):
        i, j = reference.positions(20, 33)
        cases = {
            "where": (lambda s, b, h, i, j: np.where(i >= j, s, s - 1.5), lambda s: np.where(i >= j, s, s - 1.5)),
            "tanh": (lambda s, b, h, i, j: 3 * np.tanh(s / 3), lambda s: 3 * np.tanh(s / 3)),
            "exp": (lambda s, b, h, i, j: np.exp(-abs(s)) + np.exp2(-s**2), lambda s: np.exp(-abs(s)) + np.exp2(-s**2)),
            "log": (lambda s, b, h, i, j: np.log(1 + s * s) + np.log2(2 + s**2), lambda s: np.log(1 + s * s) + np.log2(2 + s**2)),
            "sqrt": (lambda s, b, h, i, j: np.sqrt(abs(s)) - (1 + s**2)**-0.5, lambda s: np.sqrt(abs(s)) - (1 + s**2)**-0.5),
            "clip": (lambda s, b, h, i, j: np.clip(s, -1, 0.5), lambda s: np.clip(s, -1, 0.5)),
            "maximum": (lambda s, b, h, i, j: np.maximum(s, 0) + np.minimum(i, j), lambda s: np.maximum(s, 0) + np.minimum(i, j)),
            "logic": (lambda s, b, h, i, j: s + ((i > j) ^ (j < 9)) * 2.0, lambda s: s + ((i > j) ^ (j < 9)) * 2.0),
            "bits": (lambda s, b, h, i, j: s + ((i << 1) & (j | 5)) - (j >> 2), lambda s: s + ((i << 1) & (j | 5)) - (j >> 2)),
        }
        for name, (traced, plain) in cases.items():
            with self.subTest(name):
                self.check(traced, score=plain)

    def test_a_number_that_changes_compiles_two_kernels(self):
        before = Executable.count()
        i, j = reference.positions(20, 33)
        for width in range(3, 9):
            self.check(lambda s, b, h, i, j: s * (width + 0.5) - width, lambda b, h, i, j: abs(i - j) < width,
                       np.abs(i - j) < width, lambda s: s * (width + 0.5) - width)
        self.assertEqual(Executable.count() - before, 6)  # Python adds the half
        for width in np.arange(3, 9):
            self.check(lambda s, b, h, i, j: s * width, lambda b, h, i, j: abs(i - j) < width, np.abs(i - j) < width,
                       lambda s: s * width)
        self.assertEqual(Executable.count() - before, 8)

    def test_functions_of_a_float_are_accurate(self):
        """Within 2^-18 of the result or, where that is smaller, of the operand or 1."""
        if torch is None:
            self.skipTest("torch is not installed")
        sizes = np.concatenate([np.linspace(0.001, 20, 700), np.geomspace(1e-30, 3e38, 500)]).astype(np.float32)
        x = np.concatenate([-sizes, sizes])
        q, one = np.zeros((1, 1, len(x), 64), np.float16), np.ones((1, 1, 1, 64), np.float16)
        functions = [name for name in attn.ops.__all__ if len(inspect.signature(getattr(attn.ops, name)).parameters) == 1]
        self.assertIn("tanh", functions)
        for name in functions:
            with self.subTest(name):
                want = getattr(torch, name)(torch.from_numpy(x).double()).numpy()
                finite = np.isfinite(want) & (np.abs(want) < 1e38)
                # Of one key, the log-sum-exp is the score. Powers of two bring it close to 1.
                size = np.maximum(np.where(finite, np.abs(want), 1), np.minimum(np.abs(x), 1))
                power = np.exp2(-np.floor(np.log2(size))).astype(np.float32)
                _, lse = attn.attention(q, one, one, lambda s, b, h, i, j: getattr(attn.ops, name)(x[i]) * power[i],
                                        return_lse=True)
                error = np.abs(lse[0, 0] - want * power)[finite] / (size * power)[finite]
                self.assertLessEqual(error.max(), 2.0**-18)

    def test_masks_alone(self):
        i, j = reference.positions(20, 33)
        self.check(mask_mod=lambda b, h, i, j: (i >= j) | (j < 4), allow=(i >= j) | (j < 4))
        self.check(mask_mod=lambda b, h, i, j: ~(i // 4 == 2) & (i != j), allow=~(i // 4 == 2) & (i != j))
        self.check(mask_mod=lambda b, h, i, j: False, allow=np.zeros((20, 33), bool))

    def test_scores_of_minus_infinity(self):
        i, j = reference.positions(20, 33)
        self.check(lambda s, b, h, i, j: np.where(i - j >= 5, s, -float("inf")), allow=i - j >= 5)

    def test_heads_without_enable_gqa(self):
        q = self.normal(1, 4, 9, 64)
        with self.assertRaisesRegex(ValueError, "'key' to have the 4 heads of 'query', got 2: pass enable_gqa=True"):
            attn.attention(q, q[:, :2], q[:, :2])
        with self.assertRaisesRegex(ValueError, "heads of 'query' to be a multiple of those of 'key', 3, got 4"):
            attn.attention(q, q[:, :3], q[:, :3], enable_gqa=True)

    def test_operands_that_are_refused(self):
        q, wide = self.normal(1, 4, 9, 64), self.normal(1, 1, 9, 20)
        for error, message, tensor in ((NotImplementedError, "bfloat16 or float16, got float32: cast it", q.astype(np.float32)),
                                       (NotImplementedError, "'query' to be a multiple of 8 from 8 to 256, got 20", wide),
                                       (ValueError, "'query' to have 4 dims, got 3", q[0])):
            with self.assertRaisesRegex(error, message):
                attn.attention(tensor, tensor, tensor)


if __name__ == "__main__":
    unittest.main()
