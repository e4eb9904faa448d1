# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a graph is recorded is asked of the tensor's device, and workspaces are
allocated where no pool of graphs has them, by a torch made up here."""

import contextlib
import threading
import types
import unittest
from unittest import mock

import package_support  # finds the package
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


class Workspaces(unittest.TestCase):
    def test_are_allocated_by_another_thread_and_stream(self):
        allocated, recorded = [], []

        class Streams:
            current = threading.local()

            def Stream(self, index):
                return f"own stream of {index}"

            def current_stream(self, device):
                return "caller's stream"

            @contextlib.contextmanager
            def stream(self, stream):
                self.current.stream = stream
                yield

        def empty(size, dtype, device):
            allocated.append((size, device, streams.current.stream, threading.get_ident()))
            return types.SimpleNamespace(record_stream=recorded.append)

        streams, device = Streams(), types.SimpleNamespace(index=1)
        torch = types.SimpleNamespace(cuda=streams, empty=empty, uint8="uint8")
        with mock.patch.object(_tensors, "torch_module", lambda: torch):
            _tensors._allocating_stream.cache_clear()
            self.addCleanup(_tensors._allocating_stream.cache_clear)
            _tensors.lasting_bytes(types.SimpleNamespace(device=device), 64)
        (size, on, stream, thread), = allocated
        self.assertEqual((size, on, stream, recorded), (64, device, "own stream of 1", ["caller's stream"]))
        self.assertNotEqual(thread, threading.get_ident())


if __name__ == "__main__":
    unittest.main()
