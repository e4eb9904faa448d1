# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every row of the table of published faults in docs/simulator.md names a litmus kernel, and the rule that
this one has to be reported under.

usage: faults.py --root=ROOT --page=PAGE"""

import argparse
import os
import re
import sys


def rows_of(page):
    """The cells of the table's rows, without its head."""
    table = re.search(r"<!-- published faults -->\n(.*?)<!-- end of published faults -->", page, re.DOTALL).group(1)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def problem(root, row):
    test, rule = (cell.strip("`") for cell in row[2:])
    path = os.path.join(root, "test", "sim", "litmus", test + ".ptx")
    if not os.path.isfile(path):
        return f"{row[0]}: expected a litmus kernel, got '{test}'"
    with open(path, encoding="utf-8") as file:
        found = re.search(r"^// expect: (\S+)", file.read(), re.MULTILINE).group(1)
    return "" if found == rule else f"{test}: expected rule '{found}', got '{rule}'"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--page", required=True)
    args = parser.parse_args()
    with open(args.page, encoding="utf-8") as file:
        rows = rows_of(file.read())
    found = [text for text in (problem(args.root, row) for row in rows) if text]
    print("\n".join(found + [f"{len(rows)} faults, {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
