#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds docs/knobs.md to the tests that it names: they exist, have the text of the knob,
and run the simulator. And each schedule of test/Schedules is named there."""

import argparse
import os
import re

RUNS_SIMULATOR = ("%attn-sim", "attn-run", "--runner")


def rows_of(page):
    """(knob, texts, paths) of each row of the tables that name tests."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[-1].startswith("test/"):
            texts = [text.replace("\\|", "|") for text in re.findall("`([^`]+)`", cells[-2])]
            yield " ".join(cells[:-2]), texts, cells[-1].split()


def problems_of(root, knob, texts, paths):
    """What is wrong with one row."""
    missing = [path for path in paths if not os.path.isfile(os.path.join(root, path))]
    if missing:
        return [f"{knob}: expected files that exist, got {missing}"]
    contents = []
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            contents.append(file.read())
    found = [f"{knob}: expected '{text}' in {' or '.join(paths)}" for text in texts
             if not any(text in content for content in contents)]
    if not any(word in content for content in contents for word in RUNS_SIMULATOR):
        found.append(f"{knob}: expected one of {' and '.join(paths)} to run the simulator")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--page", required=True)
    args = parser.parse_args()
    with open(args.page, encoding="utf-8") as file:
        rows = list(rows_of(file.read()))
    problems = [problem for row in rows for problem in problems_of(args.root, *row)]
    named = {path for _, _, paths in rows for path in paths}
    folder = os.path.join("test", "Schedules")
    for name in sorted(os.listdir(os.path.join(args.root, folder))):
        path = os.path.join(folder, name)
        if name.endswith(".mlir") and path not in named:
            problems.append(f"{path}: expected it in a row of the page")
    print(*problems, sep="\n")
    print(f"{len(rows)} rows, {len(problems)} problems")


if __name__ == "__main__":
    main()
