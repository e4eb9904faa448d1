# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA graphs that have launches of attn, on a GPU: those of torch.compile and others, with
pools of memory that come and go."""

import gc
import os
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(os.path.dirname(TEST), "python")]
import hardware
from bundles import BUILD

try:
    import torch
except ImportError:
    torch = None

if "sm_90" in hardware.gpus() and torch is not None:
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.join(BUILD, "lib"))
    import attn
    from attn._executable import Executable

REPLAYS = 100


def causal(q, k):
    return attn.sdpa(q * 2, k, -k, is_causal=True, enable_gqa=True) * 2


def window(q, k):
    out, lse = attn.flash_attn_func(q.transpose(1, 2), k.transpose(1, 2), k.transpose(1, 2), causal=True, window_size=(99, 0),
                                    return_lse=True)
    return out.transpose(1, 2) * 2, lse * 2


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
@unittest.skipIf(torch is None, "needs a GPU of architecture sm_90 with torch")
class Graphs(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.addCleanup(torch.set_grad_enabled, torch.is_grad_enabled())
        torch.set_grad_enabled(False)

    def inputs(self, length=700):
        return tuple(torch.randn(2, heads, length, 128, device="cuda").bfloat16() for heads in (8, 2))

    def equal(self, got, want):
        for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else ((got, want),):
            self.assertTrue(torch.equal(one, other))

    def forget_workspaces(self):
        """Makes the next launch of each kernel the first one."""
        from attn import _replay

        torch.cuda.synchronize()
        _replay._remembered.replays.clear()
        for executable in Executable._known.values():
            executable._workspaces.clear()

    def blocks_of_graphs(self):
        return [block for executable in Executable._known.values() for block in executable._graph_memory._blocks]

    def check_workspaces(self):
        """All workspaces that later launches use are allocated, and in no pool of graphs."""
        segments = torch.cuda.memory_snapshot()
        found = [view.pointer for executable in Executable._known.values() for view in executable._workspaces.values()]
        found += [block.tensor.data_ptr() for block in self.blocks_of_graphs()]
        self.assertTrue(found)
        for address in found:
            segment, = (s for s in segments if s["address"] <= address < s["address"] + s["total_size"])
            self.assertEqual(tuple(segment["segment_pool_id"]), (0, 0))
            start, states = segment["address"], []
            for block in segment["blocks"]:
                if start <= address < start + block["size"]:
                    states.append(block["state"])
                start += block["size"]
            self.assertEqual(states, ["active_allocated"])

    def overwrite_free_memory(self):
        gc.collect()
        torch.cuda.synchronize()
        for size in (512, 4096, 1 << 16, 1 << 21, 1 << 24):
            kept = [torch.full((size,), 0xA5, dtype=torch.uint8, device="cuda") for _ in range(64)]
            del kept
        torch.cuda.synchronize()

    def test_two_functions_under_reduce_overhead(self):
        import torch._dynamo.utils
        from torch._inductor import cudagraph_trees

        for _ in range(2):  # the second time after the first graphs and their pool are gone
            self.forget_workspaces()
            torch._dynamo.reset()
            torch._dynamo.utils.counters.clear()
            functions = [(each, torch.compile(each, mode="reduce-overhead", fullgraph=True)) for each in (causal, window)]
            for _ in range(REPLAYS):
                for plain, compiled in functions:
                    q, k = self.inputs()
                    torch.compiler.cudagraph_mark_step_begin()
                    self.equal(compiled(q, k), plain(q, k))
            self.assertEqual(torch._dynamo.utils.counters["inductor"]["cudagraph_skips"], 0)
            manager = cudagraph_trees.get_manager(torch.cuda.current_device(), create_if_none_exists=False)
            self.assertGreaterEqual(sum(map(len, manager.roots.values())), 2)
            self.check_workspaces()
            del functions, compiled, manager
            torch._dynamo.reset()
            cudagraph_trees.reset_cudagraph_trees()
            self.overwrite_free_memory()
            self.check_workspaces()
        q, k = self.inputs()
        self.equal(causal(q, k), causal(q, k))

    def test_the_first_launches_in_a_pool_that_goes(self):
        self.forget_workspaces()
        stream, pool = torch.cuda.Stream(), torch.cuda.MemPool()
        q, k = self.inputs()
        wants = [each(q, k) for each in (causal, window)]
        torch.cuda.synchronize()
        for number in range(3):
            with torch.cuda.stream(stream):
                if number == 0:
                    with torch.cuda.use_mem_pool(pool):
                        results = [each(q, k) for each in (causal, window)]
                else:
                    results = [each(q, k) for each in (causal, window)]
            torch.cuda.synchronize()
            for got, want in zip(results, wants):
                self.equal(got, want)
            del results, got
            pool = None
            self.check_workspaces()
            self.overwrite_free_memory()

    def capture(self, function, *inputs, **options):
        graph = torch.cuda.CUDAGraph()
        function(*inputs)  # kernels are not loaded under capture
        with torch.cuda.graph(graph, **options):
            return graph, function(*inputs)

    def test_graphs_that_share_a_pool(self):
        q, k = self.inputs()
        first, first_out = self.capture(causal, q, k)
        second, second_out = self.capture(window, q, k, pool=first.pool())
        for number in range(REPLAYS):
            for static, fresh in zip((q, k), self.inputs()):
                static.copy_(fresh)
            if first:
                first.replay()
                self.equal(first_out, causal(q, k))
            second.replay()
            self.equal(second_out, window(q, k))
            if number == REPLAYS // 2:
                first = first_out = None
                self.overwrite_free_memory()
        self.check_workspaces()

    def count_memsets(self, graph):
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as record:
            graph.replay()
            torch.cuda.synchronize()
        return sum(event.count for event in record.key_averages() if event.key.startswith("Memset"))

    def test_launches_of_a_graph_share_a_workspace_that_is_cleared_once(self):
        def several(q, k):
            return tuple(attn.flash_attn_func(q, k, k, causal=True) for _ in range(5))

        q, k = (x.transpose(1, 2).contiguous() for x in self.inputs())
        several(q, k)
        before, graph = len(self.blocks_of_graphs()), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outs = several(q, k)
        self.assertEqual((len(self.blocks_of_graphs()), self.count_memsets(graph)), (before + 1, 1))
        for _ in range(REPLAYS):
            q.copy_(torch.randn_like(q))
            graph.replay()
            self.equal(outs, several(q, k))
        self.check_workspaces()

    def test_a_workspace_is_for_another_graph_when_its_own_is_gone(self):
        q, k = self.inputs()
        first, _ = self.capture(causal, q, k)
        count = len(self.blocks_of_graphs())
        second, second_out = self.capture(causal, q, k)
        self.assertEqual(len(self.blocks_of_graphs()), count + 1)
        del first
        gc.collect()
        torch.cuda.synchronize()
        third, third_out = self.capture(causal, q, k)
        self.assertEqual(len(self.blocks_of_graphs()), count + 1)
        for _ in range(REPLAYS):
            q.copy_(torch.randn_like(q))
            second.replay()
            third.replay()
            self.equal((second_out, third_out), (causal(q, k),) * 2)

    def test_graphs_of_threads_on_streams_of_their_own(self):
        count, failures, capturing = 6, [], threading.Lock()
        start = threading.Barrier(count)

        def replay(number):
            torch.set_grad_enabled(False)
            stream, function = torch.cuda.Stream(), (causal, window)[number % 2]
            with torch.cuda.stream(stream):
                inputs = [self.inputs(100 + 150 * number) for _ in range(4)]
                wants = [function(*pair) for pair in inputs]
                static = [tensor.clone() for tensor in inputs[0]]
                stream.synchronize()
                start.wait()
                with capturing:
                    graph, out = self.capture(function, *static, stream=stream, capture_error_mode="thread_local")
                start.wait()
                for step in range(REPLAYS):
                    for tensor, fresh in zip(static, inputs[step % 4]):
                        tensor.copy_(fresh)
                    graph.replay()
                    self.equal(out, wants[step % 4])

        def run(number):
            try:
                replay(number)
            except BaseException as error:
                failures.append(error)
                start.abort()

        threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.check_workspaces()


if __name__ == "__main__":
    unittest.main()
