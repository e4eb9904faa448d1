# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every row of docs/pitfalls.md names files that exist, and tests that these files have.

usage: pitfalls.py --root=ROOT --page=PAGE"""

import argparse
import os
import re
import sys


def problems(root, row):
    pitfall, _, tests = row
    for entry in tests.split(";"):
        names = re.findall(r"`([^`]+)`", entry)
        path = os.path.join(root, names[0]) if names else root
        if not os.path.isfile(path):
            yield f"{pitfall}: expected a file, got '{entry.strip()}'"
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name in names[1:]:
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                yield f"{pitfall}: expected '{name}' in {names[0]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--page", required=True)
    args = parser.parse_args()
    with open(args.page, encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in file if line.startswith("|")]
    rows = [row for row in rows if row[0] != "Pitfall" and not row[0].startswith("---")]
    found = [text for row in rows for text in problems(args.root, row)]
    print("\n".join(found + [f"{len(rows)} pitfalls, {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
