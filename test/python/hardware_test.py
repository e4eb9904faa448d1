# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what test/hardware.py finds, when it is called as scripts call it."""

import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CALL = re.compile(r"test/hardware\.py ([^|>;)]*)")


def calls():
    """The arguments of every call in scripts/."""
    folder = os.path.join(ROOT, "scripts")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            yield from ((name, found.split()) for found in CALL.findall(file.read()))


class HardwareTest(unittest.TestCase):
    def ask(self, arguments, driver):
        """hardware.py with an nvidia-smi that prints `driver`."""
        with tempfile.TemporaryDirectory() as folder:
            tool = os.path.join(folder, "nvidia-smi")
            with open(tool, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nprintf '{driver}'\n")
            os.chmod(tool, stat.S_IRWXU)
            env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
            return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "test", "hardware.py"), *arguments],
                                  env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)

    def test_gpus_are_those_of_the_driver(self):
        done = self.ask(["gpus"], "9.0\\n10.0\\n")
        self.assertEqual((done.returncode, done.stdout), (0, "sm_90\nsm_100\n"))
        self.assertEqual(self.ask(["gpus"], "").returncode, 1)

    def test_other_arguments_are_refused(self):
        done = self.ask(["gpus", "more"], "9.0\\n")
        self.assertEqual((done.returncode, done.stderr), (1, "usage: hardware.py gpus | ptxas\n"))

    def test_scripts_ask_what_it_knows(self):
        found = list(calls())
        self.assertIn("demo", [name for name, _ in found])
        for name, arguments in found:
            with self.subTest(name, arguments=arguments):
                self.assertEqual(self.ask(arguments, "9.0\\n").stderr, "")


if __name__ == "__main__":
    unittest.main()
