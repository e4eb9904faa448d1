# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems for which the table has several kernels: each is compiled by the first call that needs it."""

import threading
import unittest

from package_support import HostTensor, expected_row, gaussian

import attn
from attn import _capi

FEW_KEYS, MANY_KEYS = 9, 1100  # without a mask, more than 1024 keys have another kernel if there are few queries


def count_compiles():
    return _capi.compiler_counters().compiles


class Call:
    def __init__(self, dim, keys):
        self.q, self.k, self.v = gaussian([1, 3, 1, dim], 1), gaussian([1, keys, 1, dim], 2), gaussian([1, keys, 1, dim], 3)
        self.out, self.lse = HostTensor("f16", self.q.shape), HostTensor("f32", [1, 1, 3])

    def run(self, kernel):
        kernel(self.q, self.k, self.v, out=self.out, lse=self.lse)

    def error(self):
        """Of the last row."""
        want, _ = expected_row(self.q, self.k, self.v, 0, 0, 2)
        return max(abs(self.out[0, 2, 0, c] - value) for c, value in enumerate(want))


class Variants(unittest.TestCase):
    def setUp(self):
        _capi.set_compiler_option("disable_cache", "1")

    def tearDown(self):
        _capi.set_compiler_option("disable_cache", "")
        _capi.set_compiler_option("disable_jit", "")

    def test_a_call_compiles_what_it_needs(self):
        kernel = attn.compile(head_dim=56, dtype="f16")
        before = count_compiles()
        for keys, compiles in ((FEW_KEYS, 1), (FEW_KEYS, 1), (MANY_KEYS, 2), (FEW_KEYS, 2), (MANY_KEYS, 2)):
            call = Call(56, keys)
            call.run(kernel)
            self.assertLess(call.error(), 2e-3)
            self.assertEqual(count_compiles() - before, compiles, keys)

    def test_a_call_that_cannot_compile_says_so_and_a_later_one_can(self):
        kernel = attn.compile(head_dim=120, dtype="f16")
        Call(120, FEW_KEYS).run(kernel)
        _capi.set_compiler_option("disable_jit", "1")
        call = Call(120, MANY_KEYS)
        with self.assertRaisesRegex(attn.CompileError, "compiling is disabled, and no cache has variant 0 of "):
            call.run(kernel)
        Call(120, FEW_KEYS).run(kernel)
        _capi.set_compiler_option("disable_jit", "")
        call.run(kernel)
        self.assertLess(call.error(), 2e-3)

    def test_threads_compile_each_kernel_once(self):
        kernel = attn.compile(head_dim=56, dtype="f16", mask="causal_bottom_right")
        calls = [Call(56, FEW_KEYS if n % 2 else MANY_KEYS) for n in range(6)]
        before = count_compiles()
        threads = [threading.Thread(target=call.run, args=(kernel,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(count_compiles() - before, 2)
        for call in calls:
            self.assertLess(call.error(), 2e-3)


if __name__ == "__main__":
    unittest.main()
