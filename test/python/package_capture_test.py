# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a graph is recorded is asked of the tensor's device, by a torch made up here."""

import contextlib
import types
import unittest
from unittest import mock

import package_support  # noqa: F401  (finds the package)
from attn import _tensors


class Cuda:
    """Two devices, of which each has one stream."""

    def __init__(self, current, capturing):
        self.current, self.capturing = current, capturing

    def current_device(self):
        return self.current

    def is_current_stream_capturing(self):
        return self.current in self.capturing

    @contextlib.contextmanager
    def device(self, index):
        before, self.current = self.current, index
        yield
        self.current = before


class Capture(unittest.TestCase):
    def is_capturing(self, current, capturing, index):
        cuda = Cuda(current, capturing)
        tensor = types.SimpleNamespace(device=types.SimpleNamespace(index=index))
        with mock.patch.object(_tensors, "torch_module", lambda: types.SimpleNamespace(cuda=cuda)):
            answer = _tensors.is_capturing(tensor)
        self.assertEqual(cuda.current, current)
        return answer

    def test_on_the_current_device(self):
        self.assertTrue(self.is_capturing(0, {0}, 0))
        self.assertFalse(self.is_capturing(0, {1}, 0))

    def test_on_another_device(self):
        self.assertTrue(self.is_capturing(0, {1}, 1))
        self.assertFalse(self.is_capturing(0, {0}, 1))


if __name__ == "__main__":
    unittest.main()
