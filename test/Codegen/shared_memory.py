#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows that attn-verify-schedule counts as much shared memory as kernels get, including
barriers, verdicts and mailboxes.

    test/Codegen/shared_memory.py --compiler build/bin/attn-compile"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "Inputs"))
import attention_ir

# Options of attention_ir.py and a file of test/Schedules, or the table's: items from a counter that
# are run again; those of a cluster, which have a mailbox; an item a CTA; O over V.
CASES = [("--head-dim=64", None), ("--head-dim=128 --mask=causal_bottom_right", None),
         ("--head-dim=192 --head-dim-v=128", None), ("--head-dim=256 --mask=causal_bottom_right", None),
         ("--head-dim=128 --mask=causal_bottom_right", "no_overlap"), ("--head-dim=128", "cluster_d128"),
         ("--head-dim=128", "cluster_grid"), ("--head-dim=128", "o_over_v_static")]


def sizes(compiler, options, schedule, folder):
    """(of the judge, of the plan of memory, of the launch plan) of each kernel."""
    source, out = (os.path.join(folder, name) for name in ("in.mlir", "out.mlir"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(attention_ir.write(attention_ir.parse(options.split())))
    path = [f"--schedule={os.path.join(os.path.dirname(HERE), 'Schedules', schedule + '.mlir')}"] if schedule else []
    run = subprocess.run([compiler, source, *path, "--explain", "--emit=llvm", "-o", out], capture_output=True, text=True,
                         check=True, timeout=300)
    with open(out, encoding="utf-8") as file:
        text = file.read()
    found = (re.findall(r"schedule-resources.*?(\d+) bytes of shared memory", run.stderr),
             re.findall(r"plan-memory.*?(\d+) bytes of shared memory", run.stderr), re.findall(r"launch\.kernel .* shared (\d+)", text))
    return list(zip(*found, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    args = parser.parse_args()
    kernels = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for options, schedule in CASES:
            for counted in sizes(args.compiler, options, schedule, folder):
                kernels += 1
                if len(set(counted)) > 1:
                    different += 1
                    print(f"{options} {schedule or ''}: judged by {counted[0]} bytes, planned {counted[1]}, got {counted[2]}")
    print(f"{kernels} kernels, {different} with other shared memory than was counted")


if __name__ == "__main__":
    main()
