# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the compiler's answers about schedules: every entry of the table corresponds to a point, and others are
refused by name."""

import os
import re
import sys
import tempfile
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "python")]
import schedules
from attn import _presets

GENERATOR = schedules.of()
DATA = os.path.join(ROOT, "passes", "schedule", "data")
with open(os.path.join(DATA, "schedules", "sm_90a", "fwd_d96.mlir"), encoding="utf-8") as opened:
    FILE = opened.read()
ENTRY_LINE = FILE.count("\n", 0, FILE.index("attn.table_entry")) + 1


def chosen(d, dv, mask):
    return [entry.symbol for entry in GENERATOR.entries(machine="sm_90a", head_dims=[d, dv], mask=mask)]


class Table(unittest.TestCase):
    def test_every_entry_is_generated_from_its_point(self):
        entries = GENERATOR.entries()
        for entry in entries:
            with self.subTest(entry=entry.symbol), open(os.path.join(DATA, entry.read["file"]), encoding="utf-8") as file:
                # What the table alone says of an entry.
                text = re.sub(r"(head_dim \d+, \d+) (?:exact|packed)|(masks \[[^]]*\]) machines \[[^]]*\]", r"\1\2", file.read())
                self.assertIn(entry.changed({}), text)
                self.assertEqual(set(entry.point), set(GENERATOR.parameters))
        files = {entry.read["file"] for entry in entries}
        found = {os.path.relpath(os.path.join(folder, name), DATA) for part in ("schedules", "rungs")
                 for folder, _, names in os.walk(os.path.join(DATA, part)) for name in names}
        # The generator makes schedules of the forward pass.
        self.assertEqual(files, {file for file in found if os.path.basename(file).startswith("fwd")})
        for entry in entries:
            self.assertEqual(os.path.dirname(entry.read["file"]), f"{'rungs' if entry.rung else 'schedules'}/{entry.machine}")

    def test_packed_entries_are_for_the_few_queries_of_the_package(self):
        packed = set()
        for entry in GENERATOR.entries():
            with open(os.path.join(DATA, entry.read["file"]), encoding="utf-8") as file:
                if re.search(r"head_dim \d+, \d+ packed", file.read()):
                    packed.add(entry.condition)
        self.assertTrue(packed)
        for condition in packed:
            self.assertTrue(condition.endswith(f"seqlen_q at_most {_presets.FEW_QUERIES}"), condition)

    def test_those_of_a_machine(self):
        of_sm_90a = [entry.symbol for entry in GENERATOR.entries() if entry.machine == "sm_90a"]
        self.assertEqual([entry.symbol for entry in GENERATOR.entries(machine="sm_90a")], of_sm_90a)
        self.assertEqual(GENERATOR.entries(machine="sm_100a"), [])

    def test_those_that_a_problem_is_compiled_from(self):
        self.assertEqual(chosen(128, 128, "causal_bottom_right"), [f"fwd_d128_causal_{name}" for name in ("cut", "256", "short", "many", "one", "chunk", "rest")])
        self.assertEqual(chosen(72, 72, "none"), ["fwd_d72_2048", "fwd_d72_512", "fwd_d72_long", "fwd_d72"])
        self.assertEqual(chosen(96, 96, "none"), ["fwd_d96_none_causal"])
        self.assertEqual(chosen(192, 192, "causal_top_left"), ["fwd_d192_causal_4096", "fwd_d192_causal_long"])
        with self.assertRaisesRegex(schedules.ScheduleError, "expected a schedule for fwd, bf16, head dims 64 and 64, mask 'none', on 'sm_100a'"):
            GENERATOR.ask("entries", machine="sm_100a", head_dims=[64, 64], mask="none")

    def test_what_an_entry_says(self):
        entry = GENERATOR.entries(machine="sm_90a", head_dims=[192, 128], mask="none")[0]
        self.assertEqual((entry.symbol, entry.head_dims, entry.masks, entry.condition, entry.machine, entry.rung, entry.rows),
                         ("fwd_d192_dv128_none_512", (192, 128), ["none"], "seqlen_k at_most 512", "sm_90a", 0, 128))
        self.assertEqual(entry.changed({}, conditional=False), entry.changed({}).replace("    when <seqlen_k at_most 512>\n", ""))

    def test_its_machines_and_its_limit(self):
        self.assertEqual(GENERATOR.default_machine, "sm_90a")
        entries = {entry.symbol: entry for entry in GENERATOR.entries()}
        self.assertEqual((entries["fwd_d192_dv128_none_512"].keys_at_most, entries["fwd_d96"].keys_at_most), (512, None))
        self.assertEqual(entries["fwd_d96"].machines, ["sm_90a"])
        with tempfile.TemporaryDirectory() as temp:
            path = os.path.join(temp, "shared.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(entries["fwd_d96"].changed({}).replace("]\n", '] machines ["sm_90a", "sm_90b"]\n', 1))
            self.assertEqual(GENERATOR.entries(file=path)[0].machines, ["sm_90a", "sm_90b"])

    def test_another_head(self):
        """Only the head changes; that of an older compiler is not read."""
        entry, = (each for each in GENERATOR.entries() if each.symbol == "fwd_d96")
        text = entry.changed({})
        older = text.replace('["none"', '["pointwise_region", "none"')
        self.assertNotEqual(older, text)
        renamed = GENERATOR.renamed(older, "other", [96, 96], ["none"], "seqlen_k at_most 64")
        self.assertEqual(renamed.partition("    config")[0], 'attn.table_entry fwd @other head_dim 96, 96\n    masks ["none"]\n    when <seqlen_k at_most 64>\n')
        self.assertEqual(renamed.partition("    config")[2], text.partition("    config")[2].replace('"fwd_d96"', '"other"'))

    def test_a_changed_entry(self):
        entry, = (each for each in GENERATOR.entries() if each.symbol == "fwd_d96")
        self.assertIn("tile_n = 48", entry.changed({"tile_n": 48}))
        for change, message in (({"tile_x": 64}, "expected a parameter of consumers, tile_n, .*, turn.*, got 'tile_x'"),
                                ({"tile_n": 7}, "expected 'tile_n' to be a multiple of 16 in 16..256, got 7"),
                                ({"overlap": "pv_frist"}, "expected 'overlap' to be .*\"pv_first\" or \"none\", got \"pv_frist\""),
                                ({"exp2_soft": "1/0"}, "expected 'exp2_soft' to be a share as \"1/8\", got \"1/0\"")):
            with self.subTest(change=change), self.assertRaisesRegex(schedules.ScheduleError, f"^{message}$"):
                self.assertIsNone(entry.changed(change))
        poor = types.SimpleNamespace(schedule=lambda *point, **head: {"refused": "not enough registers for 7 consumers"})
        with self.assertRaisesRegex(schedules.ScheduleError, "^'@fwd_d96' on sm_90a: not enough registers for 7 consumers$"):
            self.assertIsNone(schedules.Entry(poor, entry.read).changed({"consumers": 7}))


class Refusals(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "t.mlir")

    def refused(self, text):
        """The message about the first entry of a file, or about the file."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        with self.assertRaises(schedules.ScheduleError) as caught:
            self.assertIsNone(GENERATOR.entries(file=self.path)[0].point)
        return str(caught.exception).replace(self.path, "t.mlir")

    def test_an_entry_that_no_point_stands_for(self):
        for old, new, message in (
                ("tile_n = 128", "tile_n = 8", "expected 'tile_n' to be a multiple of 16 in 16..256, got 8"),
                ("rescale_threshold = 8", "rescale_threshold = 8, cta_group = 2", "expected '#attn.config<tile_m = 128, .*', as it is generated, got '.*cta_group = 2.*'"),
                ("split M 2", "split M 3", "expected 'split M 2 whole\\(q\\)', as it is generated, got 'split M 3 whole\\(q\\)'"),
                ("role load warps", "role lead warps", "expected a role 'load', got none"),
                ("regs 232", "regs 240", "expected 'role wg\\[2\\] warps 4 regs 232', as it is generated, got 'role wg\\[2\\] warps 4 regs 240'"),
                ("chan k =", "chan x =", "expected a place 'k', got none"),
                ("hold s = s", "hold t = s", "expected 'hold s = s in reg depth 1', as it is generated, got 'hold t = s in reg depth 1'"),
                ("score mask", "mask score", "expected 'kv \\{.* score mask .*', as it is generated, got '.* mask score .*'"),
                ('machine "sm_90a"', 'machine "sm_1"', "expected a target among .*'sm_90a', got 'sm_1'")):
            with self.subTest(new=new):
                self.assertIn(old, FILE)
                self.assertRegex(self.refused(FILE.replace(old, new, 1)), f"^t.mlir:{ENTRY_LINE}: '@fwd_d96': {message}$")

    def test_a_file_that_is_none(self):
        for text, message in (("// nothing\n", "t.mlir:1: expected an attn.table_entry, got none"),
                              (FILE.replace("knob peel", "knob peal"), "expected knob 'exp2_soft', 'peel', 'skip'"),
                              (FILE.replace("fwd @", "forward @"), "expected")):
            with self.subTest(message=message):
                self.assertIn(message, self.refused(text))
        with self.assertRaisesRegex(schedules.ScheduleError, "expected schedule file '.*none' to exist, got"):
            GENERATOR.entries(file=self.path + ".none")

    def test_a_request(self):
        dims = {"machine": "sm_90a", "head_dims": [64, 64]}
        for what, fields, message in (
                ("points", {}, "expected 'ask' to be one of vocabulary, point, schedule, rename, entries, got 'points'"),
                ("point", {"tile_n": 64}, "expected no field 'tile_n' in this request"),
                ("point", {"parameters": [64]}, r"expected 'parameters' to be an object, got \[64\]"),
                ("schedule", {"machine": "sm_90a"}, "expected a field 'head_dims', got none"),
                ("schedule", {"machine": "sm_90a", "head_dims": [64, 100]}, r"expected 'head_dims' to be two numbers, each a multiple of 8 in 8..256, got \[64,100\]"),
                ("schedule", {**dims, "masks": ["nothing"]}, "expected masks of none, causal_top_left, causal_bottom_right, window, gathers, got 'nothing'"),
                ("schedule", {**dims, "masks": "none"}, "expected 'masks' to be a list of strings, got \"none\""),
                ("schedule", {**dims, "symbol": 1}, "expected 'symbol' to be a string, got 1"),
                ("schedule", {**dims, "rung": -1}, ".*expected 'rung' to be a whole number of at least 0, got -1"),
                ("schedule", {**dims, "when": "seqlen_k"}, ".*expected valid keyword"),
                ("schedule", {**dims, "machine": "sm_100a"}, "expected a machine with 'tiles', whose rows a consumer computes, got 'sm_100a' without"),
                ("schedule", {"head_dims": [64, 64]}, "expected a field 'machine' or 'machine_file', got none"),
                ("schedule", {**dims, "machine_file": "m.mlir"}, "expected a field 'machine' or 'machine_file', got both"),
                ("rename", {"entry": FILE}, "expected fields 'head_dims' and 'symbol' of the head"),
                ("rename", {"entry": FILE, "symbol": "x", "head_dims": [96, 96], "rung": 1}, "expected no field 'rung', which stays as it is"),
                ("rename", {"entry": "config <", "symbol": "x", "head_dims": [96, 96]}, "entry:.*expected .*"),
                ("entries", {"mask": "none"}, "expected fields 'head_dims' and 'mask', or none of them"),
                ("entries", {"head_dims": [64, 64], "mask": "none"}, "expected a field 'machine' and no 'file' for a problem"),
                ("entries", {"machine": "sm_1"}, "expected a machine of .*sm_90a, got 'sm_1'"),
                ("entries", {**dims, "mask": "odd"}, "expected a mask of attn.attention, got 'odd'")):
            with self.subTest(what=what, fields=fields), self.assertRaisesRegex(schedules.ScheduleError, f"^{message}$"):
                self.assertIsNone(GENERATOR.ask(what, **fields))

    def test_a_line_that_is_no_object(self):
        generator = schedules.Schedules()
        self.addCleanup(generator.close)
        for line, message in (("[1]", "expected a request to be an object, got [1]"), ("{", "Expected object key")):
            self.assertIn(message, generator.reply(line)["error"])

    def test_a_compiler_that_ends(self):
        with self.assertRaisesRegex(RuntimeError, "true ended with status 0 before it replied"):
            self.assertIsNone(schedules.Schedules("true").ask("vocabulary"))


if __name__ == "__main__":
    unittest.main()
