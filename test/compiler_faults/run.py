#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tests on a compiler with planted faults, and tells which faults they catch.

    test/compiler_faults/run.py FOLDER/build                    # 600 faults, OUT is FOLDER/caught.json
    test/compiler_faults/run.py FOLDER/build --most=100 --only=codegen
    test/compiler_faults/run.py FOLDER/build --known=OTHER/faults.json   # only those that this list has, too
    test/compiler_faults/run.py FOLDER/build --tests=OTHER/test -o old.json   # tests of another revision
    test/compiler_faults/run.py FOLDER/build --before=OTHER/caught.json  # the same faults; fails if one is caught no more

FOLDER is what plant.py wrote. First every test runs without a fault, which tells the faults that it comes by;
one that fails is left out. Then each chosen fault is switched on for the tests that come by it, the quickest first, until one
fails. Tests are files for lit below FOLDER/test, in the folders TESTS.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TESTS = ("Dialect", "Passes", "Codegen", "Schedule")
# The time and memory that a program with a fault may use: more is a failure.
SECONDS, BYTES = 60, 8 << 30
SETTING = re.compile(r'^config\.(attn_src_root|attn_obj_root) = .*|^lit_config\.load_config\(.*', re.MULTILINE)
# Added to the settings of the build.
PASS_ON = """
for name in ("ATTN_FAULT", "ATTN_FAULTS_REACHED"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
"""
# A test: its path below FOLDER/test, the seconds that it takes, the numbers of the faults that it comes by.
Test = collections.namedtuple("Test", "path seconds reached")


class Runner:
    def __init__(self, build, tests, folder, lit):
        self.folder, self.lit = folder, lit
        root = os.path.dirname(tests)
        with open(os.path.join(build, "test", "lit.site.cfg.py"), encoding="utf-8") as file:
            settings = file.read()
        values = {"attn_src_root": root, "attn_obj_root": build}
        self.settings = "import os\n" + SETTING.sub(
            lambda match: f"config.{match[1]} = {values[match[1]]!r}" if match[1] else
            f"lit_config.load_config(config, {os.path.join(tests, 'lit.cfg.py')!r})", settings) + PASS_ON

    def run(self, tests, **environment):
        """Runs tests, one after another, until one fails; returns whether all passed, and the output."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            with open(os.path.join(place, "lit.site.cfg.py"), "w", encoding="utf-8") as file:
                file.write(self.settings + f"config.test_exec_root = {place!r}\n")
            command = [*self.lit, "-j1", "-v", "--max-failures=1", "--order=lexical"]
            process = subprocess.Popen(
                command + [os.path.join(place, test) for test in tests], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                universal_newlines=True, errors="replace", start_new_session=True, env={**os.environ, **environment})
            try:
                output, _ = process.communicate(timeout=SECONDS * len(tests))
                return process.returncode == 0, output
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return False, "timeout"

    def look(self, path):
        """Runs a test without a fault; returns a Test, or None where it fails."""
        with tempfile.TemporaryDirectory(dir=self.folder) as reached:
            start = time.time()
            passed, output = self.run([path], ATTN_FAULTS_REACHED=reached)
            seconds = time.time() - start
            if not passed or "Passed: 1" not in " ".join(output.split()):
                print(f"{path} is left out: it does not pass without a fault", flush=True)
                return None
            numbers = set()
            for name in glob.glob(os.path.join(reached, "*")):
                with open(name, encoding="utf-8") as file:
                    numbers.update(map(int, file))
        return Test(path, seconds, numbers)

    def catch(self, number, tests):
        """The path of a test that notices a fault, or None."""
        for test in sorted((test for test in tests if number in test.reached), key=lambda test: test.seconds):
            if not self.run([test.path], ATTN_FAULT=str(number))[0]:
                return test.path
        return None


def find_tests(tests):
    for name in TESTS:
        for path in glob.glob(os.path.join(tests, name, "**", "*.*"), recursive=True):
            inner = os.path.relpath(path, tests)
            if path.endswith((".mlir", ".test")) and not {"Inputs", "reference"}.intersection(inner.split(os.sep)):
                yield inner


def spread(items, most):
    """At most so many items, evenly spread."""
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


def choose(args, faults, reached):
    """The numbers of the faults to try."""
    if args.before:
        with open(args.before, encoding="utf-8") as file:
            wanted = set(json.load(file))
        return [number for number, fault in enumerate(faults) if fault["key"] in wanted]
    known = None
    if args.known:
        with open(args.known, encoding="utf-8") as file:
            known = {fault["key"] for fault in json.load(file)}
    numbers = [number for number, fault in enumerate(faults) if number in reached and fault["file"].startswith(args.only)
               and (known is None or fault["key"] in known)]
    return spread(numbers, args.most)


def report(faults, caught, args):
    tally = collections.defaultdict(collections.Counter)
    by_key = {fault["key"]: fault for fault in faults}
    for key, test in caught.items():
        tally[by_key[key]["file"].split("/")[0]][test is not None] += 1
    for component, counts in sorted(tally.items()):
        print(f"{component:8} {counts[True]:5} caught {counts[False]:5} not")
    print(f"{sum(test is not None for test in caught.values())} of {len(caught)} faults caught")
    if not args.before:
        return 0
    with open(args.before, encoding="utf-8") as file:
        before = json.load(file)
    lost = [key for key, test in before.items() if test and key in caught and not caught[key]]
    won = [key for key, test in before.items() if not test and caught.get(key)]
    for key in lost:
        print(f"caught no more: {key}\n    by {before[key]} before; {by_key[key]['file']}:{by_key[key]['line']}")
    print(f"{sum(test is not None for test in before.values())} of {len(before)} caught before; {len(before) - len(caught)} are gone, "
          f"{len(lost)} caught no more, {len(won)} caught now")
    return 1 if lost else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--most", type=int, default=600, help="faults to try, evenly spread (600)")
    parser.add_argument("--only", default="", help="faults in files whose paths begin so")
    parser.add_argument("--known", help="a faults.json of another revision")
    parser.add_argument("--before", help="a caught.json of another revision")
    parser.add_argument("--tests", help="a folder of tests, with the tree that it belongs to beside it (FOLDER/test)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lit", default="/usr/lib/llvm-22/bin/lit", help="lit, a Python script")
    parser.add_argument("-o", dest="output")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    build = os.path.abspath(args.build)
    folder = os.path.dirname(build)
    with open(os.path.join(folder, "faults.json"), encoding="utf-8") as file:
        faults = json.load(file)
    place = tempfile.mkdtemp()
    folder_of_tests = os.path.abspath(args.tests or os.path.join(folder, "test"))
    runner = Runner(build, folder_of_tests, place, [sys.executable, args.lit])
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tests = [test for test in pool.map(runner.look, sorted(find_tests(folder_of_tests))) if test]
        numbers = choose(args, faults, set().union(*(test.reached for test in tests)))
        print(f"{len(tests)} tests, {len(numbers)} faults", flush=True)
        found = pool.map(lambda number: (faults[number]["key"], runner.catch(number, tests)), numbers)
        caught = {}
        for key, test in found:
            caught[key] = test
    shutil.rmtree(place, ignore_errors=True)
    with open(args.output or os.path.join(folder, "caught.json"), "w", encoding="utf-8") as file:
        json.dump(caught, file, indent=0)
    return report(faults, caught, args)


if __name__ == "__main__":
    sys.exit(main())
