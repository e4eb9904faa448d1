# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that JAX's arrays are accepted, and that its functions and transforms are refused with a message."""

import unittest

import package_support  # finds the package

import attn

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
except ImportError:
    jax = None


@unittest.skipIf(jax is None, "JAX is not installed")
class Jax(unittest.TestCase):
    def setUp(self):
        self.q = jnp.asarray(np.random.default_rng(5).standard_normal((1, 2, 9, 64)), dtype=jnp.float16)

    def test_functions_of_jax_numpy(self):
        for function in (lambda s, b, h, i, j: jnp.where(i > j, s, 0.0), lambda s, b, h, i, j: jnp.exp(s),
                         lambda s, b, h, i, j: s + jnp.abs(i - j), lambda s, b, h, i, j: jax.nn.relu(s),
                         lambda s, b, h, i, j, where=jnp.where: where(i > j, s, 0.0)):
            with self.subTest(), self.assertRaisesRegex(attn.TraceError, "a function of JAX, at package_jax_test.py.* attn.ops"):
                attn.attention(self.q, self.q, self.q, function)

    def test_a_captured_array(self):
        bias = jnp.asarray([0.5, 2.0], dtype=jnp.bfloat16)
        out = np.empty(self.q.shape, np.float16), np.empty(self.q.shape[:3], np.float32)
        kernel = attn.compile(head_dim=64, dtype="f16", layout="bhsd", score_mod=lambda s, b, h, i, j: s * 0 + bias[h] * j * jnp.float32(1))
        kernel(self.q, self.q, self.q, out=out[0], lse=out[1])
        want = np.log(np.exp(np.outer([0.5, 2.0], np.arange(9))).sum(-1))
        self.assertLess(np.abs(out[1][0, :, 3] - want).max(), 1e-5)

    def test_transforms(self):
        def call(q):
            return attn.attention(q, q, q)

        for name, transformed in {"jit": jax.jit(call), "grad": jax.grad(lambda q: call(q).sum()), "vmap": jax.vmap(call),
                                  "sdpa": jax.jit(lambda q: attn.sdpa(q, q, q)),
                                  "flash": jax.jit(lambda q: attn.flash_attn_func(q, q, q))}.items():
            q = self.q[None] if name == "vmap" else self.q
            with self.subTest(name), self.assertRaisesRegex(attn.UnsupportedError, "has no memory, since jax traces the caller"):
                transformed(q)

    def test_a_captured_tracer(self):
        def call(factor):
            return attn.attention(self.q, self.q, self.q, lambda s, b, h, i, j: s * factor)

        with self.assertRaisesRegex(attn.UnsupportedError, "'factor' has no memory, since jax traces the caller"):
            jax.jit(call)(jnp.float32(2))


if __name__ == "__main__":
    unittest.main()
