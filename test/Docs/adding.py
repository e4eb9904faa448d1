# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lines that a hunk of docs/adding.md adds stand in its file, and the hunk's other lines before
and after them, where a later change may have put its own between; the IR there is valid:
adding.py ROOT ATTN_OPT"""

import itertools
import os
import re
import subprocess
import sys


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def stands(hunk, text):
    """Whether the hunk's runs of added lines, and the lines around them, follow one another in the text."""
    lines = [line for line in hunk.splitlines() if line[0] != "-"]
    runs = [(sign, "".join("\n" + line[1:] for line in run).rstrip()) for sign, run in itertools.groupby(lines, key=lambda line: line[0])]
    added = [run for sign, run in runs if sign == "+" and run]
    in_order = re.search(".*".join(re.escape(run) + "(?=\n)" for _, run in runs), text, re.S)
    return bool(added and in_order and all(text.count(run + "\n") == 1 for run in added))


def misplaced(root, diff):
    """The hunks of a change that do not stand in its file."""
    with open(os.path.join(root, re.search(r"^\+\+\+ b/(.*)$", diff, re.M)[1]), encoding="utf-8") as file:
        text = "\n" + file.read()
    hunks = re.split(r"^@@.*\n", diff, flags=re.M)[1:]
    return [hunk for hunk in hunks if not stands(hunk, text)] if hunks else ["no hunk\n"]


def main(root, attn_opt):
    with open(os.path.join(root, "docs", "adding.md"), encoding="utf-8") as file:
        page = file.read()
    changes, programs = blocks(page, "diff"), blocks(page, "mlir")
    errors = [run for change in changes for run in misplaced(root, change)]
    for program in programs:
        done = subprocess.run([attn_opt, "-", "-o", os.devnull], input=program, stderr=subprocess.PIPE, universal_newlines=True)
        errors += [done.stderr] if done.returncode else []
    print("".join(errors) + f"{len(changes)} changes, {len(programs)} programs, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
