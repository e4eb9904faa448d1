# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated launches on a full GPU: bit-identical outputs, and gradients, for every head dim, with
NaNs in all memory that nothing else has.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BUNDLES is a folder with
repeats_d64.attn, repeats_bwd_d64.attn and so on, of the problems below.
"""

import ctypes
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "probes"), os.path.join(TEST, "Inputs")]
import attention_ir
import hardware
from bundles import BUILD, BUNDLES, RUNNER, run
from cuda import CudaError, Driver

HEAD_DIMS = ((64, 64), (72, 72), (96, 96), (128, 128), (192, 192), (192, 128), (256, 256))
REPEATS = 1000
# Left to the launches: their tensors, and a context.
LEFT_BYTES = 4 << 30
CHUNK_BYTES = 1 << 30


def name_of(d, dv, options):
    return "_".join(["repeats", *(option.strip("-") for option in options), f"d{d}" + (f"x{dv}" if dv != d else "")])


def source_of(d, dv):
    return attention_ir.write(attention_ir.parse([f"--head-dim={d}", f"--head-dim-v={dv}", "--mask=causal_bottom_right"]))


def fill(driver):
    """Takes the free memory, in bytes; it goes with the process."""
    taken, free, total = 0, ctypes.c_size_t(), ctypes.c_size_t()
    while True:
        driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        if free.value < LEFT_BYTES + CHUNK_BYTES:
            return taken
        pointer = ctypes.c_uint64()
        try:
            driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(CHUNK_BYTES))
        except CudaError:
            return taken
        driver.call("cuMemsetD8_v2", pointer, ctypes.c_ubyte(0xFF), ctypes.c_size_t(CHUNK_BYTES))
        taken += CHUNK_BYTES


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Repeats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temp.cleanup)
        cls.driver = Driver()
        cls.taken = fill(cls.driver)
        print(f"{cls.taken >> 30} GiB filled with NaNs")

    def bundle(self, name, d, dv, options):
        if BUNDLES:
            return os.path.join(BUNDLES, name + ".attn")
        path = os.path.join(self.temp.name, name)
        with open(path + ".mlir", "w", encoding="utf-8") as file:
            file.write(source_of(d, dv))
        done = run([os.path.join(BUILD, "bin", "attn-compile"), path + ".mlir", "-o", path + ".attn", *options])
        self.assertEqual(done.returncode, 0, done.stdout)
        return path + ".attn"

    def repeat(self, name, d, dv, options):
        self.assertGreater(self.taken, 0)
        done = run([RUNNER, self.bundle(name, d, dv, options), "--device=cuda", f"--q=2x1031x8x{d}", f"--kv=2x1031x2x{d}", "--check",
                    "--guard", f"--repeat={REPEATS}"])
        self.assertEqual(done.returncode, 0, done.stdout)
        print(f"{name}: {REPEATS} launches bit-identical", flush=True)


def add_test(d, dv, options):
    name = name_of(d, dv, options)
    setattr(Repeats, f"test_{name}", lambda self: self.repeat(name, d, dv, options))


for dims in HEAD_DIMS:
    add_test(*dims, [])
    add_test(*dims, ["--bwd"])


if __name__ == "__main__":
    unittest.main()
