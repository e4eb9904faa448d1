# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The changes that docs/adding.md shows are in the files that they changed, and the IR there
is valid: adding.py ROOT ATTN_OPT"""

import os
import re
import subprocess
import sys


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def missing(root, diff):
    """The runs of added lines in a change that its file does not have."""
    with open(os.path.join(root, re.search(r"^\+\+\+ b/(.*)$", diff, re.M)[1]), encoding="utf-8") as file:
        text = file.read()
    added = re.findall(r"(?:^\+(?!\+\+ ).*\n)+", diff, re.M)
    return [run for run in added if re.sub(r"^\+", "", run, flags=re.M) not in text] if added else ["nothing is added\n"]


def main(root, attn_opt):
    with open(os.path.join(root, "docs", "adding.md"), encoding="utf-8") as file:
        page = file.read()
    changes, programs = blocks(page, "diff"), blocks(page, "mlir")
    errors = [run for change in changes for run in missing(root, change)]
    for program in programs:
        done = subprocess.run([attn_opt, "-", "-o", os.devnull], input=program, stderr=subprocess.PIPE, universal_newlines=True)
        errors += [done.stderr] if done.returncode else []
    print("".join(errors) + f"{len(changes)} changes, {len(programs)} programs, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
