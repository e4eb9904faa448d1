# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timing: contenders take turns in rounds, each with slices of its own.

A GPU at its power cap takes tens of milliseconds to settle on a clock, so the
first half of each slice is dropped, and whoever follows a weak contender starts
at a higher clock, so the order is shuffled anew every round.
"""

import contextlib
import math
import random
import statistics
import time

MIN_LAUNCHES = 8
# A slice that lasts this long does not end.
PATIENCE_S = 10.0


class Hang(RuntimeError):
    """A launch did not end; nothing more can run in this process."""


def rounds_order(names, rounds, seed):
    """The order of the contenders in each round: seeded permutations."""
    generator = random.Random(seed)
    return [generator.sample(list(names), len(names)) for _ in range(rounds)]


def launches_for(slice_ms, one_ms):
    """How many launches fill a slice."""
    return max(MIN_LAUNCHES, math.ceil(slice_ms / max(one_ms, 1e-3)))


def settled(values):
    """The second half of a slice."""
    return values[len(values) // 2:]


class Clock:
    """Samples the GPU's SM clock through the driver's management library."""

    def __init__(self, torch, device):
        self.nvml = None
        with contextlib.suppress(Exception):
            import pynvml
            pynvml.nvmlInit()
            # The ordinal that this process sees need not be the machine's.
            uuid = str(torch.cuda.get_device_properties(device).uuid)
            self.handle = pynvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith("GPU-") else "GPU-" + uuid)
            pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_SM)
            self.nvml = pynvml

    def ghz(self):
        """The clock now, 0 where it cannot be read."""
        if not self.nvml:
            return 0.0
        try:
            return self.nvml.nvmlDeviceGetClockInfo(self.handle, self.nvml.NVML_CLOCK_SM) / 1000
        except self.nvml.NVMLError:
            return 0.0


def wait(event, patience, while_waiting=lambda: None):
    """Waits for an event; raises Hang after `patience` seconds."""
    deadline = time.monotonic() + patience
    while not event.query():
        if time.monotonic() > deadline:
            raise Hang(f"did not end within {patience:g} s")
        while_waiting()
        time.sleep(0.001)


def time_slice(torch, contender, launches, clock):
    """Runs one slice; returns the settled launches' milliseconds and clocks."""
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(launches)]
    with contender.scope():
        for start, stop in events:
            start.record()
            contender.call()
            stop.record()
    clocks, half = [], events[launches // 2][0]

    def read_clock():
        if half.query():
            clocks.append(clock.ghz())

    wait(events[-1][1], PATIENCE_S, read_clock)
    return settled([start.elapsed_time(stop) for start, stop in events]), clocks


class Failed(Exception):
    """A contender failed while it was timed."""

    def __init__(self, name, error):
        super().__init__(name)
        self.name, self.error = name, error


def left_behind(results, variants, drop):
    """The variants that, by their rounds so far, run at less than `drop` times the
    speed of the best one."""
    times = {name: statistics.median(results[name][0]) for name in variants}
    best = min(times.values(), default=0.0)
    return {name for name, ms in times.items() if best < drop * ms}


def race(torch, contenders, rounds, slice_ms, seed, clock, variants=(), drop=0.0):
    """Returns {name: (milliseconds of each round, GHz of each round)}. Those of
    `variants` that are left behind in the first round have no further ones."""
    def run(name, launches):
        try:
            return time_slice(torch, contenders[name], launches, clock)
        except RuntimeError as error:
            raise Failed(name, error) from error

    launches = {name: launches_for(slice_ms, statistics.median(run(name, MIN_LAUNCHES)[0])) for name in contenders}
    results = {name: ([], []) for name in contenders}
    out = set()
    for number, order in enumerate(rounds_order(contenders, rounds, seed)):
        for name in (n for n in order if n not in out):
            times, clocks = run(name, launches[name])
            results[name][0].append(statistics.median(times))
            results[name][1].append(statistics.median(clocks) if clocks else 0.0)
        if number == 0:
            out = left_behind(results, variants, drop)
    return results
