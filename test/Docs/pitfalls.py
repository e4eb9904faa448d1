# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every row of docs/pitfalls.md names files that exist, and tests that their runner finds there.

usage: pitfalls.py --root=ROOT --page=PAGE"""

import argparse
import ast
import os
import re
import sys


def tests_in(path):
    """Returns the names of the tests that a runner finds in `path`, or of the programs that a lit test runs."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".py"):
        return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    if path.endswith(".cpp"):
        return set(re.findall(r"^TEST(?:_F|_P)?\(\w+, (\w+)\)", text, re.MULTILINE))
    commands = " ".join(re.findall(r"RUN:(.*)", text))
    return {word.removeprefix("%attn_root/") for word in commands.split()}


def problems(root, row):
    pitfall, _, tests = row
    for entry in tests.split(";"):
        names = re.findall(r"`([^`]+)`", entry)
        path = os.path.join(root, names[0]) if names else root
        if not os.path.isfile(path):
            yield f"{pitfall}: expected a file, got '{entry.strip()}'"
            continue
        found = tests_in(path)
        for name in names[1:]:
            if name not in found:
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
