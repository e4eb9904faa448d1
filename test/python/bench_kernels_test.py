# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Variants that are the table's kernel at a length are found by what was compiled."""

import json
import os
import struct
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import kernels
import make_ablations
from racing import points

SHORT, LONG = (points.Point("none", 128, seqlen) for seqlen in (512, 4096))


def function(name, body, place):
    return f".visible .entry {name}(\n\t.param .u32 {name}_param_0\n)\n{{\n$L__BB{place}_1:\n\t{body} {name}_smem;\n\tbra $L__BB{place}_1;\n}}\n"


def module(**bodies):
    """PTX of kernels by name."""
    head = "//\n.version 8.0\n" + "".join(f".extern .shared .align 1024 .b8 {name}_smem[];\n" for name in bodies)
    return head + "".join(f"\t// .globl {name}\n" + function(name, body, place) for place, (name, body) in enumerate(bodies.items()))


def variant(kernel, **more):
    return {"when": ["ge", 1024, "sk"], "schedule": "text of " + kernel, "report": {"when": kernel}, "workspace": 4,
            "launches": [{"kernel": kernel, "grid": ["sq"], **more}]}


ARGS = [{"name": role[0], "role": role} for role in ("query", "key", "value", "scale", "output", "lse")]


def bundle(*sections):
    """A bundle's bytes, of (kind, content)."""
    offset, table = kernels.HEADER.size + len(sections) * kernels.SECTION.size, b""
    for kind, content in sections:
        table += kernels.SECTION.pack(kind, 0, offset, len(content), 0)
        offset += len(content)
    return struct.pack("<8sIIQQ", b"ATTNBNDL", 1, len(sections), offset, 0) + table + b"".join(content for _, content in sections)


class Library:
    """Loads made up bundles: the first variant serves up to 1024 keys."""

    def load(self, path):
        with open(path + ".json", encoding="utf-8") as file:
            plan = json.load(file)
        last = len(plan["variants"]) - 1
        return types.SimpleNamespace(plan=plan, choose_variant=lambda args: 0 if args.tensors[1][0].shape[1] <= 1024 else last)


class Kernels(unittest.TestCase):
    def setUp(self):
        self.temp = self.enterContext(tempfile.TemporaryDirectory())

    def kernels(self, name, variants, **bodies):
        path = os.path.join(self.temp, name)
        with open(path, "wb") as file:
            file.write(bundle((1, b"{}"), (kernels.PTX, module(**bodies).encode()), (3, b"\0")))
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump({"args": ARGS, "variants": variants}, file)
        return kernels.Kernels(Library(), path)

    def test_each_length_is_compared_by_itself(self):
        table = self.kernels("table", [variant("k"), variant("k_1")], k="add", k_1="mul")
        other = self.kernels("other", [variant("k"), variant("k_1")], k="sub", k_1="mul")
        self.assertNotEqual(table.at(SHORT), other.at(SHORT))
        self.assertEqual(table.at(LONG), other.at(LONG))

    def test_names_and_places_in_the_module_do_not_matter(self):
        table = self.kernels("table", [variant("k"), variant("k_1")], k="add", k_1="mul")
        alone = self.kernels("alone", [variant("k")], k="mul")
        self.assertEqual(table.at(LONG), alone.at(LONG))
        self.assertNotEqual(table.at(SHORT), alone.at(SHORT))
        self.assertIn("mul kernel_smem", alone.at(LONG)[1][0])
        self.assertEqual(table.at(LONG)[1][0].count(".entry"), 1)

    def test_launches_are_compared_too(self):
        table = self.kernels("table", [variant("k")], k="add")
        for change in ({"grid": ["sk"]}, {"dependent": 1}, {"smem": 8}):
            with self.subTest(change=change):
                self.assertNotEqual(table.at(LONG), self.kernels("other", [variant("k", **change)], k="add").at(LONG))

    def test_a_bundle_without_ptx_is_named(self):
        path = os.path.join(self.temp, "bare")
        with open(path, "wb") as file:
            file.write(bundle((1, b"{}"), (3, b"\0")))
        with self.assertRaisesRegex(ValueError, "bare: expected a bundle with PTX, got one without"):
            kernels.ptx_of(path)


class Made(unittest.TestCase):
    """What make_ablations.py keeps."""

    def setUp(self):
        self.temp = self.enterContext(tempfile.TemporaryDirectory())
        self.sameness = types.SimpleNamespace(seqlens=[512, 4096], compare=lambda problem, name: self.lengths)

    def make(self, name, refusal=None, reason=None):
        path = os.path.join(self.temp, name)

        def compile_it(name, text):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return refusal
        problem = types.SimpleNamespace(compile=compile_it, bundle=lambda name: path)
        return make_ablations.make(problem, name, "text", reason, self.sameness), os.path.exists(path)

    def test_what_is_the_table_at_every_length_is_not(self):
        self.lengths = [512, 4096]
        self.assertEqual(self.make("x"), (("the same kernels as the table's", False), False))
        self.assertEqual(self.make("table"), (("compiled", True), True))

    def test_what_is_it_at_some_is_and_they_are_said(self):
        self.lengths = [512]
        self.assertEqual(self.make("x"), (("compiled; the same kernel as the table's at 512", True), True))
        self.lengths = []
        self.assertEqual(self.make("x"), (("compiled", True), True))

    def test_what_is_refused_leaves_no_earlier_bundle(self):
        self.lengths = []
        for refused in ({"refusal": "V11"}, {"reason": "V11"}):
            with self.subTest(refused):
                self.assertEqual(self.make("x"), (("compiled", True), True))
                self.assertEqual(self.make("x", **refused), (("V11", False), False))

    def test_without_a_file_nothing_is_the_same(self):
        self.assertEqual(kernels.read_same(os.path.join(self.temp, kernels.SAME)), {})

    def test_the_file_has_what_was_found_last(self):
        class Always:
            def __init__(self, library, path):
                self.name = os.path.basename(path)

            def at(self, point):
                return point.seqlen > same_above or self.name
        problem = types.SimpleNamespace(point=SHORT, bundle=lambda name: name)
        sameness = make_ablations.Sameness.__new__(make_ablations.Sameness)
        sameness.runtime, sameness.seqlens, sameness.heads, sameness.found = None, [512, 4096], None, {}
        sameness.path = os.path.join(self.temp, kernels.SAME)
        with mock.patch.object(kernels, "Kernels", Always):
            for same_above, lengths, found in ((1024, [4096], {"x": [4096]}), (8192, [], {}), (0, [512, 4096], {"x": [512, 4096]})):
                with self.subTest(same_above=same_above):
                    self.assertEqual(sameness.compare(problem, "x"), lengths)
                    sameness.write()
                    self.assertEqual(kernels.read_same(sameness.path), {"fwd bf16 none d128": found})


if __name__ == "__main__":
    unittest.main()
