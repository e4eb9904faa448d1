# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU against the simulator: both run the examples' kernels on the same
random problems, in one process, and their results are compared bit by bit."""

import array
import ctypes
import math
import os
import random
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, TEST, os.path.join(TEST, "probes"), os.path.join(os.path.dirname(TEST), "tools", "python")]
import hardware
from bundles import BUILD, EXAMPLES, bundle_of
from cuda import Driver
from racing import libattn

PROBLEMS = 25
LONGEST = 384
ALIGNMENT = 256  # Of memory; a workspace needs that much.
CPU, GPU = libattn.DLDevice(libattn.CPU, 0), libattn.DLDevice(libattn.CUDA, 0)

# Of the elements of O.
LEAST_IDENTICAL = 0.99
# In units in the last place of bf16 at the magnitude of an element's row. The
# simulator's ex2 may be off by two units in the last place of f32 where the GPU's
# is not, which moves a probability, or an element of O, to the other side of a
# rounding to bf16: one unit for each.
LARGEST_UNITS = 2
# ex2 and lg2 are off by some 2^-22 on either side; LSE itself is rounded to f32.
LSE_ABSOLUTE, LSE_RELATIVE = 2.0**-18, 2.0**-22


def bf16_of(values):
    """The bytes of the values in bf16, rounded toward zero."""
    return array.array("H", array.array("f", values).tobytes())[1::2].tobytes()


def value_of(word):
    """The value of a bf16."""
    return struct.unpack("<f", struct.pack("<I", word << 16))[0]


class Problem:
    """The shapes and inputs of a seed for a bundle."""

    def __init__(self, plan, seed):
        generator = random.Random(seed)
        pick = generator.randint
        kv_heads = pick(1, 2)
        sizes = {"b": pick(1, 2), "sq": pick(1, LONGEST), "sk": pick(1, LONGEST), "hk": kv_heads,
                 "hq": kv_heads * pick(1, 3)}
        self.tensors = {a["name"]: a for a in plan["args"] if a["kind"] == "tensor"}
        # What the regions of the examples capture.
        sizes.update(ids_d0=sizes["b"], ids_d1=max(sizes["sq"], sizes["sk"]), slopes_d0=sizes["hq"])
        self.shapes = {name: [sizes.get(d, d) for d in a["dims"]] for name, a in self.tensors.items()}
        self.inputs = {name: self.make(generator, name) for name, a in self.tensors.items() if a["access"] == "read"}
        scalars = {"scale": self.shapes["q"][3] ** -0.5, "softcap": 20.0, "window_left": pick(0, LONGEST),
                   "window_right": pick(0, LONGEST)}
        self.scalars = {a["name"]: scalars[a["name"]] for a in plan["args"] if a["kind"] != "tensor"}

    def make(self, generator, name):
        count = math.prod(self.shapes[name])
        if name == "ids":
            row = self.shapes[name][1]
            return array.array("i", (i % row // 50 for i in range(count))).tobytes()
        if name == "slopes":
            return array.array("f", (2.0 ** -(h + 1) for h in range(count))).tobytes()
        return bf16_of(generator.gauss(0, 1) for _ in range(count))

    def bytes_of(self, name):
        return math.prod(self.shapes[name]) * libattn.DTYPE_CODES[self.tensors[name]["dtype"]][1] // 8

    def run(self, bundle, device, memory, place):
        """Launches on {name: address} of `memory`; `place` gives bytes an address."""
        views = {}
        for name, address in memory.items():
            shape = self.shapes[name]
            strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
            views[name] = libattn.make_tensor(address, device, self.tensors[name]["dtype"], shape, strides)
        args = libattn.make_args(views, self.scalars, device, None)
        size = bundle.workspace_size(args)
        if size:
            args.workspace, args.workspace_size = place(b"\xff" * size), size
        bundle.launcher(args)()

    def initial(self, name):
        """An input, or NaNs where an output goes."""
        return self.inputs.get(name, b"\xff" * self.bytes_of(name))

    def run_on_simulator(self, bundle):
        """Returns {name: bytes} of the outputs."""
        buffers = []

        def place(data):
            buffers.append(ctypes.create_string_buffer(len(data) + ALIGNMENT))
            address = -(-ctypes.addressof(buffers[-1]) // ALIGNMENT) * ALIGNMENT
            ctypes.memmove(address, data, len(data))
            return address

        memory = {name: place(self.initial(name)) for name in self.tensors}
        self.run(bundle, CPU, memory, place)
        return {name: ctypes.string_at(memory[name], self.bytes_of(name)) for name in ("o", "lse")}

    def run_on_gpu(self, bundle, driver):
        pointers = []

        def place(data):
            pointers.append(driver.upload(data))
            return pointers[-1].value

        try:
            memory = {name: place(self.initial(name)) for name in self.tensors}
            held = dict(zip(self.tensors, pointers))
            self.run(bundle, GPU, memory, place)
            driver.call("cuCtxSynchronize")
            return {name: driver.download(held[name], self.bytes_of(name)) for name in ("o", "lse")}
        finally:
            for pointer in pointers:
                driver.free(pointer)


def units_apart(row, i, other):
    """The distance of element i of a row of O from another value, in LARGEST_UNITS' units."""
    difference = abs(value_of(row[i]) - value_of(other))
    most = max(abs(value_of(word)) for word in row)
    if most == 0:
        return math.inf if difference else 0.0
    return difference / 2.0 ** (math.frexp(most)[1] - 8)


def compare_o(wanted, got, d):
    """Returns the elements, those that are identical, and the largest difference
    in units, which is a NaN if one of the elements is."""
    wanted, got = array.array("H", wanted), array.array("H", got)
    apart = [0.0]
    for i, (one, other) in enumerate(zip(wanted, got)):
        if one != other:
            start = i // d * d
            apart.append(units_apart(wanted[start:start + d], i - start, other))
    largest = math.nan if any(map(math.isnan, apart)) else max(apart)
    return len(wanted), len(wanted) - (len(apart) - 1), largest


def compare_lse(wanted, got):
    """Returns the largest difference, and a row that is out of bounds or None."""
    largest, bad = 0.0, None
    for row, (one, other) in enumerate(zip(array.array("f", wanted), array.array("f", got))):
        if one == other:
            continue
        largest = max(largest, abs(one - other))
        if not abs(one - other) <= LSE_ABSOLUTE + LSE_RELATIVE * abs(one):
            bad = (row, one, other)
    return largest, bad


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Agreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = Driver()
        cls.runtime = libattn.Library(os.path.join(BUILD, "lib", "libattn_runtime.so"))
        # Other tests look for hazards; here they only cost time.
        cls.runtime.set_simulator("hazards", "off")

    def compare(self, name):
        total = same = 0
        worst = worst_lse = 0.0
        with tempfile.TemporaryDirectory() as folder:
            bundle = self.runtime.load(bundle_of(self, name, folder))
        for seed in range(PROBLEMS):
            problem = Problem(bundle.plan, seed)
            wanted = problem.run_on_gpu(bundle, self.driver)
            got = problem.run_on_simulator(bundle)
            case = f"{name}, seed {seed}, shapes {problem.shapes}"
            self.assertFalse(any(math.isnan(value_of(w)) for w in set(array.array("H", wanted["o"]))), case)
            elements, identical, units = compare_o(wanted["o"], got["o"], problem.shapes["o"][3])
            self.assertLessEqual(units, LARGEST_UNITS, case)
            lse, bad = compare_lse(wanted["lse"], got["lse"])
            self.assertIsNone(bad, case)
            total, same = total + elements, same + identical
            worst, worst_lse = max(worst, units), max(worst_lse, lse)
        print(f"{name}: {same} of {total} elements of O identical, others within {worst:.3g} units, LSE within {worst_lse:.3g}")
        self.assertGreaterEqual(same, LEAST_IDENTICAL * total, name)


def add_test(name):
    setattr(Agreement, f"test_{name}", lambda self: self.compare(name))


for example in EXAMPLES:
    add_test(example)


if __name__ == "__main__":
    unittest.main()
