# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which launches under graph capture share a workspace. Graphs and memory are stand-ins; test/device/graphs_test.py
records and replays real ones."""

import types
import unittest
from unittest import mock

import package_support
from attn import _capi, _graph_memory, _tensors


class Memory:
    def __init__(self, size):
        self.size, self.clears = size, 0

    def numel(self):
        return self.size

    def data_ptr(self):
        return id(self)


class GraphMemoryTest(unittest.TestCase):
    def setUp(self):
        self.capture, self.graphs, self.made = 1, {}, []
        self.memory = _graph_memory.GraphMemory()
        for module, name, function in ((_capi, "capture_number", lambda device, stream: self.capture),
                                       (_capi, "clear_in_graph", self.clear),
                                       (_tensors, "lasting_bytes", self.make)):
            patch = mock.patch.object(module, name, function)
            patch.start()
            self.addCleanup(patch.stop)

    def clear(self, device, stream, address, size):
        memory, = (memory for memory in self.made if id(memory) == address)
        self.assertEqual(size, memory.size)
        memory.clears += 1
        return self.graphs.setdefault(self.capture, types.SimpleNamespace(value=0))

    def make(self, like, size):
        self.made.append(Memory(size))
        return self.made[-1]

    def find(self, size=64, stream=7, device=0):
        return self.memory.find(types.SimpleNamespace(device=types.SimpleNamespace(index=device)), size, stream)

    def test_launches_of_a_stream_and_a_graph_share_memory_that_is_cleared_once(self):
        first = self.find()
        self.assertIs(self.find(), first)
        self.assertIs(self.find(size=32), first)
        self.assertEqual(first.clears, 1)

    def test_other_streams_devices_and_graphs_have_their_own(self):
        found = [self.find(), self.find(stream=8), self.find(device=1)]
        self.capture = 2
        found.append(self.find())
        self.assertEqual(len({id(memory) for memory in found}), 4)
        self.assertEqual([memory.clears for memory in found], [1] * 4)

    def test_memory_of_a_graph_that_is_gone_is_cleared_for_the_next(self):
        first = self.find()
        self.graphs[1].value, self.capture = 1, 2
        self.assertIs(self.find(), first)
        self.assertEqual(first.clears, 2)

    def test_a_launch_that_needs_more_has_larger_memory(self):
        first = self.find()
        larger = self.find(size=128)
        self.assertIsNot(larger, first)
        self.assertEqual((larger.size, larger.clears), (128, 1))

    def test_nothing_is_shared_if_the_driver_does_not_say_which_graph(self):
        self.capture = 0
        self.assertIsNone(self.find())

    def test_nothing_is_shared_if_the_end_of_a_graph_cannot_be_known(self):
        with mock.patch.object(_capi, "clear_in_graph", lambda *arguments: None):
            self.assertIsNone(self.find())
        self.assertIsNotNone(self.find())


if __name__ == "__main__":
    unittest.main()
