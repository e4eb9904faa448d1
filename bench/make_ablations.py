#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the schedule table's kernels with one choice changed each, for
attention.py --matrix: OUT/NAME/fwd_d128_none.attn and so on, and OUT/table/... as the
table has them. What is changed is in ablations.json, as edits of the table's text. A
change that the table's schedules have no place for, or that the compiler refuses, is
said and left out."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import make_bundles

ROOT = make_bundles.ROOT
TABLE = os.path.join(ROOT, "codegen", "data", "schedules")


def table_file(point):
    return os.path.join(TABLE, f"fwd_d{point.d}{'' if point.d == point.dv else f'_dv{point.dv}'}.mlir")


def edited(text, edits):
    """The text with all edits, or None where one of them has nothing to change."""
    for pattern, replacement in edits:
        text, count = re.subn(pattern, replacement, text)
        if count == 0:
            return None
    return text


def entries_for(text, mask):
    """The entries that serve a mask; the last of a file serves all masks."""
    head, *entries = re.split(r"^(?=attn\.table_entry)", text, flags=re.M)
    served = [e for e in entries if f'"{make_bundles.MASKS[mask]}"' in e.split("config", 1)[0]]
    specific = [e for e in served if '"window"' not in e.split("config", 1)[0]]
    return "".join(specific or served[-1:])


def entries_of(point):
    """The entries that serve a problem, one by one."""
    with open(table_file(point), encoding="utf-8") as file:
        return re.split(r"^(?=attn\.table_entry)", entries_for(file.read(), point.mask), flags=re.M)[1:]


def compile_variant(args, point, name, schedule, temp):
    """Returns why it was refused, or None."""
    stem = make_bundles.stem(point)
    path = os.path.join(temp, stem + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(make_bundles.source(point))
    entry = os.path.join(temp, f"{stem}_{name}.mlir")
    with open(entry, "w", encoding="utf-8") as file:
        file.write(schedule)
    folder = os.path.join(args.out, name)
    os.makedirs(folder, exist_ok=True)
    command = [args.compiler, path, f"--target={args.target}", f"--schedule={entry}", "-o", os.path.join(folder, stem + ".attn")]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[0].partition("error: ")[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="folder to write the folders of bundles into")
    make_bundles.add_problems(parser, "64,128,256,192/128")
    args = parser.parse_args()
    with open(os.path.join(ROOT, "bench", "ablations.json"), encoding="utf-8") as file:
        ablations = [{"name": "table", "edits": []}, *json.load(file)]
    made = 0
    with tempfile.TemporaryDirectory() as temp:
        for point in make_bundles.problems(args):
            entries = "".join(entries_of(point))
            for ablation in ablations:
                text = edited(entries, ablation["edits"])
                reason = "nothing to change" if text is None else compile_variant(args, point, ablation["name"], text, temp)
                print(f"{make_bundles.stem(point)}, {ablation['name']}: {reason or 'compiled'}", flush=True)
                made += reason is None
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
