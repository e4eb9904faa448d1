# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests which entries of the schedule table bench/make_ablations.py uses, and what it changes in them."""

import os
import re
import sys
import tempfile
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import make_ablations
import make_bundles
import schedules
from racing import points

CLASSES = [points.Point(mask, d, points.TOKENS, dv) for d, dv in ((64, 64), (128, 128), (256, 256), (192, 128)) for mask in ("none", "causal")]


def change(point, refused=lambda text: None, **row):
    return make_ablations.change(make_bundles.entries_of(point), {"change": {}, **row}, refused)


class Changes(unittest.TestCase):
    POINT = points.Point("causal", 128, 1024)

    def test_every_parameter_comes_back_from_its_text(self):
        base = make_bundles.entries_of(self.POINT)[-1]
        values = {"consumers": 2, "tile_n": 48, "load_registers": 56, "loaders": 2, "k_depth": 5, "v_depth": 3, "q_depth": 3, "stage_o": "over_q",
                  "storer": "warp", "stage_p": "smem", "cluster": 2, "pack_gqa": 4, "work": "grid", "work_depth": 3, "last_wave_parts": 5, "order": "linear",
                  "section_mib": 7, "launch": "dependent", "overlap": "pv_first", "rescale": "before_pv", "row_max": "integer",
                  "rescale_threshold": 3, "exp2_soft": "1/5", "exp2_degree": 4, "peel": "first", "skip": "none", "turn": False}
        others = {"rings": {"v_depth": 2}}
        for name, parameter in schedules.of().parameters.items():
            values.setdefault(name, next(value for value in [parameter.default, *parameter.others()] if value != base.point[name]))
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "t.mlir")
        for name, value in values.items():
            with self.subTest(name=name):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(base.changed({**schedules.of().needs(name), **others.get(name, {}), name: value}))
                changed, = schedules.of().entries(file=path)
                self.assertEqual(changed.point[name], value)
                self.assertEqual(changed.symbol, base.symbol)

    def test_conditions_stay(self):
        text, reason = change(self.POINT, change={"work": "grid"})
        self.assertIsNone(reason)
        self.assertEqual((text.count("work = grid"), text.count("when <"), "dynamic" in text), (7, 6, False))

    def test_one_length_is_the_last_entry_alone(self):
        text, reason = change(self.POINT, conditions=False)
        self.assertEqual((reason, re.findall(r"@(\w+)", text)), (None, ["fwd_d128_causal_rest"]))

    def test_what_changes_nothing_is_left_out(self):
        self.assertEqual(change(self.POINT, change={"rescale_threshold": 8}), (None, "nothing to change"))

    def test_entries_with_which_it_is_illegal_stay(self):
        def refused(text):
            self.assertNotIn("when <", text)
            return "V11" if "tile_m = 128" in text else None
        text, reason = change(self.POINT, refused, change={"stage_o": "over_q"})
        self.assertEqual((reason, text.count("smem depth 1\n  turn"), text.count("over q")), (None, 5, 2))
        self.assertEqual(change(self.POINT, lambda text: "V11", change={"stage_o": "over_q"}), (None, "V11"))


class Variants(unittest.TestCase):
    def test_one_with_the_schedules_of_another_is_left_out(self):
        problem = types.SimpleNamespace(entries=make_bundles.entries_of(points.Point("none", 192, 1024, 128)), refusal=lambda text: None)
        rows = [{"name": name, "change": values} for name, values in
                (("a", {"load_registers": 56}), ("b", {"load_registers": 56, "storer": "warp"}), ("c", {"storer": "consumers"}))]
        found = {name: (bool(text), reason) for name, text, reason in make_ablations.Problem.variants(problem, rows)}
        self.assertEqual(found, {"table": (True, None), "a": (True, None), "b": (False, "the same schedules as those of 'a'"), "c": (True, None)})


class Ablations(unittest.TestCase):
    def setUp(self):
        self.rows = make_ablations.read_ablations()

    def test_every_row_has_something_to_change_somewhere(self):
        self.assertEqual(len({row["name"] for row in self.rows}), len(self.rows))
        for row in self.rows:
            with self.subTest(name=row["name"]):
                self.assertTrue(row["what"])
                self.assertTrue(any(change(point, **row)[0] for point in CLASSES))

    def test_every_value_is_one_of_the_parameter(self):
        for row in self.rows:
            with self.subTest(row=row["name"]):
                self.assertEqual(set(schedules.of().canonical(row["change"])), set(schedules.of().parameters))


if __name__ == "__main__":
    unittest.main()
