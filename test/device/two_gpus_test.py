# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two GPUs in one process: kernels run on the device of their tensors, whichever is
the current one."""

import os
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "python")]
import hardware

ENOUGH = hardware.gpus().count("sm_90") >= 2
if ENOUGH:
    import package_support  # finds the package
    import torch

    import attn


@unittest.skipUnless(ENOUGH, "needs two GPUs of architecture sm_90")
class TwoGpus(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.addCleanup(torch.set_grad_enabled, torch.is_grad_enabled())
        torch.set_grad_enabled(False)
        self.addCleanup(torch.cuda.set_device, torch.cuda.current_device())
        self.q = torch.randn(2, 700, 8, 128).bfloat16()
        double = self.q.double().transpose(1, 2)
        self.want = torch.nn.functional.scaled_dot_product_attention(double, double, double, is_causal=True).transpose(1, 2)

    def check(self, out, device):
        self.assertEqual(out.device.index, device)
        self.assertLessEqual((out.cpu().double() - self.want).abs().max().item(), 0.05)

    def test_the_tensors_say_which_device(self):
        both = [self.q.to(f"cuda:{n}") for n in range(2)]
        for current in (0, 1):
            torch.cuda.set_device(current)
            for device in (0, 1, 1, 0):
                q = both[device]
                self.check(attn.flash_attn_func(q, q, q, causal=True), device)
                self.assertEqual(torch.cuda.current_device(), current)
                # The context that torch works in is what it was.
                self.assertEqual(torch.ones(1, device="cuda").device.index, current)

    def test_results_do_not_depend_on_the_device(self):
        outs = [attn.flash_attn_func(*3 * [self.q.to(f"cuda:{n}")], causal=True).cpu() for n in range(2)]
        self.assertTrue(torch.equal(*outs))

    def test_streams_and_threads_of_both(self):
        results = [[], []]

        def launch(device):
            torch.set_grad_enabled(False)
            q = self.q.to(f"cuda:{device}")
            # Both threads keep device 0 current.
            with torch.cuda.stream(torch.cuda.Stream(device)):
                torch.cuda.set_device(0)
                torch.cuda.synchronize(device)
                stream = torch.cuda.current_stream(device)
                for _ in range(50):
                    results[device].append(attn.flash_attn_func(q, q, q, causal=True))
                stream.synchronize()

        threads = [threading.Thread(target=launch, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for device in range(2):
            torch.cuda.synchronize(device)
            self.assertEqual(len(results[device]), 50)
            self.check(results[device][0], device)
            for out in results[device]:
                self.assertTrue(torch.equal(out, results[device][0]))

    def test_tensors_of_both_are_refused(self):
        q, k = self.q.to("cuda:0"), self.q.to("cuda:1")
        with self.assertRaisesRegex(ValueError, "the device of 'k' to be cuda:0, got cuda:1"):
            attn.compile(head_dim=128)(q, k, k)
        with self.assertRaisesRegex(ValueError, "'key' to be on the device of 'query', cuda:0, got cuda:1"):
            attn.sdpa(q, k, k)


if __name__ == "__main__":
    unittest.main()
