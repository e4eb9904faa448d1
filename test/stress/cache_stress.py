#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that compile the same kernels into one cache, some of them killed.

Each round starts PROCESSES processes that compile KERNELS kernels, each in an order
of its own, into a cache that is empty at first, and kills some of them (SIGKILL) at
random moments. Afterwards

  - every process that was not killed has every kernel, with the bytes that a
    compilation without a cache gives, and has refused no entry of the cache;
  - no kernel was compiled twice, unless the process that compiled it before was
    killed and had not put it into the cache;
  - the cache has all kernels, as a process that may not compile says.

The assembler is a stand-in that copies its input: the cache is tested, not ptxas.
The last line is "N rounds, N failures", and the exit status says whether there were
any."""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

ASSEMBLER = """#!/bin/sh
# ptxas -arch=ARCH -O3 -v --split-compile=0 SOURCE -o TARGET
[ "$1" = --version ] && { echo "release 99.0, V99.0.0"; exit 0; }
cp "$5" "$7"
"""

MODULE = """func.func @kernel_{number}(%q: {qk}, %k: {qk}, %v: {qk}, %scale: f32) -> ({qk}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask({mask}) layout({layout})
      : ({qk}, {qk}, {qk}) -> ({qk}, tensor<?x?x?xf32>)
  return %o, %lse : {qk}, tensor<?x?x?xf32>
}}
"""


def kernels(count):
    """The text of `count` modules that differ."""
    for number in range(count):
        dim = (64, 80, 96, 128, 192)[number % 5]
        yield MODULE.format(number=number, qk=f"tensor<?x?x?x{dim}x{('bf16', 'f16')[number % 2]}>",
                            mask=("none", "causal_bottom_right")[number // 5 % 2],
                            layout=("bshd", "bhsd")[number // 2 % 2])


def work(build, count, seed, events, result):
    """The work of one process. Each message of the library becomes a line of `events`;
    `result` gets the digests, in the end."""
    import libattn_jit
    log = os.open(events, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    compiler = libattn_jit.Compiler(build)
    compiler.set_log(lambda message: os.write(log, f"{os.getpid()} {message}\n".encode()))
    modules = list(enumerate(kernels(count)))
    random.Random(seed).shuffle(modules)
    digests = [""] * count
    for number, text in modules:
        image = compiler.compile_to_bytes(libattn_jit.make_args(text))
        digests[number] = hashlib.sha256(image).hexdigest()
    with open(result, "w", encoding="utf-8") as file:
        json.dump({"digests": digests, "refused": compiler.count().refused_entries}, file)


class Folder:
    """A folder for one round, or for the reference."""

    def __init__(self, parent, name, args):
        self.path, self.args = os.path.join(parent, name), args
        self.events = os.path.join(self.path, "events")
        os.makedirs(os.path.join(self.path, "tmp"))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_")}
        self.env.update(ATTN_CACHE_DIR=os.path.join(self.path, "cache"), TMPDIR=os.path.join(self.path, "tmp"),
                        ATTN_PTXAS=os.path.join(parent, "ptxas"))

    def start(self, name, **env):
        """Starts a process that works; its result gets the name."""
        command = [sys.executable, "-B", __file__, "--work", f"{self.path}/{name}", "--events", self.events,
                   "--kernels", str(self.args.kernels), "--seed", f"{self.args.seed} {self.path} {name}",
                   self.args.build]
        with open(f"{self.path}/{name}.err", "wb") as errors:
            return subprocess.Popen(command, env={**self.env, **env}, stderr=errors)

    def finish(self, name, process):
        """(what the process found, None) or (None, what is wrong)."""
        status = process.wait()
        if status:
            with open(f"{self.path}/{name}.err", encoding="utf-8", errors="replace") as errors:
                return None, f"{name} ended with status {status}: {errors.read()[-2000:]}"
        with open(f"{self.path}/{name}", encoding="utf-8") as file:
            return json.load(file), None

    def run(self, name, **env):
        return self.finish(name, self.start(name, **env))

    def read_events(self):
        """(process, what, key) in order, of what happened to kernels; a key may be one of several variants:
        `all variants of KEY`."""
        with open(self.events, encoding="utf-8") as file:
            for line in file:
                process, what, *key = line.split()
                if key and len(key[-1]) == 64:
                    yield int(process), what, " ".join(key)


def judge_events(events, killed):
    """The faults in the order of events, and how many compilations were repeated for a killed process."""
    complaints, again, compiler, cached = [], 0, {}, set()
    for process, what, key in events:
        if what == "compiling":
            if key in cached:
                complaints.append(f"{key} was compiled again although it was in the cache")
            elif key in compiler and compiler[key] not in killed:
                complaints.append(f"{key} was compiled by {compiler[key]}, not killed, and again by {process}")
            again += key in compiler
            compiler[key] = process
        elif what == "cached":
            cached.add(key)
    return complaints, again


def kill_some(processes, count, seconds, rng):
    """Kills `count` of them at random moments of the next `seconds`, those that
    still run then."""
    begin = time.monotonic()
    moments = sorted(rng.uniform(0, seconds) for _ in range(count))
    for moment, process in zip(moments, rng.sample(processes, count)):
        while time.monotonic() < begin + moment and any(p.poll() is None for p in processes):
            time.sleep(0.01)
        process.kill()


def run_round(folder, want, seconds, rng):
    """The faults, and how many compilations were repeated."""
    args = folder.args
    processes = {f"process{i}": folder.start(f"process{i}") for i in range(args.processes)}
    kill_some(list(processes.values()), args.kills, seconds, rng)
    results = {name: folder.finish(name, process) for name, process in processes.items()}
    killed = {process.pid for process in processes.values() if process.returncode == -signal.SIGKILL}
    complaints, again = judge_events(folder.read_events(), killed)
    results["reader"] = folder.run("reader", ATTN_DISABLE_JIT="1")
    for name, (found, wrong) in results.items():
        if found != want and (name not in processes or processes[name].pid not in killed):
            complaints.append(wrong or f"{name} got {found}, expected {want}")
    return complaints, again


def run_rounds(args, parent):
    stub = os.path.join(parent, "ptxas")
    with open(stub, "w", encoding="utf-8") as file:
        file.write(ASSEMBLER)
    os.chmod(stub, 0o755)
    want, wrong = Folder(parent, "reference", args).run("reference", ATTN_DISABLE_CACHE="1")
    if wrong:
        sys.exit(wrong)
    if len(set(want["digests"])) != args.kernels:
        sys.exit("expected kernels that differ")
    # Kills come during the time that the round before took.
    failures, seconds = 0, args.kernels * 0.5
    for number in range(args.rounds):
        rng = random.Random(f"{args.seed} {number}")
        folder, begin = Folder(parent, f"round{number}", args), time.monotonic()
        complaints, again = run_round(folder, want, seconds, rng)
        seconds = time.monotonic() - begin
        for complaint in complaints:
            print(f"round {number}: {complaint}")
        failures += bool(complaints)
        print(f"round {number}: {seconds:.1f} s, {again} compilations again for killed processes", flush=True)
        if not complaints:
            shutil.rmtree(folder.path)
    print(f"{args.rounds} rounds, {failures} failures")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--kills", type=int, default=12, help="processes to kill in a round")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--events", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        return work(args.build, args.kernels, args.seed, args.events, args.work)
    with tempfile.TemporaryDirectory() as parent:
        return 1 if run_rounds(args, parent) else 0


if __name__ == "__main__":
    sys.exit(main())
