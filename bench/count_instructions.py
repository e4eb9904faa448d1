#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the instructions of the table's kernels, for report.py --loops: what a warp
issues for one tile of keys in the loop without masks. Reads machine code as NVIDIA's
nvdisasm prints it. A block that the loop only enters on demand (O is rescaled, the
sums are looked at) is not counted."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401 (finds racing)
from racing import points

import make_bundles

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(.*?);")
LABEL = re.compile(r"^(\.L_x_\d+):")
BRANCH = re.compile(r"^(@!?U?P\d+ )?BRA `\((\.L_x_\d+)\)")


def functions(text):
    """{name: lines} of a disassembly."""
    parts = re.split(r"^//-+ \.text\.(\S+)\s+-+$", text, flags=re.M)
    return dict(zip(parts[1::2], (part.splitlines() for part in parts[2::2])))


def statements(lines):
    """Labels and instructions, in order."""
    for line in lines:
        label, instruction = LABEL.match(line), INSTRUCTION.match(line)
        if label:
            yield label.group(1) + ":"
        elif instruction:
            yield instruction.group(1).strip()


def loops(code):
    """The bodies between a label and a conditional branch back to it. (Retries of waits, at the
    function's end, branch back without a condition.)"""
    place = {text[:-1]: i for i, text in enumerate(code) if text.endswith(":")}
    for end, text in enumerate(code):
        branch = BRANCH.match(text)
        if branch and branch.group(1) and place.get(branch.group(2), end) < end:
            yield code[place[branch.group(2)]:end + 1]


def executed(body):
    """The instructions of a loop that always run: forward branches within the loop skip the
    rest."""
    place = {text[:-1]: i for i, text in enumerate(body) if text.endswith(":")}
    at, taken = 0, []
    while at < len(body):
        text = body[at]
        if not text.endswith(":"):
            taken.append(text)
        branch = BRANCH.match(text)
        at = place[branch.group(2)] if branch and place.get(branch.group(2), 0) > at else at + 1
    return taken


def opcode(text):
    return re.sub(r"^@!?U?P\d+ ", "", text).split()[0]


def count(lines):
    """The steady loop is the last that ends two groups of products: those with masks
    come first."""
    code = list(statements(lines))
    both = [body for body in loops(code) if sum(text.startswith("HGMMA") and "gsb0" in text for text in body) == 2]
    if not both:
        raise ValueError("expected a loop with two products")
    taken = [opcode(text) for text in executed(both[-1])]
    return {"instructions": len(taken), "exponentials": sum(name.startswith("MUFU.EX2") for name in taken)}


def describe_entry(entry):
    point = entry.point
    return {"keys_at_most": entry.keys_at_most or 0, "tile_m": entry.rows, "tile_n": point["tile_n"],
            "cluster": point["cluster"], "skips": point["skip"] != "none"}


def kernels_of(args, point, temp):
    entries, stem = make_bundles.entries_of(point, args.target, args.compiler), make_bundles.stem(point)
    source, cubin = os.path.join(temp, stem + ".mlir"), os.path.join(temp, stem + ".cubin")
    with open(source, "w", encoding="utf-8") as file:
        file.write(make_bundles.source(point))
    subprocess.run([args.compiler, source, f"--target={args.target}", "--emit=cubin", "-o", cubin], check=True)
    listing = subprocess.run([args.nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    found = functions(listing)
    names = [stem] + [f"{stem}_{i}" for i in range(1, len(entries))]
    return [{**describe_entry(entry), **count(found[name])} for entry, name in zip(entries, names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="the file to write")
    make_bundles.add_problems(parser, "64,128,256,192/128")
    parser.add_argument("--nvdisasm", default="nvdisasm", help="NVIDIA's disassembler")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        counts = {points.describe_family(point.family): kernels_of(args, point, temp) for point in make_bundles.problems(args)}
    with open(args.out, "w", encoding="utf-8") as file:
        json.dump(counts, file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
