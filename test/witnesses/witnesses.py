#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for sm_100 that others have proven on silicon have to be right on the simulator.

    test/witnesses/witnesses.py build FOLDER               # build all, and run each under 8 schedules
    test/witnesses/witnesses.py build FOLDER --seeds=64 --only=fa4_d128
    test/witnesses/witnesses.py build FOLDER --keep        # run what is there
    test/witnesses/witnesses.py build FOLDER --sources=CHECKOUT    # those of cuda_kernels.py, too

FOLDER gets virtual environments with the packages of triton.txt, fa4.txt and cuda.txt, whose hashes pip
checks, and the kernels' PTX, inputs and launch files; it should lie outside the source tree. Each
output has to be what float64 says, within its format's rounding, and the reports have to be of the
rules that STRICT lists: what the ISA asks for and these kernels, which work, do without. A rule that
is reported and not listed is a fault of the simulator until shown otherwise, and so is a listed rule
that no kernel breaks any more. FAULTS lists errors that kernels have. Needs Python 3.11 on x86-64 Linux."""

import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# A family: the module that compiles it, and the packages that this needs. CUDA needs sources besides.
FAMILIES = ("triton", "fa4")
CUDA = "cuda"
REPORT = re.compile(r"\[([a-z]+\.[a-z-]+)\]$", re.MULTILINE)
# By family, the rules that its kernels break.
STRICT = {
    "triton": {"memory.window", "mbarrier.inval-before-commit", "proxy.copy-missing-fence", "proxy.reuse-without-fence",
               "race.same-value", "setmaxnreg.partial-group", "tmem.missing-fence"},
    "fa4": {"clc.failed-response", "cluster.exited-before-arrival", "exit.phase-incomplete", "exit.store-not-awaited",
            "exit.tx-outstanding", "race.same-value", "setmaxnreg.partial-group", "tmem.load-used-not-awaited",
            "tmem.missing-fence", "tmem.not-pipelined"},
    CUDA: {"cluster.exited-before-arrival", "tmem.lane-of-pair", "tmem.missing-fence"},
}
# Errors of kernels that work nevertheless where they were measured. Litmus kernels show each.
FAULTS = {
    # A pair allocates before a barrier of the cluster, and ends with commits that nobody waits for.
    "cuda_matmul_v5": {"cluster.not-started", "cluster.exited"},
    "cuda_matmul_v6": {"cluster.not-started"},
    # A warp frees columns that others may still load.
    "cuda_matmul_v7": {"tmem.load-not-awaited", "cluster.exited"},
    # An mma of 64 rows leaves lanes unwritten that are loaded and dropped.
    "cuda_matmul_tmem": {"uninit.tmem"},
}


def make_environment(folder, family):
    """Returns the Python of an environment with a family's packages."""
    home = os.path.join(folder, family)
    python = os.path.join(home, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps",
                    "--require-hashes", "--requirement", os.path.join(HERE, family + ".txt")], check=True)
    return python


def build(options, family):
    """Builds a family's kernels; returns whether that worked."""
    sources = [options.sources] if family == CUDA else []
    done = subprocess.run([make_environment(options.folder, family), "-B", os.path.join(HERE, family + "_kernels.py"),
                           options.folder, *sources], capture_output=True, text=True)
    if done.returncode:
        print(f"{family}: cannot build its kernels\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def run(options, name):
    """Runs a kernel; returns its name, what is wrong with it, its rules and how long it took."""
    start = time.time()
    command = [os.path.join(options.build, "bin", "attn-run"), name + ".ptx", "--device=sim", f"--launch={name}.json",
               f"--seeds={options.seeds}", f"--schedule-seed={options.seed}"]
    faults = FAULTS.get(name, set())
    if faults:
        command.append("--hazards=warn")
    done = subprocess.run(command, capture_output=True, text=True, cwd=options.folder)
    rules = set(REPORT.findall(done.stdout + done.stderr))
    problems = sorted(rules - faults - STRICT[name.split("_")[0]]) + [f"expected {rule}" for rule in sorted(faults - rules)]
    if done.returncode or "launch: passed" not in done.stdout:
        problems.append((done.stderr.strip().splitlines() or ["no result"])[-1])
    return name, problems, rules, time.time() - start


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory with attn-run")
    parser.add_argument("folder", help="where the environments and kernels are")
    parser.add_argument("--only", help="kernels whose names begin so")
    parser.add_argument("--sources", help="a checkout of what cuda_kernels.py compiles")
    parser.add_argument("--keep", action="store_true", help="do not build kernels")
    parser.add_argument("--seeds", type=int, default=8, help="schedules of each kernel (8)")
    parser.add_argument("--seed", type=int, default=0, help="the first schedule (0)")
    parser.add_argument("--jobs", type=int, default=1, help="kernels that run side by side (1)")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.folder = os.path.abspath(options.folder)
    options.families = [*FAMILIES, *([CUDA] if options.sources else [])]
    return options


def main():
    options = parse_options()
    os.makedirs(options.folder, exist_ok=True)
    only = options.only or ""
    families = [family for family in options.families if only.startswith(family) or family.startswith(only)]
    built = [options.keep or build(options, family) for family in families]
    good = all(built)
    names = sorted(os.path.basename(path)[:-len(".ptx")]
                   for path in glob.glob(os.path.join(glob.escape(options.folder), only + "*.ptx")))
    found = {family: set() for family in STRICT}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, problems, rules, seconds in pool.map(lambda each: run(options, each), names):
            found[name.split("_")[0]] |= rules
            good = good and not problems
            print(f"{name}: {'; '.join(problems) or 'right'}, {seconds:.1f} s", flush=True)
    for family in families if not only else []:
        if unused := STRICT[family] - found[family]:
            good = False
            print(f"{family}: expected reports of {', '.join(sorted(unused))}")
    if not names:
        print("expected kernels, got none")
    return 0 if good and names else 1


if __name__ == "__main__":
    sys.exit(main())
