#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles variants of the schedule table's kernels, each with one choice changed, for attention.py --matrix:
OUT/NAME/fwd_d128_none.attn and so on, and the unchanged kernels as OUT/table/... The changes are in ablations.json:
values of the parameters that attn-tune has for a schedule (docs/tuning.md), or "conditions": false, which uses only
the last entry, for all lengths. If there are several entries for different lengths, those that have the change
already, and those with which it is illegal, stay as they are. A variant in which nothing changes, or which does not
compile, is left out, with the reason. So is a variant with the same schedules as an earlier one, and one that is the
table's kernel at all --seqlens, by its PTX and its launch. If it is the table's kernel at some lengths, OUT/same.json
lists them, and attention.py races it at the others. Variants for a group of heads are compiled with --heads, the
others without."""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

from paths import ROOT
import diagnostics
from racing import libattn, points

import kernels
import make_bundles

TABLE = "table"
ABLATIONS = os.path.join(ROOT, "bench", "ablations.json")


def read_ablations():
    with open(ABLATIONS, encoding="utf-8") as file:
        return json.load(file)


def text_of(entries):
    return "\n".join(each.changed({}) for each in entries)


def change(entries, ablation, refusal_of):
    """(text, reason): the entries with a change, or why there is no such variant."""
    kept = entries if ablation.get("conditions", True) else [e for e in entries if not e.condition]
    texts, reason = [], "nothing to change"
    for each in kept:
        refused = refusal_of(each.changed(ablation["change"], conditional=False))
        reason = refused or reason
        texts.append(each.changed({} if refused else ablation["change"]))
    text = "\n".join(texts)
    return (None, reason) if text == text_of(entries) else (text, None)


class Problem:
    """Compiles one problem under different schedules."""

    def __init__(self, args, point, temp):
        self.args, self.point, self.stem, self.temp = args, point, make_bundles.stem(point), temp
        self.path = self.write("source", make_bundles.source(point))
        self.entries = make_bundles.entries_of(point, args.target, args.compiler)

    def write(self, name, text):
        path = os.path.join(self.temp, f"{self.stem}_{name}.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def refusal(self, schedule, output=None):
        """Why a schedule is illegal, or with an output why its kernels do not compile."""
        command = [self.args.compiler, self.path, f"--target={self.args.target}", f"--schedule={self.write('schedule', schedule)}"]
        command += ["-o", output] if output else ["--emit=schedule", "-o", os.path.join(self.temp, "legal.mlir")]
        done = subprocess.run([*command, "--json-diagnostics"], capture_output=True, text=True)
        return None if done.returncode == 0 else diagnostics.reason_of(done.stderr)["text"]

    def variants(self, ablations):
        """(name, text, the reason if there is no text) of the table's entries and of each change."""
        yield TABLE, text_of(self.entries), None
        first = {}  # who has a text
        for ablation in ablations:
            name = ablation["name"]
            text, reason = change(self.entries, ablation, self.refusal)
            if text and first.setdefault(text, name) != name:
                text, reason = None, f"the same schedules as those of '{first[text]}'"
            yield name, text, reason

    def bundle(self, name):
        return os.path.join(self.args.out, name, self.stem + ".attn")

    def compile(self, name, text):
        """Writes one variant; returns why there is none, or None."""
        os.makedirs(os.path.dirname(self.bundle(name)), exist_ok=True)
        return self.refusal(text, self.bundle(name))


class Sameness:
    """Finds the lengths at which a variant is the table's kernel, for the file SAME."""

    def __init__(self, args):
        self.runtime, self.seqlens, self.heads = libattn.Library(args.lib), args.seqlens, args.heads
        self.path = os.path.join(args.out, kernels.SAME)
        self.found = kernels.read_same(self.path)

    def compare(self, problem, name):
        """Notes and returns the lengths."""
        p = problem.point
        there = [points.Point(p.mask, p.d, seqlen, p.dv, p.dtype, self.heads) for seqlen in self.seqlens]
        table, variant = (kernels.Kernels(self.runtime, problem.bundle(each)) for each in (TABLE, name))
        lengths = [point.seqlen for point in there if table.at(point) == variant.at(point)]
        of_family = self.found.setdefault(points.describe_family(there[0].family), {})
        of_family.pop(name, None)
        if lengths:
            of_family[name] = lengths
        return lengths

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.found, file, indent=1)
            file.write("\n")


def make(problem, name, text, reason, sameness):
    """Writes one variant of a problem, or removes the files of an earlier one if there is no such variant; returns
    the outcome, and whether there is a bundle. `reason`: why there is none, if that is known already."""
    refused = reason or problem.compile(name, text)
    lengths = [] if refused or name == TABLE else sameness.compare(problem, name)
    same = lengths == sameness.seqlens
    if refused or same:
        with contextlib.suppress(FileNotFoundError):
            os.remove(problem.bundle(name))
        return refused or "the same kernels as the table's", False
    return "compiled" + (f"; the same kernel as the table's at {', '.join(map(str, lengths))}" if lengths else ""), True


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="folder to write the folders of bundles into")
    parser.add_argument("--heads", type=points.pair, help="the changes for a group of heads of Q and of K and V, as 32/8")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only these changes")
    parser.add_argument("--seqlens", type=lambda text: [int(each) for each in text.split(",")], default=list(points.GRIDS["paper"]),
                        help="the lengths that will be raced (default: all of the grid)")
    parser.add_argument("--lib", default=os.path.join(ROOT, "build", "lib", "libattn_runtime.so"), help="libattn_runtime.so")
    make_bundles.add_problems(parser, "64,128,256,192/128")
    return parser.parse_args()


def main():
    args = parse_arguments()
    ablations = [row for row in read_ablations()
                 if tuple(row.get("heads", ())) == (args.heads or ()) and args.only.search(row["name"])]
    made, sameness = 0, Sameness(args)
    with tempfile.TemporaryDirectory() as temp:
        for point in make_bundles.problems(args):
            problem = Problem(args, point, temp)
            for name, text, reason in problem.variants(ablations):
                said, there = make(problem, name, text, reason, sameness)
                print(f"{problem.stem}, {name}: {said}", flush=True)
                if name == TABLE and not there:
                    break  # There is nothing to hold the others against.
                made += there
                sameness.write()
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
