#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests of a build and counts them.

usage: run.py BUILD [--sanitized BUILD] [--suites lit,unit,python,device]

The suites: what scripts/lint looks for, each of its checks one test; the lit tree,
the GoogleTest programs bin/*_tests of the build, and the Python unit tests
test/python/*_test.py and test/device/*_test.py; those of test/device need a GPU,
find the build in ATTN_BUILD and skip themselves elsewhere. Programs and files of tests
run side by side, one a core. The last line of the output is "N passed, N failed, N skipped".
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import threading

import hardware

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ("lint", "lit", "unit", "python", "device")
LINT = os.path.join(ROOT, "scripts", "lint")
CORES = len(os.sched_getaffinity(0))
PRINTING = threading.Lock()


class Tally:
    """What became of the tests, suite by suite."""

    def __init__(self):
        self.counts = {}
        self.failures = []
        self.reasons = collections.Counter()
        self.gpu_skipped = 0

    def passed(self, suite, n=1):
        self.counts.setdefault(suite, [0, 0, 0])[0] += n

    def failed(self, suite, name):
        self.counts.setdefault(suite, [0, 0, 0])[1] += 1
        self.failures.append(f"{suite}: {name}")

    def skipped(self, suite, reason, needs_gpu):
        self.counts.setdefault(suite, [0, 0, 0])[2] += 1
        self.reasons[reason] += 1
        self.gpu_skipped += needs_gpu

    def total(self):
        return [sum(c[i] for c in self.counts.values()) for i in range(3)]


def is_about_gpu(reason):
    words = reason.lower().replace(",", " ").split()
    return any(w == "gpu" or w.startswith("sm_") for w in words)


def count_lit(results, tally, suite):
    """Counts the tests of a result file of lit."""
    for test in results["tests"]:
        code, name = test["code"], test["name"]
        if code in ("PASS", "XFAIL", "FLAKYPASS"):
            tally.passed(suite)
        elif code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            output = (test.get("output") or code).strip()
            reason = output.splitlines()[-1] if output else code
            tally.skipped(suite, reason, is_about_gpu(reason))
        else:
            tally.failed(suite, f"{name} ({code})")


def count_gtest(results, tally, suite):
    """Counts the tests of a result file of GoogleTest."""
    for case in results["testsuites"]:
        for test in case["testsuite"]:
            name = f'{case["name"]}.{test["name"]}'
            if test.get("failures"):
                tally.failed(suite, name)
            elif test["status"] == "NOTRUN" or test.get("result") == "SKIPPED":
                reason = next((s["message"] for s in test.get("skipped", ())), f"{name} skipped itself")
                tally.skipped(suite, reason.strip().splitlines()[-1], is_about_gpu(reason))
            else:
                tally.passed(suite)


def count_unittest(results, tally, suite):
    """Counts the tests of a result file of unittest_json.py."""
    tally.passed(suite, results["passed"])
    for name in results["failed"]:
        tally.failed(suite, name)
    for reason in results["skipped"]:
        tally.skipped(suite, reason, is_about_gpu(reason))


def environment(build):
    """The environment of tests. A GPU that is demanded and not there is counted once, by main()."""
    env = {k: v for k, v in os.environ.items() if k != "ATTN_REQUIRE_GPU"}
    ptxas = hardware.ptxas()
    if ptxas:
        env["ATTN_PTXAS"] = ptxas
    return {**env, "ATTN_BUILD": os.path.abspath(build)}


def run_and_read(command, results, env, together=False):
    """Runs `command`, which writes the JSON file `results`; returns its exit
    status and what the file holds, None where it wrote none. `together`: its output
    is printed when it has ended, since others run beside it."""
    done = subprocess.run(command, env=env, **({"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if together else {}))
    if together:
        with PRINTING:
            sys.stdout.write(done.stdout.decode(errors="replace"))
            sys.stdout.flush()
    try:
        with open(results, encoding="utf-8", errors="replace") as file:
            return done.returncode, json.load(file)
    except (OSError, ValueError):
        return done.returncode, None


def tell(command, status, found, count, tally, suite):
    """Counts what a command found; one that found nothing, or ended with a status that no test explains, failed."""
    before = tally.counts.get(suite, [0, 0, 0])[1]
    if found is not None:
        count(found, tally, suite)
    if found is None or (status != 0 and tally.counts.get(suite, [0, 0, 0])[1] == before):
        tally.failed(suite, f"{' '.join(command)} ended with status {status}")


def suites_of(build):
    """Returns the suites that `build` can run."""
    present = ["python"]
    if os.path.exists(LINT):
        present.append("lint")
    if os.path.exists(os.path.join(build, "test", "lit.site.cfg.py")):
        present.append("lit")
    if os.path.isdir(os.path.join(ROOT, "test", "unit")):
        present.append("unit")
    if glob.glob(os.path.join(ROOT, "test", "device", "*.*")):
        present.append("device")
    return [s for s in SUITES if s in present]


def run_lint(build, tally, suite):
    for check in ("format", "ruff", "mypy", "tidy"):
        if subprocess.run([LINT, check, "--build", os.path.abspath(build)]).returncode == 0:
            tally.passed(suite)
        else:
            tally.failed(suite, check)


def run_lit(build, tally, suite, temp):
    prefix = subprocess.run(["llvm-config-22", "--prefix"], stdout=subprocess.PIPE, check=True,
                            universal_newlines=True).stdout.strip()
    results = os.path.join(temp, "lit.json")
    command = [f"{prefix}/bin/lit", "-sv", "--no-progress-bar", "-o", results, os.path.join(build, "test")]
    tell(command, *run_and_read(command, results, environment(build)), count_lit, tally, suite)


def gtest_jobs(build, tally, suite, temp):
    """The GoogleTest programs of a build: (suite, command, its results, how they are counted)."""
    programs = sorted(glob.glob(os.path.join(build, "bin", "*_tests")))
    if not programs:
        tally.failed(suite, f"expected GoogleTest programs in {build}/bin, got none: CMake makes them where it finds GoogleTest")
    for program in programs:
        results = os.path.join(temp, f"{suite}.{os.path.basename(program)}.json")
        yield suite, [program, "--gtest_brief=1", f"--gtest_output=json:{results}"], results, count_gtest


def python_jobs(suite, temp):
    """The files of a folder of Python tests, as gtest_jobs has programs."""
    for path in sorted(glob.glob(os.path.join(ROOT, "test", suite, "*_test.py"))):
        results = os.path.join(temp, f"{suite}.{os.path.basename(path)}.json")
        yield suite, [sys.executable, "-B", os.path.join(ROOT, "test", "unittest_json.py"), path, results], results, count_unittest


def run_jobs(jobs, build, tally):
    """Runs jobs side by side, one a core, and counts them in their order."""
    env = environment(build)
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        ends = [pool.submit(run_and_read, command, results, env, together=True) for _, command, results, _ in jobs]
        for (suite, command, _, count), end in zip(jobs, ends):
            tell(command, *end.result(), count, tally, suite)


def compare_ptx(build, sanitized, tally, suite, temp):
    """One test an example: both builds make the same PTX of it."""
    for example in sorted(glob.glob(os.path.join(ROOT, "examples", "*.mlir"))):
        name = f"the PTX of {os.path.basename(example)}"
        texts = []
        for i, tools in enumerate((build, sanitized)):
            out = os.path.join(temp, f"{i}.ptx")
            done = subprocess.run([os.path.join(tools, "bin", "attn-compile"), example,
                                   "--target=sm_90a", "--emit=ptx", "-o", out])
            if done.returncode == 0:
                with open(out, "rb") as file:
                    texts.append(file.read())
        if len(texts) == 2 and texts[0] == texts[1]:
            tally.passed(suite)
        else:
            tally.failed(suite, f"{name} differs between {build} and {sanitized}, or was not made")


def report(tally, gpus):
    print()
    for suite, (passed, failed, skipped) in tally.counts.items():
        print(f"{suite:14} {passed:5} passed {failed:5} failed {skipped:5} skipped")
    for reason, n in tally.reasons.most_common():
        print(f"skipped {n:4}: {reason}")
    if gpus:
        print(f"GPUs: {', '.join(gpus)}; {tally.gpu_skipped} GPU tests did not run")
    else:
        print(f"{tally.gpu_skipped} GPU tests did not run: no GPU with a driver was found")
    for name in tally.failures:
        print(f"FAILED {name}")
    print("%d passed, %d failed, %d skipped" % tuple(tally.total()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--sanitized", metavar="BUILD", help="the same with sanitizers")
    parser.add_argument("--suites", help="only these; the default is all that the build can run")
    args = parser.parse_args()
    suites = args.suites.split(",") if args.suites else suites_of(args.build)
    for name in suites:
        if name not in SUITES:
            parser.error(f"unknown suite '{name}', expected some of {','.join(SUITES)}")

    tally = Tally()
    gpus = hardware.gpus()
    if not gpus and os.environ.get("ATTN_REQUIRE_GPU") == "1":
        tally.failed("gpu", "no GPU was found, and ATTN_REQUIRE_GPU=1 demands one")
    sys.stdout.flush()
    if "lint" in suites:
        run_lint(args.build, tally, "lint")
    with tempfile.TemporaryDirectory() as temp:
        for build, suffix in ((args.build, ""), *([(args.sanitized, "-asan")] if args.sanitized else ())):
            if "lit" in suites:
                run_lit(build, tally, "lit" + suffix, temp)
            # The longest of these is a file of Python tests: it does not begin last.
            folders = [name for name in ("python", "device") if name in suites and build == args.build]
            jobs = [job for name in folders for job in python_jobs(name, temp)]
            jobs += gtest_jobs(build, tally, "unit" + suffix, temp) if "unit" in suites else ()
            run_jobs(jobs, build, tally)
        if args.sanitized:
            compare_ptx(args.build, args.sanitized, tally, "ptx-asan", temp)
    for name in suites + ["ptx-asan"] * bool(args.sanitized):
        if not sum(tally.counts.get(name, ())):
            tally.failed(name, "there are no tests")
    sys.stdout.flush()
    report(tally, gpus)
    return 1 if tally.total()[1] or not tally.total()[0] else 0


if __name__ == "__main__":
    sys.exit(main())
