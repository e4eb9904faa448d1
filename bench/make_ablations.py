#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the schedule table's kernels with one choice changed each, for
attention.py --matrix: OUT/NAME/fwd_d128_none.attn and so on, and OUT/table/... as the
table has them. What is changed is in ablations.json: values of the parameters that
attn-tune has for a schedule (docs/tuning.md), or "conditions": false for the last
entry alone, whatever the lengths. Of several entries for different lengths, those
that have it already or with which it is illegal stay as they are; where that leaves nothing,
or where the kernels do not compile, the variant is left out, and the reason said. Those
that are for a group of heads are compiled with --heads, the others without."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import make_bundles
import points

ABLATIONS = os.path.join(make_bundles.ROOT, "bench", "ablations.json")


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
        self.args, self.stem, self.temp = args, make_bundles.stem(point), temp
        self.path = self.write("source", make_bundles.source(point))
        self.entries = make_bundles.entries_of(point)

    def write(self, name, text):
        path = os.path.join(self.temp, f"{self.stem}_{name}.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def refusal(self, schedule, output=None):
        """Why a schedule is illegal, or with an output why its kernels do not compile."""
        command = [self.args.compiler, self.path, f"--target={self.args.target}", f"--schedule={self.write('schedule', schedule)}"]
        command += ["-o", output] if output else ["--emit=schedule", "-o", os.path.join(self.temp, "legal.mlir")]
        done = subprocess.run(command, capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr.strip().splitlines()[0].partition("error: ")[2]

    def variants(self, ablations):
        """(name, text, why there is none) of the table's entries and of each change."""
        yield "table", text_of(self.entries), None
        for ablation in ablations:
            yield ablation["name"], *change(self.entries, ablation, self.refusal)

    def compile(self, name, text):
        """Writes one variant; returns why there is none, or None."""
        folder = os.path.join(self.args.out, name)
        os.makedirs(folder, exist_ok=True)
        return self.refusal(text, os.path.join(folder, self.stem + ".attn"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="folder to write the folders of bundles into")
    parser.add_argument("--heads", type=points.pair, help="the changes for a group of heads of Q and of K and V, as 32/8")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only these changes")
    make_bundles.add_problems(parser, "64,128,256,192/128")
    args = parser.parse_args()
    ablations = [row for row in read_ablations()
                 if tuple(row.get("heads", ())) == (args.heads or ()) and args.only.search(row["name"])]
    made = 0
    with tempfile.TemporaryDirectory() as temp:
        for point in make_bundles.problems(args):
            problem = Problem(args, point, temp)
            for name, text, reason in problem.variants(ablations):
                reason = reason or problem.compile(name, text)
                print(f"{problem.stem}, {name}: {reason or 'compiled'}", flush=True)
                made += reason is None
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
