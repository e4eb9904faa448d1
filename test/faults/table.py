#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits the emitted programs of every entry of the schedule table, and counts the edits that
attn-verify-sync refuses: the first await of a store dropped, and behind the put; K, V and Q released
before the product that reads them, and before what awaits it. Then schedules in which the await
of the last store comes after its tile is overwritten: refused by attn-verify-schedule, and by
attn-verify-sync without it.

    test/faults/table.py build"""

import argparse
import collections
import os
import re
import sys

import tools
from harness import list_faults, read_refusal

TABLE = ("passes/schedule/data/schedules/sm_90a", "passes/schedule/data/rungs/sm_90a")
MASKS = ("none", "causal_bottom_right", "causal_top_left", "window_bottom_right")


class Entry(tools.Kernel):
    """An entry of the table, compiled for the first mask that it serves."""

    def __init__(self, name, entry, toolbox):
        self.name, self.entry, self.tools = name, entry, toolbox
        masks = re.search(r"masks \[(.*?)\]", entry, re.S)[1]
        mask = next(m for m in MASKS if f'"{"window" if m.startswith("window") else m}"' in masks)
        head_dim, head_dim_v = re.search(r"head_dim (\d+), (\d+)", entry).groups()
        self.ir = [f"--head-dim={head_dim}", f"--head-dim-v={head_dim_v}", f"--mask={mask}"]
        self.ir += ["--bound=window_left"] * mask.startswith("window")


def load_table(toolbox):
    for folder in TABLE:
        for file in sorted(os.listdir(os.path.join(tools.ROOT, folder))):
            for name, entry in tools.entries(os.path.join(folder, file)).items():
                yield Entry(name, entry, toolbox)


def is_edit(fault, stores):
    """Whether a fault is one of the edits; `stores` are the faults of awaits of stores."""
    if fault["object"] == "await_store":
        return fault["line"] == stores[0]["line"] and (
            fault["kind"] == "drop" or (fault["kind"], fault["detail"]) == ("late", "over one"))
    return fault["object"] in ("release k", "release v", "release q", "release kv") and \
        fault["detail"] in ("before its product", "before the await of its product")


class Count:
    def __init__(self):
        self.refused, self.accepted, self.rules = 0, [], collections.Counter()

    def add(self, run, what):
        if run.returncode:
            by, rule, message = read_refusal(run)
            self.refused += 1
            self.rules[f"{by} {rule}"] += 1
            return f"{by} {rule}: {message}"
        self.accepted.append(what)
        return "ACCEPTED"


def edit_program(entry, count, show):
    """Plants each edit in an entry's emitted program."""
    source = entry.write("program")
    faults = list_faults(entry, "program", source)
    stores = [fault for fault in faults if fault["object"] == "await_store"]
    planted = entry.tools.path("fault.mlir")
    for fault in faults:
        if is_edit(fault, stores):
            tools.check(entry.tools.run("plant-faults", source, f"--fault={fault['number']}", "-o", planted))
            what = " ".join(f"{entry.name} line {fault['line']}: {fault['object']} {fault['kind']} "
                            f"{fault['detail']}, {fault['place']}".split())
            show(what, count.add(entry.tools.apply(tools.VERIFY, planted), what))


def edit_schedule(entry, judged, behind, show):
    """Puts the await of the last store behind the overwriting of its tile."""
    late = entry.entry.replace("await(st_o) + 1 cvt_o", "cvt_o await(st_o) + 1")
    if late == entry.entry:
        return
    what = f"{entry.name}: cvt_o await(st_o) + 1"
    show(what, judged.add(entry.tools.compile(entry.ir, late, "--emit=schedule", "-o", os.devnull), what))
    source = entry.write("plan")
    fault = next(f for f in list_faults(entry, "plan", source) if (f["kind"], f["object"], f["detail"]) ==
                 ("order", "await(st_o) + 1", "behind cvt_o"))
    planted = entry.tools.path("fault.mlir")
    tools.check(entry.tools.run("plant-faults", source, f"--fault={fault['number']}", "-o", planted))
    passes = tools.STAGES["plan"][1] + tools.VERIFY
    show(what + ", not judged", behind.add(entry.tools.apply(passes, planted), what))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--verbose", action="store_true", help="every edit, its rule and place")
    parser.add_argument("--entries", help="names, with commas between (default: all)")
    parser.add_argument("--output", help="a folder; BUILD/faults")
    args = parser.parse_args()
    show = (lambda what, verdict: print(f"{what}: {verdict}")) if args.verbose else lambda what, verdict: None
    toolbox = tools.Tools(args.build, args.output or os.path.join(args.build, "faults"))
    program, judged, behind = Count(), Count(), Count()
    entries = [e for e in load_table(toolbox) if not args.entries or e.name in args.entries.split(",")]
    for entry in entries:
        edit_program(entry, program, show)
        edit_schedule(entry, judged, behind, show)
    for what, count in (("edits of programs", program), ("late awaits in schedules", judged),
                        ("late awaits behind the judge", behind)):
        by = ", ".join(f"{n} by {rule}" for rule, n in count.rules.most_common())
        print(f"{what}, {len(entries)} entries: {count.refused} refused ({by}), {len(count.accepted)} accepted")
        for each in count.accepted[:20]:
            print(f"accepted: {each}")
    return 1 if program.accepted or judged.accepted or behind.accepted else 0


if __name__ == "__main__":
    sys.exit(main())
