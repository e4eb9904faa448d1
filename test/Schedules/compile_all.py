#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a bundle for every schedule file of this folder, causal and not. ptxas must take each without a spill: attn-compile fails otherwise.

On a machine with a GPU the bundles show that the schedules compute the same:

    test/Schedules/compile_all.py --compiler build/bin/attn-compile --out /tmp/variants
    for b in /tmp/variants/*.attn; do
      build/bin/attn-run $b --device=cuda --q=2x1000x4x128 --kv=2x1000x2x128 --check
    done

(with another head dim than 128 where a bundle's name says so)."""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "Inputs"))
import attention_ir

MASKS = {"causal": "causal_bottom_right", "full": "none"}


def schedules():
    """(name, head dims of Q and V, path) of the schedule files."""
    for name in sorted(os.listdir(HERE)):
        path = os.path.join(HERE, name)
        if name.endswith(".mlir"):
            with open(path, encoding="utf-8") as file:
                yield name[: -len(".mlir")], re.search(r"head_dim (\d+), (\d+)", file.read()).groups(), path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out", required=True, help="folder to write the bundles into")
    parser.add_argument("--masks", default="causal,full")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    made = failed = 0
    for name, (head_dim, head_dim_v), path in schedules():
        for mask in args.masks.split(","):
            output = os.path.join(args.out, f"{name}_{mask}_d{head_dim}.attn")
            source = output + ".mlir"
            with open(source, "w", encoding="utf-8") as file:
                file.write(attention_ir.write(attention_ir.parse(
                    [f"--head-dim={head_dim}", f"--head-dim-v={head_dim_v}", f"--mask={MASKS[mask]}"])))
            run = subprocess.run([args.compiler, source, f"--schedule={path}", "--emit=bundle", "-o", output],
                                 capture_output=True, text=True)
            if run.returncode == 0 and os.path.getsize(output) > 0:
                made += 1
            else:
                failed += 1
                print(f"{name}, {mask}: status {run.returncode}\n{run.stderr}")
    print(f"{made} bundles, {failed} failures")
    return 1 if failed or not made else 0


if __name__ == "__main__":
    sys.exit(main())
