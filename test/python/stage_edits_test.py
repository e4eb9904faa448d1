# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An edit of a knob in a stage of attn-compile is refused, or has the effect that it has
when the kernel is compiled from the start with it."""

import functools
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test", "Inputs"), os.path.join(ROOT, "tools", "python")]
import attention_ir
import schedules

GENERATOR = schedules.of()
MACHINE, HEAD_DIMS = "sm_90a", (64, 64)
SOURCE = attention_ir.write(attention_ir.parse(["--head-dim=64", "--mask=causal_bottom_right"]))
STAGES = ("attn", "tile", "schedule", "ws")
CONFIG = re.compile(r"config <(.*?)>", re.S)
SCHEDULE = re.compile(r"schedule <.*?\n? *}>", re.S)


@functools.lru_cache(maxsize=None)
def compiled(text, stage, entry=None):
    """The IR of a stage, or the compiler's errors; and whether it compiled."""
    command = [schedules.beside("bin", "attn-compile"), "-", f"--target={MACHINE}", f"--emit={stage}", "-o", "-"]
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        if entry:
            file.write(entry)
            file.flush()
            command.append(f"--schedule={file.name}")
        done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.returncode == 0, done.stdout or done.stderr


def entry_of(point):
    return GENERATOR.schedule(MACHINE, HEAD_DIMS, point, symbol="edited").get("entry")


def with_text_of(entry, text):
    """The program with the config and the schedule of an entry."""
    for attribute in (CONFIG, SCHEDULE):
        new = attribute.search(entry)[0]
        text = attribute.sub(lambda _, new=new: new, text)
    return text


def changes():
    """(knob, entry, entry with another value of the knob), for each parameter of schedules."""
    for name, parameter in GENERATOR.parameters.items():
        point = GENERATOR.needs(name)
        before = entry_of(point)
        for value in parameter.others():
            after = entry_of({**point, name: value})
            if before and after and before != after:
                yield f"{name}={value}", before, after


class StageEdits(unittest.TestCase):
    def test_an_edit_of_a_parameter_is_refused_or_honored(self):
        seen, honored = set(), set()
        for name, before, after in changes():
            wanted = compiled(SOURCE, "llvm", after)
            for stage in STAGES:
                compiles, printed = compiled(SOURCE, stage, before)
                self.assertTrue(compiles, printed)
                is_scheduled = bool(SCHEDULE.search(printed))
                succeeds, got = compiled(with_text_of(after, printed), "llvm", None if is_scheduled else after)
                seen.add(name.partition("=")[0])
                with self.subTest(knob=name, stage=stage):
                    if succeeds:
                        honored.add((name.partition("=")[0], stage))
                        self.assertTrue(wanted[0], wanted[1])
                        self.assertEqual(got, wanted[1])
                    else:
                        self.assertIn("error: ", got)
        self.assertEqual(seen, set(GENERATOR.parameters))
        # Some edits are honored: each in the stages before the pass that uses it.
        self.assertIn(("row_max", "attn"), honored)
        self.assertIn(("k_depth", "schedule"), honored)
        self.assertIn(("order", "ws"), honored)

    def test_an_edit_of_another_field_is_refused_or_honored(self):
        """For fields that are no parameters of schedules, such as tile_m."""
        entry = entry_of({})
        _, last = compiled(SOURCE, "ws", entry)
        consumed = re.search(r"attn\.consumed = \{(.*?)\}", last)[1]
        fields = {name: int(value) for name, value in re.findall(r'(\w+) = "(\d+)"', consumed) if name not in GENERATOR.parameters}
        self.assertLessEqual({"tile_m", "tile_d", "tile_dv", "rung", "cta_group"}, set(fields))
        for name, value in fields.items():
            for other in (value + 1, value + 16, value + 64):
                results = []
                for stage in STAGES:
                    _, printed = compiled(SOURCE, stage, entry)
                    config = re.sub(rf"\b{name} = \d+, ", "", CONFIG.search(printed)[0]).replace("config <", f"config <{name} = {other}, ")
                    is_scheduled = bool(SCHEDULE.search(printed))
                    results.append(compiled(CONFIG.sub(lambda _, new=config: new, printed), "llvm", None if is_scheduled else entry))
                for stage, (succeeds, got) in zip(STAGES, results):
                    with self.subTest(field=name, value=other, stage=stage):
                        if succeeds:
                            self.assertEqual((True, got), results[0])

    def test_the_error_names_the_stage_to_edit(self):
        _, printed = compiled(SOURCE, "schedule", entry_of({"work": "dynamic"}))
        succeeds, errors = compiled(printed.replace("rescale_threshold = 8", "rescale_threshold = 2"), "llvm")
        self.assertFalse(succeeds)
        self.assertIn("expected 'rescale_threshold' of its 'config' to be 8, with which attn-fuse-online-softmax made the kernel, "
                      "got 2; edit it at --emit=attn, or in an entry for --schedule", errors)


if __name__ == "__main__":
    unittest.main()
