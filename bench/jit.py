#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long attn_compile takes: cold, from the cache on disk, and from memory.

usage: jit.py [--repeat N] BUILD [FILE.mlir...]

Prints a row for each file (those of examples/ by default), times of single calls
through ctypes: cold (with an empty cache), and the medians of the first calls of
processes that find it on disk, of later hits on disk, and of those in memory. Of a problem whose variants launches compile, that is
the time of its plan."""

import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

import libattn_jit

FIRST_CALLS = 5  # each in a process of its own
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def seconds_of(compiler, args):
    start = time.perf_counter()
    handle = compiler.compile(args)
    seconds = time.perf_counter() - start
    compiler.destroy(handle)
    return seconds


def measure(compiler, args, repeat):
    """Seconds cold, from disk and from memory."""
    before = compiler.count()
    cold = seconds_of(compiler, args)
    disk = []
    for _ in range(repeat):
        compiler.clear()
        disk.append(seconds_of(compiler, args))
    memory = [seconds_of(compiler, args) for _ in range(10 * repeat)]
    after = compiler.count()
    hits = (after.compiles - before.compiles, after.disk_hits - before.disk_hits, after.memory_hits - before.memory_hits)
    if hits != (1, len(disk), len(memory)):
        raise RuntimeError(f"expected 1 compilation, {len(disk)} and {len(memory)} hits, got {hits}")
    return cold, statistics.median(disk), statistics.median(memory)


def first_call(build, path, folder):
    """Seconds that the first call of a new process takes, which has to find an assembler."""
    script = ("import libattn_jit, jit, sys; compiler = libattn_jit.Compiler(sys.argv[1]);"
              "args = libattn_jit.make_args(open(sys.argv[2]).read());"
              "print(jit.seconds_of(compiler, args), compiler.count().disk_hits)")
    run = subprocess.run([sys.executable, "-B", "-c", script, build, path], check=True, capture_output=True, text=True,
                         env={**os.environ, "ATTN_CACHE_DIR": folder}, cwd=os.path.dirname(os.path.abspath(__file__)))
    seconds, hits = run.stdout.split()
    if hits != "1":
        raise RuntimeError(f"expected a hit on disk, got {hits}")
    return float(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("files", nargs="*", default=sorted(glob.glob(os.path.join(ROOT, "examples", "*.mlir"))))
    args = parser.parse_args()
    compiler = libattn_jit.Compiler(args.build)
    print(f"{'kernel':24} {'cold, s':>10} {'first, ms':>10} {'disk, ms':>10} {'memory, us':>10}")
    with tempfile.TemporaryDirectory() as folder:
        compiler.set_option("cache_dir", folder)
        for path in args.files:
            with open(path, encoding="utf-8") as file:
                cold, disk, memory = measure(compiler, libattn_jit.make_args(file.read()), args.repeat)
            first = statistics.median(first_call(os.path.abspath(args.build), os.path.abspath(path), folder)
                                      for _ in range(FIRST_CALLS))
            print(f"{os.path.basename(path):24} {cold:10.3f} {first * 1e3:10.3f} {disk * 1e3:10.3f} {memory * 1e6:10.1f}")


if __name__ == "__main__":
    main()
