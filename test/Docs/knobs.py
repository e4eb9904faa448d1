#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the tests that docs/knobs.md names: they exist, and the compiler reads the value of
the row from a schedule among them. Each schedule of test/Schedules is in a row."""

import argparse
import functools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
import schedules


def rows_of(page):
    """(knob or "", values, texts, paths) of each row of the tables that name tests."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[-1].startswith("test/"):
            values, texts = ([text.replace("\\|", "|") for text in re.findall("`([^`]+)`", cell)] for cell in (cells[1], cells[-2]))
            yield cells[0].strip("`") if len(cells) == 4 else "", values, texts, cells[-1].split()


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def entries_of(root, path):
    return schedules.of().ask("entries", file=os.path.join(root, path))["entries"]


def spelled(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def properties_of(entry, knob):
    """The properties of an entry that a row may state: the value of its knob, or its head dims and its condition."""
    if knob:
        return {spelled(entry.get("parameters", {}).get(knob))}
    return {"head_dim {}, {}".format(*entry["head_dims"]), f"when <{entry.get('when')}>"}


def problems_of(root, knob, values, texts, paths):
    """What is wrong with one row."""
    missing = [path for path in paths if not os.path.isfile(os.path.join(root, path))]
    if missing:
        return [f"{knob}: expected files that exist, got {missing}"]
    entries = [entry for path in paths if path.endswith(".mlir") for entry in entries_of(root, path)]
    found = set().union(*(properties_of(entry, knob) for entry in entries))
    contents = [read(root, path) for path in paths]
    where = " or ".join(paths)
    return ([f"{knob}: expected '{value}' in {where}, got {', '.join(sorted(found)) or 'no schedule'}" for value in values if value not in found]
            + [f"{knob}: expected '{text}' in {where}" for text in texts if not any(text in content for content in contents)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--page", required=True)
    args = parser.parse_args()
    rows = list(rows_of(read(args.page)))
    problems = [problem for row in rows for problem in problems_of(args.root, *row)]
    named = {path for *_, paths in rows for path in paths}
    folder = os.path.join("test", "Schedules")
    for name in sorted(os.listdir(os.path.join(args.root, folder))):
        path = os.path.join(folder, name)
        if name.endswith(".mlir") and path not in named:
            problems.append(f"{path}: expected it in a row of the page")
    print(*problems, sep="\n")
    print(f"{len(rows)} rows, {len(problems)} problems")


if __name__ == "__main__":
    main()
