#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds damaged input to attn-compile: files cut short, bytes flipped, words
swapped and random bytes, the same ones each time. Whatever the input, the compiler
ends by itself with status 0, or with status 1 and a diagnostic and no output file.

Prints one line a way of damaging, and fails on a crash, a hang or silence."""

import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys

# Processor time: elapsed time depends on the machine's other load.
TIME_S = 60
PATIENCE_S = 20 * TIME_S
# A damaged count may ask for any amount.
MEMORY_BYTES = 4 << 30


def truncations(data, count, _):
    """Cut at `count` places, evenly spread, never whole."""
    return [data[: len(data) * i // (count + 1)] for i in range(1, count + 1)]


def flips(data, count, rng):
    """One to four bytes replaced."""
    for _ in range(count):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield bytes(damaged)


def swaps(data, count, rng):
    """Two words, numbers or names, of the text exchanged."""
    words = [m.span() for m in re.finditer(rb"[A-Za-z0-9_.]+", data)]
    for _ in range(count):
        (a, b), (c, d) = sorted(rng.sample(words, 2))
        yield data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def numbers(data, count, rng):
    """One number of the text replaced by an odd one."""
    spans = [m.span() for m in re.finditer(rb"\b[0-9]+\b", data)]
    values = [b"0", b"1", b"3", b"-1", b"7", b"4096", b"65535", b"2147483648", b"99999999999999999999"]
    for _ in range(count if spans else 0):
        a, b = rng.choice(spans)
        yield data[:a] + rng.choice(values) + data[b:]


def noise(_, count, rng):
    """Random bytes, half of them behind the magic number of bytecode."""
    for i in range(count):
        yield (b"ML\xefR" if i % 2 else b"") + rng.randbytes(rng.randint(1, 4000))


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_S, TIME_S))


def limit_time_and_memory():
    limit_time()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def is_sanitized(program):
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


class Fuzzer:
    def __init__(self, args):
        self.args = args
        # The address sanitizer reserves more for itself, and has its own limit.
        self.sanitized = is_sanitized(shutil.which(args.compiler))
        self.limits = {"preexec_fn": limit_time_and_memory}
        if self.sanitized:
            options = f"{os.environ.get('ASAN_OPTIONS', '')}:max_allocation_size_mb={MEMORY_BYTES >> 20}"
            self.limits = {"preexec_fn": limit_time, "env": dict(os.environ, ASAN_OPTIONS=options)}
        self.failures = 0
        self.path = os.path.join(args.temp, "input")
        self.output = os.path.join(args.temp, "out.ptx")

    def compile_to(self, source, emit, *options):
        run = subprocess.run([self.args.compiler, source, f"--emit={emit}", "-o", self.path, *options],
                             capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{source}: {run.stderr}")
        with open(self.path, "rb") as file:
            return file.read()

    def complaint(self, data):
        """The fault of the answer to one input, or None."""
        with open(self.path, "wb") as file:
            file.write(data)
        if os.path.exists(self.output):
            os.remove(self.output)
        try:
            run = subprocess.run([self.args.compiler, self.path, "--emit=ptx", "-o", self.output],
                                 capture_output=True, timeout=PATIENCE_S, **self.limits)
        except subprocess.TimeoutExpired:
            return "hangs"
        if run.returncode == -signal.SIGXCPU:
            return f"takes more than {TIME_S} s"
        if self.sanitized and b"allocation-size-too-big" in run.stderr:
            return None
        if run.returncode not in (0, 1):
            return f"status {run.returncode}: {run.stderr[-1500:].decode(errors='replace')}"
        if run.returncode == 1 and b"error:" not in run.stderr:
            return "refused without a diagnostic"
        if (run.returncode == 0) != os.path.exists(self.output):
            return f"status {run.returncode} and an output file {'missing' if run.returncode == 0 else 'left'}"
        return None

    def breaks_upstream(self):
        """Whether MLIR's own reader of bytecode dies of the last input, before any code of
        this project sees it."""
        run = subprocess.run(["mlir-opt-22", "--allow-unregistered-dialect", self.path, "-o", os.devnull],
                             capture_output=True, timeout=PATIENCE_S)
        return run.returncode < 0

    def run(self, name, data, how):
        rng = random.Random(f"{self.args.seed} {name} {how.__name__}")
        for i, damaged in enumerate(how(data, self.args.count, rng)):
            complaint = self.complaint(damaged)
            if complaint and name.endswith(".bytecode") and self.breaks_upstream():
                print(f"{name}: {how.__name__} {i}: MLIR's own reader dies of it")
            elif complaint:
                self.failures += 1
                keep = os.path.join(self.args.temp, f"{name}.{how.__name__}.{i}")
                with open(keep, "wb") as file:
                    file.write(damaged)
                print(f"{name}: {how.__name__} {i}: {complaint}\n  input kept in {keep}")
        print(f"{name}: {how.__name__} done")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--temp", required=True, help="folder to write into")
    parser.add_argument("--count", type=int, default=8, help="inputs a file and way of damaging")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--stages", default="", help="damage the output of these stages as well")
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    os.makedirs(args.temp, exist_ok=True)
    fuzzer = Fuzzer(args)
    for source in args.sources:
        name = os.path.basename(source)
        with open(source, "rb") as file:
            text = file.read()
        for how in (truncations, flips, swaps, numbers, noise):
            fuzzer.run(name, text, how)
        bytecode = fuzzer.compile_to(source, "attn", "--emit-bytecode")
        for how in (truncations, flips):
            fuzzer.run(f"{name}.bytecode", bytecode, how)
        for stage in filter(None, args.stages.split(",")):
            for how in (truncations, flips, swaps, numbers):
                fuzzer.run(f"{name}.{stage}", fuzzer.compile_to(source, stage), how)
    print(f"{fuzzer.failures} failures")
    return 1 if fuzzer.failures else 0


if __name__ == "__main__":
    sys.exit(main())
