#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the bundles that attention.py loads, one a head dim and mask."""

import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MASKS = {"none": "none", "causal": "causal_bottom_right"}
SOURCE = """\
func.func @fwd_d{d}_{case}(%q: {t}, %k: {t}, %v: {t}, %scale: f32) -> ({t}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask({mask}) layout(bshd)
      : ({t}, {t}, {t}) -> ({t}, tensor<?x?x?xf32>)
  return %o, %lse : {t}, tensor<?x?x?xf32>
}}
"""


def source(d, case):
    """The IR of one problem; all lengths are arguments of the launch."""
    return SOURCE.format(d=d, case=case, mask=MASKS[case], t=f"tensor<?x?x?x{d}xbf16>")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="folder to write the bundles into")
    parser.add_argument("--d", default="64,128", help="head dims")
    parser.add_argument("--cases", default="none,causal")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build", "bin", "attn-compile"))
    parser.add_argument("--schedules", help="folder of schedule files, fwd_d64_none.mlir and so on, to use where there is one")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as temp:
        for d in args.d.split(","):
            for case in args.cases.split(","):
                name = f"fwd_d{int(d)}_{case}"
                path = os.path.join(temp, name + ".mlir")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(source(int(d), case))
                command = [args.compiler, path, f"--target={args.target}", "--emit=bundle",
                           "-o", os.path.join(args.out, name + ".attn")]
                schedule = args.schedules and os.path.join(args.schedules, name + ".mlir")
                if schedule and os.path.exists(schedule):
                    command.append(f"--schedule={schedule}")
                status = subprocess.run(command).returncode
                print(f"{name}: {'failed' if status else 'compiled'}")
                failed += status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
