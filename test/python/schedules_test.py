# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedule table read back: every entry is a point, and what is none is refused with
its line."""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
from schedules import machine, parameters, table
from schedules.entry import EntryError

# The text of one file, and of its entry alone.
with open(os.path.join(table.FOLDER, "sm_90a", "fwd_d96.mlir"), encoding="utf-8") as opened:
    FILE = opened.read()
ENTRY = FILE[FILE.index("attn.table_entry"):]
FIRST_LINE = FILE.count("\n", 0, FILE.index("attn.table_entry")) + 1


def points_of(text):
    return [entry.point for entry in table.split(text, "t.mlir")]


class Table(unittest.TestCase):
    def test_every_entry_is_a_point(self):
        for path in table.paths() + table.rung_paths():
            with self.subTest(path=os.path.basename(path)), open(path, encoding="utf-8") as file:
                text = file.read()
                entries = table.read(path)
                self.assertEqual(len(entries), text.count("attn.table_entry"))
                for entry in entries:
                    self.assertIn(entry.changed({}), text)
                    self.assertEqual(list(entry.point), list(parameters.PARAMETERS))

    def test_entries_made_for_a_mask_serve_it(self):
        entries = table.serving(128, 128, "causal_bottom_right")
        self.assertEqual([entry.symbol for entry in entries], ["fwd_d128_causal_512", "fwd_d128_causal_1024", "fwd_d128_causal"])

    def test_those_of_a_file_of_their_own_too(self):
        self.assertEqual([entry.symbol for entry in table.serving(96, 96, "none")], ["fwd_d96_none_causal"])

    def test_without_one_the_entry_for_all_masks_does(self):
        self.assertEqual([entry.symbol for entry in table.serving(192, 192, "causal_top_left")], ["fwd_d192"])
        self.assertEqual(table.serving(40, 40, "none"), [])

    def test_the_head_is_read(self):
        entry = table.serving(192, 128, "none")[0]
        self.assertEqual((entry.symbol, entry.head_dims, entry.masks, entry.condition, entry.target),
                         ("fwd_d192_dv128_none_512", (192, 128), ["none"], "seqlen_k at_most 512", "sm_90a"))
        self.assertEqual(entry.unconditional, entry.text.replace("    when <seqlen_k at_most 512>\n", ""))
        self.assertEqual(entry.unconditional, entry.changed({}, conditional=False))


class Refusals(unittest.TestCase):
    def refused(self, text):
        with self.assertRaises(EntryError) as caught:
            self.assertIsNone(points_of(text))
        return str(caught.exception)

    def test_what_is_wrong_is_named_with_its_line_and_the_rule(self):
        line = {text.strip(): number for number, text in enumerate(FILE.split("\n"), 1)}
        head, config = FIRST_LINE, FIRST_LINE + 2
        for old, new, at, message in (
                ("fwd @", "bwd @", head, "expected an entry 'attn.table_entry fwd @NAME"),
                ("head_dim 96, 96", "head_dim 96", head, "expected an entry 'attn.table_entry fwd @NAME"),
                ("head_dim 96, 96", "head_dim 96, 0", head, "expected head dims that are each a multiple of 8 in 8..256, got 0"),
                ('["none", ', '["nothing", ', head + 1, "expected masks of none, causal_top_left, causal_bottom_right, window, "
                                                        "gathers, got 'nothing'"),
                ("tile_n = ", "tile_x = ", head, "expected 'tile_n = NUMBER' in 'fwd_d96', got none"),
                ("tile_n = ", "tile_n = 7", config, "expected 'tile_n' to be a multiple of 16 in 16..256, got 7"),
                ("tile_n = ", "tile_n = 1234567890", config, "expected 'tile_n' to be a multiple of 16 in 16..256, got 123456789"),
                ("order = longest_first", "order = shortest_first", config, "expected 'order' to be \"linear\" or \"longest_first\", "
                                                                            "got shortest_first"),
                ("work = dynamic", "work = w", config, "expected 'work' to be \"grid\" or \"static\" or \"dynamic\", got w"),
                ("split M 2", "split M 3", line["split M 2 whole(q)"], "expected 'split M 2 whole(q)', as attn-tune writes 'fwd_d96', "
                                                                       "got 'split M 3 whole(q)'"),
                ("role wg[2]", "role wg[0]", line["role wg[2] warps 4 regs 232"], "expected 'consumers' to be a whole number in 1..7, got 0"),
                ("role load warps", "role lead warps", head, "expected 'role load warps 1 regs NUMBER' in 'fwd_d96', got none"),
                ("regs 232", "regs 240", line["role wg[2] warps 4 regs 232"], "expected 'role wg[2] warps 4 regs 232', as attn-tune writes"),
                ("chan k =", "chan x =", head, "expected 'chan k = k in smem depth NUMBER' in 'fwd_d96', got none"),
                ("hold s = s", "hold t = s", line["hold s = s in reg depth 1"], "expected 'hold s = s in reg depth 1', as attn-tune"),
                ("exp2_soft 0 of 1", "exp2_soft 1 of 0", line["knob exp2_soft 0 of 1"], "expected 'exp2_soft' to be a share as \"1/8\", got 1/0"),
                ("exp2_soft 0 of 1", "exp2_soft some", head, "expected 'knob exp2_soft SHARE' in 'fwd_d96', got none"),
                ("knob peel ", "knob peal ", head, "expected 'knob peel WORD' in 'fwd_d96', got none"),
                ("score mask", "mask score", FILE[:FILE.index("score mask")].count("\n") + 1, "expected 'kv { get(k) take(tc) + 1 qk "),
                ('machine "sm_90a"', 'machine "sm_1"', head, "expected a machine of sm_100a, sm_90a, got 'sm_1'"),
                ('machine "sm_90a"', "machine sm_90a", head, "expected 'machine \"WORD\"' in 'fwd_d96', got none")):
            with self.subTest(new=new):
                self.assertIn(old, ENTRY)
                self.assertTrue(self.refused(FILE.replace(old, new, 1)).startswith(f"t.mlir:{at}: {message}"),
                                self.refused(FILE.replace(old, new, 1)))

    def test_a_file_without_entries_is_refused(self):
        self.assertEqual(self.refused("// nothing\n"), "t.mlir:1: expected 'attn.table_entry', got none")
        self.assertEqual(self.refused("// nothing\nmodule\n"), "t.mlir:2: expected 'attn.table_entry', got 'module'")

    def test_what_stands_behind_an_entry_is_refused(self):
        last = FILE.rstrip().count("\n") + 1
        self.assertEqual(self.refused(FILE.rstrip() + "\nmore\n"),
                         f"t.mlir:{last + 1}: expected the end, as attn-tune writes 'fwd_d96', got 'more'")

    def test_lines_are_those_of_the_file_also_behind_comments(self):
        text = FILE.replace("  hold s = s", "// why\n  hold t = s")
        at = FILE[:FILE.index("  hold s = s")].count("\n") + 2
        self.assertTrue(self.refused(text).startswith(f"t.mlir:{at}: expected 'hold s = s"), self.refused(text))

    def broken(self):
        """Entries with a line left out or doubled, cut off, or with a word exchanged."""
        lines = ENTRY.splitlines(keepends=True)
        for at in range(len(lines)):
            yield "".join(lines[:at] + lines[at + 1:])
            yield "".join(lines[:at + 1] + lines[at:])
        for at in range(0, len(ENTRY), 7):
            yield ENTRY[:at]
        for found in re.finditer(r"\w+", ENTRY):
            for word in ("", "x", "0", "7", "9" * 5000, "\u0667"):
                yield ENTRY[:found.start()] + word + ENTRY[found.end():]

    def test_whatever_is_wrong_is_an_entry_error(self):
        refused = 0
        for text in self.broken():
            with self.subTest(text=text):
                try:
                    points_of(text)
                except EntryError as error:
                    refused += 1
                    self.assertRegex(str(error), r"^t\.mlir:[1-9]\d*: expected .*, got ")
        self.assertGreater(refused, 500)

    def test_a_change_that_no_point_has_is_refused(self):
        entry, = table.split(FILE, "t.mlir")
        for change, message in (({"tile_x": 64}, "expected a parameter of consumers, tile_n, .*, turn, got 'tile_x'"),
                                ({"tile_n": 7}, "expected 'tile_n' to be a multiple of 16 in 16..256, got 7"),
                                ({"overlap": "pv_frist"}, "expected 'overlap' to be .*\"pv_first\" or \"none\", got pv_frist"),
                                ({"exp2_soft": "1/0"}, "expected 'exp2_soft' to be a share as \"1/8\", got 1/0")):
            with self.subTest(change=change), self.assertRaisesRegex(ValueError, f"^{message}$"):
                entry.changed(change)

    def test_a_machine_with_too_few_registers_is_named(self):
        entry, = table.split(FILE, "t.mlir")
        entry.chip = machine.Machine("registers <total = 65536, lowest = 40, highest = 256, granule = 8>\nwarps <lanes = 32, group = 4, most = 32>")
        with self.assertRaisesRegex(EntryError, f"t.mlir:{FIRST_LINE}: expected a machine with registers for 7 consumers, got sm_90a"):
            self.assertIsNone(entry.changed({"consumers": 7, "load_registers": 256}))


if __name__ == "__main__":
    unittest.main()
