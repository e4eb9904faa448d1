# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/schedule-rules.md has the rules by which the compiler refuses schedules, and the words
that it reads in the `lacks` of a machine."""

import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
import schedules

ATTN_OPT = schedules.beside("bin", "attn-opt")
REFERENCE = os.path.join(ROOT, "test", "Schedule", "spell.py")
MACHINE = os.path.join(ROOT, "passes", "schedule", "data", "machines", "sm_90a.mlir")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


PAGE = read("docs", "schedule-rules.md")


class Rules(unittest.TestCase):
    def test_the_page_has_the_rules_that_refuse_the_reference_schedules(self):
        done = subprocess.run([sys.executable, "-B", REFERENCE, "--check", ATTN_OPT], stdout=subprocess.PIPE, text=True)
        named = {int(number) for number in re.findall(r", got .*?\bV(\d+): ", done.stdout)}
        listed = [int(number) for number in re.findall(r"^\| V(\d+) \|", PAGE, re.M)]
        self.assertGreater(len(named), 10)
        self.assertLessEqual(named, set(listed))
        self.assertEqual(listed, sorted(set(listed)))

    def test_the_page_has_the_words_that_machines_may_lack(self):
        machine = re.sub(r"lacks \[[^]]*\]", "lacks [nothing_of_the_kind]", read(MACHINE))
        done = subprocess.run([ATTN_OPT], input=machine, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        words = re.search(r"expected one of \[(.*?)\] .* got: nothing_of_the_kind", done.stderr)[1].split(", ")
        table = PAGE.split("## Words of", 1)[1]
        self.assertEqual(re.findall(r"^\| ([a-z_]+) \| ", table, re.M)[1:], words)


if __name__ == "__main__":
    unittest.main()
