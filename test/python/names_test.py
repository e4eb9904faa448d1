# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code between kernels and targets names no step, value, argument or machine (docs/adr/0032),
and has no words of one chip (0031)."""

import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("dialect/lib", "passes/middle", "passes/schedule", "codegen/launch", "codegen/target", "codegen/emit", "codegen/driver")
# Code that reads launch plans identifies arguments by their roles.
READERS = ("runtime/lib", "jit/lib", "tools/attn-run")
# The only file that defines the names of arguments and sizes.
HOME = "passes/kernels/ArgumentNames.h"
# It writes schedules of the forward kernel, as the table's files do: they name steps and values.
GENERATOR = "passes/schedule/Generator/"
# Words that are a kernel's name by chance.
ALLOWED = {
    # A field of the plan's problem.
    ("codegen/emit/PlanWriter.cpp", "mask"),
    # A matrix operand's layout in PTX, and a 64-bit register of inline assembly.
    ("codegen/target/sm90/NvxToLLVM.cpp", "k"),
    ("codegen/target/common/InlineAsm.cpp", "l"),
    # A chip's own folder has its name.
    ("codegen/target/sm90/Sm90.h", "sm_90a"),
    # Words of the schedule's grammar.
    ("dialect/lib/ScheduleParse.cpp", "on"),
    ("dialect/lib/ScheduleParse.cpp", "of"),
    # attn.attention is what a forward kernel is made from: its operands, its regions, and their programs.
    ("dialect/lib/AttentionOp.cpp", "lse"),
    ("dialect/lib/AttentionRegions.cpp", "mask"),
    ("dialect/lib/AttentionRegions.cpp", "score"),
    ("dialect/lib/BackwardOps.cpp", "lse"),
    ("dialect/lib/BackwardOps.cpp", "lse2"),
    ("dialect/lib/BackwardOps.cpp", "dq"),
    ("dialect/lib/BackwardOps.cpp", "dk"),
    ("dialect/lib/AttentionOp.cpp", "dropout_rate"),
    ("dialect/lib/AttentionOp.cpp", "dropout_state"),
    ("dialect/lib/AttentionOp.cpp", "sinks"),
    ("dialect/lib/BackwardOps.cpp", "dv"),
    ("dialect/lib/BackwardOps.cpp", "mask"),
    ("dialect/lib/BackwardOps.cpp", "of"),
    ("dialect/lib/BackwardOps.cpp", "sums"),
    ("dialect/lib/BackwardOps.cpp", "seeing"),
    ("dialect/lib/BackwardOps.cpp", "score"),
    ("dialect/lib/LaunchOps.cpp", "mask"),
    ("dialect/lib/LaunchOps.cpp", "score"),
    # Words for roles, for positions in programs of regions, and of a JSON file.
    ("tools/attn-run/region.cpp", "b"),
    ("tools/attn-run/main.cpp", "scale"),
    ("dialect/lib/RegionProgram.cpp", "s"),
    ("dialect/lib/RegionProgram.cpp", "b"),
    ("dialect/lib/RegionProgram.cpp", "mask"),
    ("dialect/lib/RegionProgram.cpp", "score"),
}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"//[^\n]*")

# Code outside a chip's own folder mentions no chip, not even in comments.
COMMON = ("passes/middle", "codegen/launch", "codegen/target/common", "include/attn/passes/middle", "include/attn/codegen/launch")
CHIP = re.compile(r"wgmma|warpgroup|setmaxn?reg|stmatrix|swizzl|tcgen05|(?<![a-z])tmem|hopper|blackwell|sm_?[0-9]", re.I)
CHIP_ALLOWED = {
    ("codegen/launch/LaunchParams.cpp", '"swizzle"'),  # a word of tensor maps in launch plans
    ("include/attn/passes/middle/Passes.td", "wgmma_acc"),  # of an example
}


def names_of_kernels():
    """Steps and values of all kernels, from the files of passes/schedule/data."""
    names = set()
    for path in glob.glob(os.path.join(ROOT, "passes/schedule/data/values/*.mlir")):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"<[^>\n]*>", "", COMMENT.sub("", file.read()).split("{", 2)[-1])
        for line in re.findall(r"^  (?:carried|final|step) (.*)$", text, re.M):
            names.update(re.findall(r"\w+", line))
    return names


def names_of_arguments():
    """The kernels' names of arguments and sizes."""
    with open(os.path.join(ROOT, HOME), encoding="utf-8") as file:
        return set(re.findall(r'\w+ = "(\w+)"', COMMENT.sub("", file.read())))


def machines():
    return {os.path.basename(path).removesuffix(".mlir")
            for path in glob.glob(os.path.join(ROOT, "passes/schedule/data/machines/*.mlir"))}


def literals(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = COMMENT.sub("", line)
            if not line.lstrip().startswith("#include"):
                for literal in LITERAL.findall(line):
                    yield number, literal


def found_in(folders, names):
    """The literals that are one of the names, in C++ files below the folders."""
    found = []
    for folder in folders:
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]*"), recursive=True):
            relative = os.path.relpath(path, ROOT)
            found += [f"{relative}:{number}: {literal!r}" for number, literal in literals(path)
                      if literal in names and (relative, literal) not in ALLOWED and not relative.startswith(GENERATOR)]
    return found


class NamesTest(unittest.TestCase):
    def test_the_names_are_found(self):
        self.assertLessEqual({"qk", "pv", "cvt_o", "oe", "dsoft", "ld_ls", "next"}, names_of_kernels())
        self.assertIn("sm_90a", machines())
        self.assertEqual({"q", "k", "v", "scale", "o", "lse", "b", "sq", "sk", "hq", "hk", "d", "dv", "do", "dlse", "dl", "lse2", "sr", "sc", "dq", "dk", "dqs", "dropout_rate",
                          "dropout_state", "sinks", "dq_turns", "seeing"}, names_of_arguments())

    def test_no_literal_is_a_name(self):
        names = names_of_kernels() | names_of_arguments() | machines()
        self.assertEqual([], found_in(FOLDERS, names))

    def test_no_reader_of_plans_has_a_name(self):
        self.assertEqual([], found_in(READERS, names_of_arguments()))

    def test_words_of_one_chip_are_found(self):
        for word in ("NVVM::SetMaxRegisterOp", "// setmaxnreg", "kSwizzleBytes", "warpgroups", "Atom::WgmmaAcc", "sm_90a"):
            self.assertTrue(CHIP.search(word), word)
        for word in ("sm_count", "smem", "small"):
            self.assertFalse(CHIP.search(word), word)

    def test_what_chips_have_in_common_names_none(self):
        found = []
        for folder in COMMON:
            paths = glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True)
            self.assertTrue(paths, folder)
            for path in paths:
                relative = os.path.relpath(path, ROOT)
                with open(path, encoding="utf-8") as file:
                    found += [f"{relative}:{number}: {line.strip()}" for number, line in enumerate(file, 1)
                              if CHIP.search(line)
                              and not any(relative == allowed and word in line for allowed, word in CHIP_ALLOWED)]
        self.assertEqual([], found)


if __name__ == "__main__":
    unittest.main()
