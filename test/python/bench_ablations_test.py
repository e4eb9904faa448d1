# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/make_ablations.py takes from the schedule table, and how it edits it."""

import json
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import make_ablations
import points


def entries(d, dv, mask):
    with open(make_ablations.table_file(points.Point(mask, d, points.TOKENS, dv, "bf16")), encoding="utf-8") as file:
        return make_ablations.entries_for(file.read(), mask)


class Ablations(unittest.TestCase):
    def test_entries_made_for_a_mask_are_taken(self):
        text = entries(128, 128, "causal")
        self.assertIn("@fwd_d128_causal_512", text)
        self.assertIn("@fwd_d128_causal ", text)
        self.assertNotIn("@fwd_d128_none", text)
        self.assertNotIn('"window"', text)

    def test_entries_one_by_one(self):
        found = make_ablations.entries_of(points.Point("causal", 128, 1024))
        self.assertEqual([re.search(r"@(\w+)", entry).group(1) for entry in found], ["fwd_d128_causal_512", "fwd_d128_causal_1024", "fwd_d128_causal"])

    def test_without_one_the_entry_for_all_masks_is(self):
        self.assertIn("@fwd_d192 ", entries(192, 192, "causal"))

    def test_an_edit_changes_all_entries_or_none(self):
        text = "a = 1\nb\na = 1\n"
        self.assertEqual(make_ablations.edited(text, [["a = 1", "a = 2"]]), "a = 2\nb\na = 2\n")
        self.assertIsNone(make_ablations.edited(text, [["a = 1", "a = 2"], ["c", "d"]]))

    def test_every_ablation_has_something_to_change_somewhere(self):
        with open(os.path.join(ROOT, "bench", "ablations.json"), encoding="utf-8") as file:
            ablations = json.load(file)
        texts = [entries(d, dv, mask) for d, dv in ((64, 64), (128, 128), (256, 256), (192, 128)) for mask in ("none", "causal")]
        self.assertGreater(len(ablations), 10)
        for ablation in ablations:
            with self.subTest(name=ablation["name"]):
                changed = [t for t in texts if make_ablations.edited(t, ablation["edits"]) not in (None, t)]
                self.assertTrue(changed)


if __name__ == "__main__":
    unittest.main()
