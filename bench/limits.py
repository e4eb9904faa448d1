# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How busy the units of the GPU were in a measured kernel: the cycles that the visited tiles need of each unit, by
count_instructions.py and the rates of the hardware, divided by the measured cycles. Masked blocks count like others;
the work of an item outside of its blocks does not count."""

import math

# Rates of one SM per cycle (NVIDIA H100 white paper; a warp scheduler issues one instruction,
# and a warpgroup has a warp on each of the four).
TENSOR_FLOPS, EXPONENTIALS, ISSUES = 4096, 16, 1
ROWS, THREADS = 64, 128  # of a warpgroup
GPUS = {"NVIDIA H200": {"sms": 132, "bytes_per_second": 4.8e12, "max_ghz": 1.98}}
UNITS = ("tensor", "exp", "issue", "HBM", "clock")


def kernel_for(kernels, seqlen):
    """The variant of a launch plan that runs for this number of keys."""
    return next(k for k in kernels if not k["keys_at_most"] or seqlen <= k["keys_at_most"])


def tiles(point, kernel):
    """How many tiles of 64 rows x tile_n keys the warpgroups compute."""
    together = kernel["tile_m"] * kernel["cluster"]
    owned = ROWS if kernel["skips"] else together
    rows = math.ceil(point.seqlen / together) * together
    blocks = 0
    for first in range(0, rows, owned):
        keys = min(point.seqlen, first + owned) if point.causal else point.seqlen
        blocks += math.ceil(keys / kernel["tile_n"]) * (owned // ROWS)
    return blocks * point.heads * point.batch


def bytes_moved(point):
    """Each tensor once, and the LSE."""
    q, k, v = (math.prod(shape) for shape in point.shapes)
    out = point.batch * point.heads * point.seqlen * point.dv
    return 2 * (q + k + v + out) + 4 * point.batch * point.heads * point.seqlen


def shares(point, kernels, gpu, tflops, ghz):
    """{unit: busy share}: of the SMs' cycles at `ghz`, of the memory's bandwidth, and of the highest clock."""
    if gpu not in GPUS:
        raise ValueError(f"expected results of one of {', '.join(GPUS)} for shares of its units, got {gpu}")
    seconds = point.flops / tflops / 1e12
    kernel, machine = kernel_for(kernels, point.seqlen), GPUS[gpu]
    cycles = seconds * ghz * 1e9 * machine["sms"] / tiles(point, kernel)
    tile = ROWS * kernel["tile_n"]
    exponentials = THREADS * kernel["exponentials"]
    return {"tensor": 2 * tile * (point.d + point.dv) / TENSOR_FLOPS / cycles, "exp": exponentials / EXPONENTIALS / cycles,
            "issue": kernel["instructions"] / ISSUES / cycles, "HBM": bytes_moved(point) / seconds / machine["bytes_per_second"],
            "clock": ghz / machine["max_ghz"]}


def binding(busy):
    """The busiest unit; None if none is busy for two thirds of the time."""
    unit = max(("tensor", "exp", "issue", "HBM"), key=busy.get)
    return unit if busy[unit] >= 2 / 3 else None
