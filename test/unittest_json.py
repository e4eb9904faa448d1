#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the unittests of one file and writes what became of them as JSON.

usage: unittest_json.py FILE RESULTS

RESULTS holds {"passed": how many, "failed": [names], "skipped": [reasons]}."""

import json
import os
import sys
import unittest


class Result(unittest.TextTestResult):
    """Also counts the tests that passed."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.passed += 1


def counts(result):
    """What a Result says, as JSON has it. A test of which several parts fail is one test."""
    bad = [test for test, _ in result.failures + result.errors] + result.unexpectedSuccesses
    return {"passed": result.passed, "failed": list(dict.fromkeys(str(getattr(test, "test_case", test)) for test in bad)),
            "skipped": [reason for _, reason in result.skipped]}


def main():
    path, results = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.argv = [path]
    name = os.path.splitext(os.path.basename(path))[0]
    tests = unittest.defaultTestLoader.loadTestsFromName(name)
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Result).run(tests)
    with open(results, "w", encoding="utf-8") as file:
        json.dump(counts(result), file)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
