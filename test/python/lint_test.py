# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/lint: which files it reads, and that a missing tool is a failure."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import run

# A program without the ending of a module.
loader = importlib.machinery.SourceFileLoader("lint", os.path.join(ROOT, "scripts", "lint"))
spec = importlib.util.spec_from_loader("lint", loader)
assert spec
lint = importlib.util.module_from_spec(spec)
loader.exec_module(lint)

LLVM, PLAIN = "clang++ -isystem /usr/lib/llvm-22/include", "clang++"


class Lint(unittest.TestCase):
    def said(self, *arguments):
        """The exit status and what is printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), mock.patch.object(sys, "argv", ["lint", *arguments]):
            return lint.main(), output.getvalue()

    def test_a_missing_tool_is_a_failure(self):
        with mock.patch.object(lint, "PYTHON_TOOLS", "/nowhere"):
            for check in ("ruff", "mypy"):
                status, output = self.said(check)
                self.assertEqual(status, 1)
                self.assertRegex(output, f"(?s)there is no /nowhere/{check}: run scripts/setup.*{check}: FAILED")
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            self.assertEqual(self.said("format")[0], 1)

    def test_a_missing_build_is_a_failure(self):
        status, output = self.said("tidy", "--build=/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("there is no /nowhere/compile_commands.json: build first", output)

    def test_files_of_others_are_not_read(self):
        headers = lint.sources(".h")
        self.assertIn("include/attn/runtime/attn.h", headers)
        self.assertNotIn("include/attn/runtime/dlpack.h", headers)

    def test_a_changed_header_is_read_with_a_file_that_includes_it(self):
        commands = {"runtime/lib/expr.cpp": PLAIN, "dialect/lib/TileOps.cpp": LLVM, "passes/middle/Subtile.cpp": LLVM}
        for changed, found in ((["runtime/lib/expr.h"], {"runtime/lib/expr.cpp"}), (["README.md"], set()),
                               (["dialect/lib/TileOps.cpp", "deleted.cpp"], {"dialect/lib/TileOps.cpp"})):
            with mock.patch.object(lint, "git", side_effect=lambda *command, c=changed: c if "diff" in command else ["base"]):
                self.assertEqual(lint.changed_units({unit: commands[unit] for unit in commands if unit in lint.sources(".cpp")}),
                                 found)

    def read_by_tidy(self, *arguments):
        """The files that clang-tidy reads of a build of two, where git knows no commit to compare with."""
        units = {"runtime/lib/expr.cpp": PLAIN, "dialect/lib/TileOps.cpp": LLVM}
        with tempfile.TemporaryDirectory() as build:
            with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as file:
                json.dump([{"file": os.path.join(ROOT, unit), "command": command} for unit, command in units.items()], file)
            with mock.patch.object(lint, "git", return_value=None), mock.patch.object(lint, "tidy", return_value=(True, "")) as tidy:
                status, _ = self.said("tidy", f"--build={build}", *arguments)
        return status, {call.args[1] for call in tidy.call_args_list}

    def test_what_clang_tidy_reads(self):
        self.assertEqual(self.read_by_tidy(), (0, {"runtime/lib/expr.cpp"}))
        self.assertEqual(self.read_by_tidy("--all"), (0, {"runtime/lib/expr.cpp", "dialect/lib/TileOps.cpp"}))
        self.assertEqual(self.read_by_tidy("--changed"), (1, set()))

    def test_each_check_counts_as_a_test(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "lint")
            with open(script, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\n[ "$1" != mypy ]\n')
            os.chmod(script, 0o755)
            tally = run.Tally()
            with mock.patch.object(run, "LINT", script):
                run.run_lint("build", tally, "lint")
        self.assertEqual((tally.total(), tally.failures), ([3, 1, 0], ["lint: mypy"]))


if __name__ == "__main__":
    unittest.main()
