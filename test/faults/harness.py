#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants faults in kernels and compares the compiler's verdict with the simulator's: the compiler
has to refuse, before there is PTX, every kernel that the simulator reports.

    test/faults/harness.py build                         # all kernels, a sample of each kind of fault
    test/faults/harness.py build --kernels=cluster --stages=program --each=1000
    test/faults/harness.py build --only=d64_none:program:17 --keep"""

import argparse
import collections
import hashlib
import os
import re
import sys

import tools
import truth
from report import CLASSES, write_report

COLUMNS = ["kernel", "stage", "number", "kind", "place", "object", "detail", "line"]
# Kinds of which the sample has more faults, because more goes wrong there.
COMMON = {"drop", "early", "late", "other slot", "order", "shift"}


def list_faults(kernel, stage, source):
    run = tools.check(kernel.tools.run("plant-faults", source, "--list"))
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return [dict(zip(COLUMNS, [kernel.name, stage, int(row[0]), *row[1:]])) for row in rows]


def choose(faults, each, wanted):
    """At most `each` faults of a kind, twice as many of the common ones, evenly spread."""
    kinds = collections.OrderedDict()
    for fault in faults:
        if not wanted or fault["kind"] in wanted:
            kinds.setdefault(fault["kind"], []).append(fault)
    for kind, members in kinds.items():
        count = min(len(members), each * (2 if kind in COMMON else 1))
        for i in range(count):
            yield members[i * len(members) // count]


def read_refusal(run):
    """The check that refused, its rule and the message. Verifiers of operations have no name of their own."""
    if run.returncode < 0:
        return "crash", "", f"signal {-run.returncode}"
    error = re.search(r"error: (.*)", run.stderr)
    message = error[1] if error else run.stderr.strip()
    by = re.search(r"attn-[a-z-]+", message)
    rule = re.search(r"\bV\d+\b", message)
    judge = "attn-verify-schedule" if "'attn.table_entry'" in message else "verifier"
    return by[0] if by else judge, rule[0] if rule else "", message


class Harness:
    def __init__(self, args):
        self.tools = tools.Tools(args.build, args.output)
        self.truth = truth.Truth(self.tools)
        self.args = args
        self.seen = set()

    def lower(self, stage, planted):
        """The pass that refuses, if any, and the lowered kernel, None if there is none."""
        program, lowered = self.tools.path("fault.ws.mlir"), self.tools.path("fault.llvm.mlir")
        # Also where no pass is left: what the verifiers of operations refuse is refused here.
        run = self.tools.apply(tools.STAGES[stage][1], planted, program)
        if run.returncode:
            return read_refusal(run), None
        run = self.tools.apply(tools.VERIFY, program)
        refused = run if run.returncode else self.tools.apply(tools.VERIFY_LOWERED, program)
        run = self.tools.apply(tools.LOWER, program, lowered)
        return (read_refusal(refused) if refused.returncode else None), (None if run.returncode else lowered)

    def judge(self, kernel, fault, source):
        """Adds the verdicts to a fault; false if another fault made the same IR."""
        planted = self.tools.path("fault.mlir")
        tools.check(self.tools.run("plant-faults", source, f"--fault={fault['number']}", "-o", planted))
        with open(planted, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        if digest in self.seen:
            return False
        self.seen.add(digest)
        refusal, lowered = self.lower(fault["stage"], planted)
        fault["by"], fault["rule"], fault["message"] = refusal or ("", "", "")
        fault["truth"], fault["report"] = self.truth.of(lowered, kernel.problems) if lowered else ("no program", "")
        fault["class"] = CLASSES[bool(refusal), fault["truth"] if fault["truth"] in ("clean", "no program") else "bad"]
        return True

    def check_original(self, kernel, source, stage):
        """The kernel as it is must be accepted and right."""
        self.seen.add(hashlib.sha256(open(source, "rb").read()).hexdigest())
        refusal, lowered = self.lower(stage, source)
        verdict = self.truth.of(lowered, kernel.problems) if lowered else ("no program", "")
        if refusal or verdict[0] != "clean":
            raise SystemExit(f"{kernel.name}: the kernel itself: {refusal} {verdict}")

    def run(self):
        for kernel in tools.load_kernels(self.tools, self.args.kernels):
            for stage in self.args.stages:
                source = kernel.write(stage)
                self.check_original(kernel, source, stage)
                faults = list_faults(kernel, stage, source)
                chosen = [f for f in faults if name_of(f) in self.args.only] if self.args.only else choose(
                    faults, self.args.each, self.args.kinds)
                for fault in chosen:
                    if self.judge(kernel, fault, source):
                        yield fault


def name_of(fault):
    return f"{fault['kernel']}:{fault['stage']}:{fault['number']}"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--kernels", help="names from kernels.json, with commas between (default: all)")
    parser.add_argument("--stages", default=",".join(tools.STAGES), help="plan, emitter, program")
    parser.add_argument("--kinds", help="kinds of fault, with commas between (default: all)")
    parser.add_argument("--each", type=int, default=2, help="faults of each kind, kernel and stage")
    parser.add_argument("--only", default="", help="faults by name, KERNEL:STAGE:NUMBER, with commas between")
    parser.add_argument("--output", help="a folder; BUILD/faults")
    args = parser.parse_args()
    args.output = args.output or os.path.join(args.build, "faults")
    args.only = [name for name in args.only.split(",") if name]
    if args.only:
        args.kernels = ",".join(name.split(":")[0] for name in args.only)
        args.stages = ",".join({name.split(":")[1]: 0 for name in args.only})
    args.kernels = args.kernels.split(",") if args.kernels else None
    args.stages = args.stages.split(",")
    args.kinds = args.kinds.split(",") if args.kinds else None
    return args


def main():
    args = parse_arguments()
    results = []
    for fault in Harness(args).run():
        results.append(fault)
        if fault["class"] == "MISSED" or args.only:
            print(f"{fault['class']} {name_of(fault)}: {fault['kind']} {fault['detail']}: {fault['object']} in "
                  f"{fault['place']}, line {fault['line']}: {fault['truth']}: {fault['report']}{fault['message']}",
                  flush=True)
    return write_report(results, args.output)


if __name__ == "__main__":
    sys.exit(main())
