# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every rule that a schedule can be refused by is on docs/schedule-rules.md."""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ("codegen", "dialect", "passes")


def sources():
    for folder in SOURCES:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".cpp", ".h")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        yield file.read()


class Rules(unittest.TestCase):
    def test_the_page_has_the_rules_that_the_sources_name(self):
        named = {int(number) for text in sources() for number in re.findall(r'"(?:[a-z-]+: )?V(\d+)(?:"|: )', text)}
        with open(os.path.join(ROOT, "docs", "schedule-rules.md"), encoding="utf-8") as file:
            listed = [int(number) for number in re.findall(r"^\| V(\d+) \|", file.read(), re.M)]
        self.assertEqual(listed, sorted(named))

    def test_the_page_has_the_words_that_machines_may_lack(self):
        with open(os.path.join(ROOT, "include", "attn", "dialect", "AttnEnums.td"), encoding="utf-8") as file:
            enum = file.read().split("def Attn_Mechanism", 1)[1].split("]>;", 1)[0]
        with open(os.path.join(ROOT, "docs", "schedule-rules.md"), encoding="utf-8") as file:
            table = file.read().split("## Words of", 1)[1]
        self.assertEqual(re.findall(r"^\| ([a-z_]+) \| ", table, re.M)[1:], re.findall(r', "([a-z_]+)">', enum))


if __name__ == "__main__":
    unittest.main()
