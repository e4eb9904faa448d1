# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which faults test/compiler_faults plants, and what becomes of the text."""

import collections
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "compiler_faults"))
import plant

SOURCE = """\
bool check(Op op) {
  if (op.size() < most && !op.isLast()) { // if (never)
    note("if (op)");
    list->add(op.size() + 1);
    return true;
  }
  if (auto attr = op.attr()) {
    return attr.flag();
  }
}
"""


def planted(text):
    faults = []
    return plant.plant_file("dialect/x.cpp", text, faults, set()), faults


class PlantTest(unittest.TestCase):
    def test_each_kind_of_place_is_found(self):
        _, faults = planted(SOURCE)
        kinds = collections.Counter(fault["kind"] for fault in faults)
        self.assertEqual(kinds, {"always": 1, "never": 1, "edge": 1, "drop": 2, "number": 1, "flip": 1})
        self.assertEqual({fault["line"] for fault in faults}, {2, 3, 4, 5})

    def test_conditions_are_nested(self):
        text, _ = planted(SOURCE)
        self.assertIn("if (attn_fault::active(0) || (!attn_fault::active(1) && ((attn_fault::active(2) ? "
                      "op.size() <= most : op.size() < most) && !op.isLast()))) {", text)

    def test_without_switches_the_text_is_the_same(self):
        text, faults = planted(SOURCE)
        self.assertNotEqual(text, SOURCE)
        excluded = {fault["key"] for fault in faults}
        self.assertEqual(plant.plant_file("dialect/x.cpp", SOURCE, [], excluded), SOURCE)

    def test_keys_are_unique_and_name_no_line(self):
        _, once = planted(SOURCE)
        _, moved = planted("\n\n" + SOURCE)
        keys = [fault["key"] for fault in once]
        self.assertEqual(len(set(keys)), len(keys))
        self.assertEqual([fault["key"] for fault in moved], keys)
        _, twice = planted(SOURCE + SOURCE)
        self.assertEqual(len({fault["key"] for fault in twice}), 2 * len(keys))


if __name__ == "__main__":
    unittest.main()
