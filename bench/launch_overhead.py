#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the CPU time of a launch: from C, from Python with torch's tensors, and for comparison the driver's part
of it and torch's own scaled_dot_product_attention.

usage: launch_overhead.py [--device cuda|cpu] [--loop FILE] [--out FILE] LIBRARIES

LIBRARIES is the folder with libattn_runtime.so and libattn_jit.so. The problem is so
small that the GPU keeps up: one head of 64 positions. With a GPU, a forward and backward pass
together is a contender, too. Each of ROUNDS rounds times every
contender for BATCH calls, one by one, and then waits for the GPU, so that no call waits
for room in the stream. The first WARM_UP rounds do not count. Printed are the median and
the 10th and 90th percentile, in microseconds.

With --device=cpu there is no GPU, and no query, so the times are those of a call without the driver's part. torch
would compute on the CPU, so it does not take part then."""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from paths import ROOT
from racing import libattn

import libattn_jit

ROUNDS, BATCH, WARM_UP = 200, 50, 20
HEAD_DIM = 128
MANY_ROWS = 2304  # 1.1 MiB of dQ in f32
ALIGNMENT = 256  # of a workspace


def build_loop(folder):
    """Compiles launch_loop.c; returns the path."""
    path = os.path.join(folder, "launch_loop.so")
    source = os.path.join(ROOT, "bench", "launch_loop.c")
    # In the source tree, and in an installation.
    include = [f"-I{os.path.join(root, 'include')}" for root in (ROOT, os.path.dirname(os.path.dirname(ROOT)))]
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", *include, source, "-o", path], check=True)
    return path


class FromC:
    """attn_launch, in a loop in C."""

    def __init__(self, compiler, loop, ir, tensors, scratch, device, stream):
        """`tensors`: by role. `scratch` makes zeroed memory of a size plus ALIGNMENT bytes."""
        self.loop = ctypes.CDLL(loop).launch_loop
        self.loop.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        self.runtime = compiler.runtime
        bundle = libattn.Bundle(self.runtime, compiler.compile(libattn_jit.make_args(ir)))
        views = {role: libattn.make_tensor(tensor.data_ptr(), device, "f32" if role == "lse" else "bf16", tensor.shape,
                                           tensor.stride()) for role, tensor in tensors.items()}
        args = libattn.make_args(libattn.by_name(bundle.plan, views),
                                 libattn.by_name(bundle.plan, {"scale": HEAD_DIM**-0.5}), device, stream)
        args.workspace_size = bundle.workspace_size(args)
        self.workspace = scratch(args.workspace_size)
        args.workspace = -(-self.workspace.data_ptr() // ALIGNMENT) * ALIGNMENT
        args.flags = libattn.WORKSPACE_READY
        self.bundle, self.args, self.keep = bundle, args, tensors

    def times(self, count):
        found = (ctypes.c_double * count)()
        launch = ctypes.cast(self.runtime.c.attn_launch, ctypes.c_void_p)
        self.runtime.check(self.loop(launch, self.bundle.handle, ctypes.addressof(self.args), count, found))
        return list(found)


class FromDriver:
    """cuLaunchKernelEx alone, in a loop in C: of an empty kernel with the parameters, the
    block, the cluster and the shared memory of the bundle's."""

    SIZES = {"tensor_map": 128, "pointer": 8, "workspace": 8, "i64": 8, "i32": 4, "f32": 4}
    SHARED_MEMORY = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    CLUSTER = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    EARLY = 6  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

    def __init__(self, loop, plan, stream):
        self.driver, self.loop = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(loop).driver_loop
        self.loop.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_void_p]
        launch = plan["variants"][0]["launches"][0]
        sizes = [self.SIZES[param["kind"]] for param in launch["params"]]
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.driver.cuModuleLoadData(ctypes.byref(module), self.ptx(sizes).encode()))
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, b"empty"))
        self.check(self.driver.cuFuncSetAttribute(self.function, self.SHARED_MEMORY, launch["smem"]))
        self.values = [ctypes.create_string_buffer(size) for size in sizes]
        self.params = (ctypes.c_void_p * len(sizes))(*map(ctypes.addressof, self.values))
        self.config = self.make_config(launch, stream)

    @staticmethod
    def ptx(sizes):
        params = ", ".join(f".param .align {min(size, 64)} .b8 p{n}[{size}]" for n, size in enumerate(sizes))
        return f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty({params}) {{ ret; }}\n"

    def make_config(self, launch, stream):
        """CUlaunchConfig, of one cluster."""
        wanted = [(self.CLUSTER, launch["cluster"])] if launch["cluster"] != [1, 1, 1] else []
        wanted += [(self.EARLY, [1])] if launch.get("dependent") else []
        self.attributes = (ctypes.c_uint32 * (18 * max(1, len(wanted))))()
        for n, (number, values) in enumerate(wanted):
            self.attributes[18 * n] = number
            self.attributes[18 * n + 2:18 * n + 2 + len(values)] = values
        config = (ctypes.c_uint64 * 7)()
        words = [*launch["cluster"], *launch["block"], launch["smem"], 0]
        ctypes.memmove(config, (ctypes.c_uint32 * 8)(*words), 32)
        config[4:] = [stream or 0, ctypes.addressof(self.attributes) if wanted else 0, len(wanted)]
        return config

    def check(self, result):
        if result:
            sys.exit(f"the driver failed with {result}")

    def times(self, count):
        found = (ctypes.c_double * count)()
        launch = ctypes.cast(self.driver.cuLaunchKernelEx, ctypes.c_void_p)
        self.check(self.loop(launch, self.config, self.function, self.params, count, found))
        return list(found)


class FromPython:
    def __init__(self, function):
        self.function = function

    def times(self, count):
        found, function, clock = [], self.function, time.perf_counter_ns
        for _ in range(count):
            start = clock()
            function()
            found.append((clock() - start) * 1e-9)
        return found


def with_gradients(torch, function, tensors):
    """A function that calls `function` of the tensors, and computes the gradients of all of them."""
    leaves = [x.detach().requires_grad_() for x in tensors]
    of_out = torch.randn_like(leaves[0])

    def call():
        with torch.enable_grad():
            out = function(*leaves)
        return torch.autograd.grad(out, leaves, of_out)

    return call


def torch_contenders(call, title):
    """torch's function, which `call` calls: once with the backend that torch chooses, and once with each backend that
    accepts the problem."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    found = {title: FromPython(call)}
    for name in ("FLASH_ATTENTION", "CUDNN_ATTENTION"):
        class Within(FromPython):
            backend = getattr(SDPBackend, name)

            def times(self, count):
                with sdpa_kernel(self.backend):
                    return super().times(count)

        try:
            Within(call).times(1)
        except RuntimeError:
            continue  # it does not take the problem
        found[f"{title}, {name.lower()}"] = Within(call)
    return found


def contenders(torch, attn, args, folder):
    on_gpu = args.device == "cuda"
    rows = 64 if on_gpu else 0
    make = lambda n: torch.randn(1, n, 1, HEAD_DIM, device=args.device).bfloat16()
    q, k, v = make(rows), make(64), make(64)
    out, lse = torch.empty_like(q), torch.empty(1, 1, rows, device=args.device)
    kernel = attn.compile(head_dim=HEAD_DIM, dtype="bf16")
    swapped = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    device = libattn.as_device(0) if on_gpu else libattn.DLDevice(libattn.CPU, 0)
    stream = torch.cuda.current_stream().cuda_stream if on_gpu else None
    loop = args.loop or build_loop(folder)
    from_c = FromC(libattn_jit.Compiler(folder), loop, kernel.ir,
                   {"query": q, "key": k, "value": v, "output": out, "lse": lse},
                   lambda size: torch.zeros(size + ALIGNMENT, dtype=torch.uint8, device=args.device), device, stream)
    driver = {"cuLaunchKernelEx, in C": FromDriver(loop, from_c.bundle.plan, stream)} if on_gpu else {}
    found = {
        **driver,
        "attn_launch, in C": from_c,
        "kernel(q, k, v, out=, lse=)": FromPython(lambda: kernel(q, k, v, out=out, lse=lse)),
        "kernel(q, k, v)": FromPython(lambda: kernel(q, k, v)),
        "attn.flash_attn_func": FromPython(lambda: attn.flash_attn_func(q, k, v)),
        "attn.sdpa": FromPython(lambda: attn.sdpa(*swapped)),
        "torch.empty_like(q)": FromPython(lambda: torch.empty_like(q)),
    }
    return {**found, **gpu_contenders(torch, attn, swapped)} if on_gpu else found


def gpu_contenders(torch, attn, tensors):
    """torch's function, and forward and backward passes together: of few rows, and of so many that each launch of the
    gradients allocates a workspace."""
    from torch.nn.functional import scaled_dot_product_attention as sdpa
    found = torch_contenders(lambda: sdpa(*tensors), "torch sdpa")
    many = [torch.randn(1, 1, MANY_ROWS, HEAD_DIM, device=tensors[0].device).bfloat16() for _ in tensors]
    for given, of in ((tensors, "both passes"), (many, f"both passes, {MANY_ROWS} rows")):
        found[f"attn.sdpa, {of}"] = FromPython(with_gradients(torch, attn.sdpa, given))
        found.update(torch_contenders(with_gradients(torch, sdpa, given), f"torch sdpa, {of}"))
    return found


def measure(torch, runners, on_gpu):
    times = {name: [] for name in runners}
    for number in range(WARM_UP + ROUNDS):
        for name, runner in runners.items():
            found = runner.times(BATCH)
            if on_gpu:
                torch.cuda.synchronize()
            if number >= WARM_UP:
                times[name] += found
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--loop", help="launch_loop.c, compiled; by default it is compiled with $CC or cc")
    parser.add_argument("--out", help="a file that gets the percentiles as JSON")
    args = parser.parse_args()
    libraries = os.path.abspath(args.libraries)
    os.environ.setdefault("ATTN_LIBRARY_DIR", libraries)
    if not os.environ.get("ATTN_INSTALLED"):
        sys.path.insert(0, os.path.join(ROOT, "python"))
    import torch

    import attn

    torch.set_grad_enabled(False)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(libraries, os.path.join(folder, "lib"))
        times = measure(torch, contenders(torch, attn, args, folder), args.device == "cuda")
    print(f"{'microseconds of CPU time a call':36} {'median':>8} {'10%':>8} {'90%':>8}")
    summary = {}
    for name, seconds in times.items():
        tenths = statistics.quantiles(seconds, n=10)
        summary[name] = [1e6 * value for value in (statistics.median(seconds), tenths[0], tenths[-1])]
        print(f"{name:36} " + " ".join(f"{value:8.2f}" for value in summary[name]))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump(summary, file, indent=1)


if __name__ == "__main__":
    main()
