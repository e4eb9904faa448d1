#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows that compiling can resume at every stage: from a stage's output, in any form, the
compiler produces the same bytes as in one run.

Compiles each given source to the artifact, then to each stage in each form and
from that file to the artifact; compares the bytes. Prints one line a source."""

import argparse
import os
import subprocess
import sys

STAGES = ["attn", "tile", "schedule", "ws", "nvvm", "llvm"]
FORMS = {"pretty": [], "generic": ["--generic"], "bytecode": ["--emit-bytecode"]}


def compile_to(args, source, emit, output, *options):
    """The bytes that attn-compile writes; stops the test where it fails."""
    if os.path.exists(output):
        os.remove(output)
    command = [args.compiler, source, f"--emit={emit}", "-o", output, *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0 or not os.path.exists(output):
        sys.exit(f"failed with status {run.returncode}: {' '.join(command)}\n{run.stderr}")
    with open(output, "rb") as file:
        return file.read()


def first_difference(wanted, got):
    """A line that says where two artifacts first differ."""
    at = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), min(len(wanted), len(got)))
    line = wanted[:at].count(b"\n") + 1
    return f"byte {at} of {len(wanted)} and {len(got)}, line {line}"


def check(args, source, options):
    """Resumes from every stage of one source; returns how many were identical."""
    name = os.path.splitext(os.path.basename(source))[0]
    stem = os.path.join(args.temp, name)
    straight = compile_to(args, source, args.artifact, stem + ".straight", *options)
    if not straight:
        sys.exit(f"{name}: the straight run wrote an empty {args.artifact}")
    same = 0
    for stage in args.stages.split(","):
        for form in args.forms.split(","):
            path = f"{stem}.{stage}.{form}.mlir"
            text = compile_to(args, source, stage, path, *FORMS[form], *options)
            if (form == "bytecode") != text.startswith(b"ML\xefR"):
                sys.exit(f"{name}: --emit={stage} did not write the {form} form")
            resumed = compile_to(args, path, args.artifact, f"{stem}.{stage}.{form}.resumed")
            if resumed == straight:
                same += 1
            else:
                print(f"{name}: {args.artifact} from stage '{stage}' in {form} form differs:",
                      first_difference(straight, resumed))
    return name, same


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--temp", required=True, help="folder to write into")
    parser.add_argument("--artifact", default="ptx", choices=["llvm", "ptx", "bundle"])
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--schedule", help="schedule file of the straight run; resuming never gets it")
    parser.add_argument("sources", nargs="+", help="files, or folders of .mlir files")
    args = parser.parse_args()
    os.makedirs(args.temp, exist_ok=True)
    sources = []
    for source in args.sources:
        if os.path.isdir(source):
            sources += sorted(os.path.join(source, f) for f in os.listdir(source) if f.endswith(".mlir"))
        else:
            sources.append(source)
    wanted = len(args.stages.split(",")) * len(args.forms.split(","))
    wrong = 0
    for source in sources:
        # The schedule decides the tiles, so every stage is written with it.
        options = [f"--schedule={args.schedule}"] if args.schedule else []
        name, same = check(args, source, options)
        wrong += same != wanted
        print(f"{name}: {same} of {wanted} resumed to the same {args.artifact}")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
