#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether PTX files, and what the simulator's printer makes of them, assemble
to the same machine code.

usage: ptx_round_trip.py ATTN-SIM-PROBE PTXAS FOLDER"""

import glob
import os
import re
import subprocess
import sys


def assemble(ptxas, path, target):
    """The machine code; files are called alike, for names get into it."""
    subprocess.run([ptxas, f"-arch={target}", "in.ptx", "-o", "out.cubin"], check=True, cwd=path,
                   stderr=subprocess.DEVNULL)
    with open(os.path.join(path, "out.cubin"), "rb") as file:
        return file.read()


def is_kept(probe, ptxas, path, scratch):
    codes = []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    printed = subprocess.run([probe, "--print"], input=text, stdout=subprocess.PIPE, check=True,
                             universal_newlines=True).stdout
    for version in (text, printed):
        with open(os.path.join(scratch, "in.ptx"), "w", encoding="utf-8") as file:
            file.write(version)
        codes.append(assemble(ptxas, scratch, re.search(r"^\.target (\w+)", text, re.M)[1]))
    return codes[0] == codes[1]


def main():
    probe, ptxas, folder = sys.argv[1:]
    scratch = os.path.join(folder, "scratch")
    os.makedirs(scratch, exist_ok=True)
    paths = sorted(glob.glob(os.path.join(folder, "*.ptx")))
    lost = [path for path in paths if not is_kept(os.path.abspath(probe), ptxas, path, scratch)]
    for path in lost:
        print(f"{path}: other machine code")
    print(f"{len(paths) - len(lost)} files give the same machine code, {len(lost)} do not")
    return 1 if lost or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
