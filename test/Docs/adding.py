# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each hunk that docs/adding.md shows is in its file as the change left it, so that it can be
taken back and made again, and the IR there is valid: adding.py ROOT ATTN_OPT"""

import os
import re
import subprocess
import sys


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def misplaced(root, diff):
    """The hunks of a change that do not stand once in its file, as they left it."""
    with open(os.path.join(root, re.search(r"^\+\+\+ b/(.*)$", diff, re.M)[1]), encoding="utf-8") as file:
        text = "\n" + file.read()
    hunks = re.split(r"^@@.*\n", diff, flags=re.M)[1:]
    after = ["".join("\n" + line[1:] for line in hunk.splitlines() if line[0] != "-") + "\n" for hunk in hunks]
    errors = [hunk for hunk, lines in zip(hunks, after) if "\n+" not in "\n" + hunk or text.count(lines) != 1]
    return errors if hunks else ["no hunk\n"]


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
