#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows that upstream clean-up passes may run between the passes from `ws` down without changing
the emitted program: the effects that ops declare decide what may be moved, merged or dropped.
`canonicalize` rewrites arithmetic and branches, so that PTX may differ; the kernel still
compiles.

Prints one line a kernel and clean-up; ends with status 1 where PTX differs."""

import argparse
import os
import subprocess
import sys

PASSES = [
    "attn-subtile", "attn-resolve-layouts", "attn-warp-specialize", "attn-hand-out", "attn-plan-memory",
    "attn-pipeline", "attn-drop-zero-scaling", "attn-start-fresh", "attn-overlap-last-product",
    "attn-verify-sync", "attn-distribute", "attn-lower-channels", "attn-verify-channels",
    "attn-lower-to-nvvm"
]
PLACES = PASSES[PASSES.index("attn-warp-specialize"):]

# Clean-ups, and the passes after which they run. The others would change the
# program, as they are meant to: expanded loops and branches fold further, and
# an address moved out of a loop stays in a register.
CLEAN_UPS = {
    "cse,symbol-dce": PLACES,
    "remove-dead-values": PLACES[:PLACES.index("attn-lower-to-nvvm")],
    "loop-invariant-code-motion": PLACES[:PLACES.index("attn-lower-channels")],
}


def run(command, text):
    """The output of the command; stops the test if it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed with status {done.returncode}: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def compile_with(tools, scheduled, clean_up, places):
    """The PTX of a scheduled kernel with a clean-up after each of `places`."""
    pipeline = []
    for name in PASSES:
        pipeline += [name] + ([clean_up] if name in places else [])
    lowered = run([tools["opt"], f"--pass-pipeline=builtin.module({','.join(pipeline)})", "-"],
                  scheduled)
    return run([tools["compile"], "-", "--emit=ptx", "-o", "-"], lowered)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True, help="attn-compile")
    parser.add_argument("--opt", required=True, help="attn-opt")
    parser.add_argument("--schedule", default=None, help="a schedule file")
    parser.add_argument("--each", action="store_true", help="at one place at a time, too")
    parser.add_argument("source")
    args = parser.parse_args()
    tools = {"compile": args.compiler, "opt": args.opt}
    schedule = [f"--schedule={args.schedule}"] if args.schedule else []
    scheduled = run([args.compiler, args.source, *schedule, "--emit=schedule", "-o", "-"], "")
    wanted = run([args.compiler, args.source, *schedule, "--emit=ptx", "-o", "-"], "")
    name = os.path.splitext(os.path.basename(args.schedule or args.source))[0]
    differs = False
    for clean_up, places in CLEAN_UPS.items():
        runs = [places] + ([[place] for place in places] if args.each else [])
        changed = [r for r in runs if compile_with(tools, scheduled, clean_up, r) != wanted]
        differs |= bool(changed)
        where = "; ".join(", ".join(r) for r in changed)
        print(f"{name}: {clean_up}: {len(runs) - len(changed)} of {len(runs)} runs gave the same PTX"
              + (f", not after {where}" if where else ""))
    compile_with(tools, scheduled, "canonicalize", PLACES)
    print(f"{name}: canonicalize: compiles")
    sys.exit(differs)


if __name__ == "__main__":
    main()
