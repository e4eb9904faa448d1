# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's Python program runs, and is as near to torch as its types allow."""

import contextlib
import importlib.util
import io
import os
import re
import unittest

from package_support import ROOT


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Readme(unittest.TestCase):
    def test_the_program(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            programs = re.findall(r"^```python\n(.*?)^```$", file.read(), re.M | re.S)
        self.assertEqual(len(programs), 1)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(programs[0], "README.md", "exec"), {})
        difference = re.match(r"tensor\(([0-9.e+-]+)", output.getvalue())
        self.assertTrue(difference, output.getvalue())
        self.assertLess(float(difference[1]), 4e-3)


if __name__ == "__main__":
    unittest.main()
